// The analytics methods of @cognite/sdk 1.7.7 from npm, unmodified, against the real server.
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import sdk from "@cognite/sdk";
import { recordReturns } from "../support/every-method.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const calls = recordReturns({ Analytics: sdk.Analytics });
const { Analytics } = calls.recorded;
const refused = (status: number) => (error: unknown) => (error as { status?: number }).status === status;
const startMs = Date.UTC(2019, 3, 1);
const at = (second: number) => startMs + second * 1_000;

let server: TestServer;

before(async () => {
  server = await startTestServer(withFront);
  sdk.configure({ baseUrl: server.baseUrl, project: server.project, apiKey: server.key });
  await server.ask("POST /timeseries", { items: [{ name: "pressure" }] });
  const bump = [1, 4, 9, 16, 9, 4, 1];
  const items = Array.from({ length: 300 }, (_, i) => {
    const own = i >= 200 ? 10 * (bump[i - 200] ?? 0) : (bump[i - 50] ?? 0);
    return { timestamp: at(i), value: own + (i % 3) * 0.1 };
  });
  await server.ask("POST /timeseries/data/pressure", { items });
});
after(() => server.close());

/** As the client's own tests send it, except names and times. */
const params = {
  timeSeriesDataSpec: [
    {
      aggregates: ["max"],
      timeSeries: [{ name: "pressure", aggregates: ["max"], missingDataStrategy: "ffill" }],
      granularity: "1second",
      missingDataStrategy: "ffill",
      start: `${at(48)}`,
      end: `${at(60)}`,
      label: "super-awesome-label",
    },
  ],
  description: "My pattern search",
  algorithm: "SAX",
  arguments: { limit: 2, minRange: `${at(0)}`, maxRange: `${at(300)}` },
};

it("launchPatternSearch, retrievePatternSearchJobInfo and retrievePatternSearchResult", async () => {
  const jobId = await Analytics.launchPatternSearch(params);
  assert.equal(typeof jobId, "number");
  let job = await Analytics.retrievePatternSearchJobInfo(jobId);
  for (; job.status === "RUNNING"; job = await Analytics.retrievePatternSearchJobInfo(jobId)) await delay(10);
  const { createdTime, completedTime, ...told } = job;
  assert.deepEqual(told, {
    ...{ id: jobId, status: "DONE", progress: 1, project: server.project },
    ...{ service: "patternsearch", description: "My pattern search" },
  });
  assert.ok(completedTime! >= createdTime);
  const [own, like, ...more] = await Analytics.retrievePatternSearchResult(jobId);
  assert.deepEqual(own, { from: at(48), to: at(60), score: 0 });
  assert.deepEqual([like!.from, like!.to, more.length], [at(198), at(210), 0]);
  assert.ok(like!.score > 0 && like!.score < 1);
});

it("jobs and series that do not exist are refused", async () => {
  await assert.rejects(Analytics.retrievePatternSearchJobInfo(12345), refused(404));
  await assert.rejects(Analytics.retrievePatternSearchResult(12345), refused(404));
  const [spec] = params.timeSeriesDataSpec;
  const unknown = { ...params, timeSeriesDataSpec: [{ ...spec!, timeSeries: [{ name: "myTimeSeries" }] }] };
  await assert.rejects(Analytics.launchPatternSearch(unknown), refused(404));
});

it("every method has returned", () => calls.assertAllReturned());

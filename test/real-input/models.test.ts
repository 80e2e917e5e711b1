// A model that learns and monitors the level of a real reactor: uploaded, trained, and scheduled over
// REST; on generated data if the real data are missing.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, describe, test } from "node:test";
import { realSystem } from "../../src/lib/system.ts";
import { hosting, modelHosting, runDue } from "../support/model-hosting.ts";
import { startTestServer } from "../support/server.ts";
import { fixturePackage } from "../support/source-package.ts";
import { dataPath, rowsOf } from "./shared-data.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const firstMs = Date.UTC(2026, 0, 1);
let nowMs = firstMs;
const system = { ...realSystem, nowMs: () => nowMs };
const file = "tep/measurements.csv";

/**
 * The pressure of the reactor in the first run of the Tennessee Eastman plant, every ten minutes for 50
 * hours.
 */
function pressure(): { timestamp: number; value: number }[] {
  if (!existsSync(dataPath(file)))
    return Array.from({ length: 301 }, (_, i) => ({
      timestamp: firstMs + i * 10 * minuteMs,
      value: 2_700 + Math.sin(i) * 5,
    }));
  const [header, ...rows] = rowsOf(file);
  const at = header!.indexOf("XMEAS7");
  return rows
    .filter(([run]) => run === rows[0]![0])
    .map((row) => ({ timestamp: firstMs + Number(row[1]) * minuteMs, value: Number(row[at]) }));
}

describe("model hosting on the Tennessee Eastman plant", hosting, async () => {
  const server = await startTestServer({ system, hostsModels: true });
  after(() => server.close());

  test("a model is trained on 40 hours of a tag and scores the rest, hour by hour", async () => {
    const { send, sent, newModel, newPackage, settled } = modelHosting(server);
    const items = ["pressure", "deviation of the pressure"].map((name) => ({ name }));
    const [tag, score] = (await server.ask.v06("POST /timeseries", { items })).items.map(({ id }) => id);
    const points = pressure();
    await server.ask("POST /timeseries/data/pressure", { items: points });
    const learntUntil = firstMs + 40 * hourMs;

    const sourcePackageId = await newPackage(await fixturePackage("deviation"), "deviation");
    const model = await newModel();
    const data_spec = { timeSeries: { level: { id: tag, start: firstMs, end: learntUntil } } };
    const training = { name: "v1", sourcePackageId, trainingDetails: { args: { data_spec } } };
    const { id } = await sent(`POST /${model}/versions/train`, training);
    const version = await settled(`/${model}/versions/${id}`);
    assert.deepEqual([version["status"], version["errorMsg"]], ["READY", null]);
    await sent(`PUT /${model}/update`, { activeVersionId: { set: id } });

    const input = { timeSeries: { level: { id: tag, aggregate: "average", granularity: "1h" } } };
    const output = { timeSeries: { score: { id: score, offset: 0 } } };
    const times = { stride: 5 * hourMs, windowSize: 5 * hourMs, start: learntUntil + 5 * hourMs, slack: 0 };
    const dataSpec = { input, output, ...times };
    const schedule = await sent("POST /schedules", { name: "watch", modelId: model, args: {}, dataSpec });
    nowMs = firstMs + 50 * hourMs;
    await runDue(server);
    const runs = (await send(`GET /schedules/${schedule["id"]}/runs`)).items;
    assert.deepEqual(
      runs.map(({ status, datapoints }) => [status, datapoints]),
      [
        ["SUCCEEDED", 5],
        ["SUCCEEDED", 5],
      ],
    );

    const filter = encodeURIComponent(`TimeStamp ge ${new Date(learntUntil).toISOString()}`);
    const stored = `/odata/v1/projects/demo/Timeseries('${score}')/DataPoints`;
    const overOdata = await server.ask.root(`GET ${stored}?$filter=${filter}`);
    const { value: rows } = overOdata.json as { value: { TimeStamp: string; Value: unknown }[] };
    assert.equal(rows?.length, 10, overOdata.text);

    const values = points.filter(({ timestamp }) => timestamp < learntUntil).map(({ value }) => value);
    const middle = values.reduce((sum, one) => sum + one, 0) / values.length;
    const spread = Math.sqrt(values.reduce((sum, one) => sum + (one - middle) ** 2, 0) / values.length);
    const range = `start=${learntUntil}&end=${nowMs}&limit=100`;
    const averages = await server.ask(
      `GET /timeseries/${tag}/data?${range}&aggregates=average&granularity=1h`,
    );
    const scores = await server.ask(`GET /timeseries/${score}/data?${range}`);
    const pointsIn = (one: typeof scores) => one.items[0]!["datapoints"] as Record<string, number>[];
    assert.equal(pointsIn(scores).length, 10);
    for (const [index, { timestamp, value }] of pointsIn(scores).entries()) {
      const { timestamp: hour, average } = pointsIn(averages)[index]!;
      assert.equal(timestamp, hour);
      assert.ok(Math.abs(value! - (average! - middle) / spread) < 1e-6);
    }
  });
});

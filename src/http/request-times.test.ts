// The histogram of requests, as Prometheus reads it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestTimes } from "./request-times.ts";

test("requests are counted under all bounds that they stayed within", () => {
  const times = new RequestTimes();
  const labels = { method: "GET", route: "/api/:project", status: 200 };
  for (const seconds of [0.0004, 0.0005, 0.003, 121]) times.add(labels, seconds);
  times.add({ ...labels, status: 404 }, 0.02);
  const lines = times.text().split("\n");
  const count = (status: number, le: string) => {
    const bucket = `_bucket{le="${le}",method="GET",route="/api/:project",status="${status}"} `;
    const found = lines.filter((line) => line.includes(bucket));
    assert.equal(found.length, 1, bucket);
    return Number(found[0]!.split(" ").at(-1));
  };
  assert.deepEqual(
    ["0.0005", "0.001", "0.0025", "0.005", "120", "+Inf"].map((le) => count(200, le)),
    [2, 2, 2, 3, 3, 4],
  );
  assert.deepEqual([count(404, "0.01"), count(404, "0.025"), count(404, "+Inf")], [0, 1, 1]);
  const ofGood = '{method="GET",route="/api/:project",status="200"}';
  assert.ok(lines.includes(`millrace_http_request_seconds_count${ofGood} 4`));
  assert.ok(lines.some((line) => line.startsWith(`millrace_http_request_seconds_sum${ofGood} 121.0039`)));
  assert.equal(lines[1], "# TYPE millrace_http_request_seconds histogram");
  assert.equal(lines.at(-1), "");
});

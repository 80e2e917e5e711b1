// The requests of Grafana's data sources: those of the InfluxDB data source as it documents them, and all
// queries of the dashboards in docs/grafana.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const startMs = Date.UTC(2023, 10, 14);
const hourMs = 3_600_000;
let server: TestServer;

before(async () => {
  server = await startTestServer(withFront);
  const { items } = await server.ask.v06("POST /assets", { items: [{ name: "Pump 1" }] });
  const assetId = items[0]!["id"];
  const names = ["21PT1019", "21PT1017"];
  await server.ask.v06("POST /timeseries", { items: names.map((name) => ({ name, assetId, unit: "bar" })) });
  const datapoints = Array.from({ length: 48 }, (_, hour) => ({
    timestamp: startMs + hour * hourMs,
    value: hour,
  }));
  await server.ask("POST /timeseries/data", { items: names.map((name) => ({ name, datapoints })) });
  const event = { startTime: startMs + hourMs, endTime: startMs + 2 * hourMs, type: "trip" };
  await server.ask.v06("POST /events", {
    items: [{ ...event, description: "Tripped", assetIds: [assetId] }],
  });
});
after(() => server.close());

/** A time range and variables, as Grafana puts them into a query. */
const replacements: Readonly<Record<string, string>> = {
  $timeFilter: `time >= ${startMs}ms and time <= ${startMs + 48 * hourMs}ms`,
  $__interval: "2h",
  $asset: "Pump 1",
  $series: "(21PT1019|21PT1017)",
};

const replaced = (text: string): string =>
  Object.entries(replacements).reduce((all, [name, value]) => all.replaceAll(name, value), text);

interface Result {
  readonly error?: string;
  readonly series?: readonly {
    readonly tags?: Readonly<Record<string, string>>;
    readonly columns: readonly string[];
    readonly values: readonly (readonly unknown[])[];
  }[];
}

/** A request of the InfluxDB data source, with Basic credentials. */
async function send(q: string, method = "GET"): Promise<Result> {
  const parameters = new URLSearchParams({ db: "default", epoch: "ms", q });
  const url = `${server.baseUrl}/influx/${server.project}/query`;
  const headers = { authorization: `Basic ${Buffer.from(`grafana:${server.key}`).toString("base64")}` };
  const response =
    method === "GET"
      ? await fetch(`${url}?${parameters}`, { headers })
      : await fetch(url, { method, headers, body: parameters });
  assert.equal(response.status, 200, q);
  const { results } = (await response.json()) as { readonly results: readonly [Result] };
  assert.equal(results[0].error, undefined, q);
  return results[0];
}

interface Target {
  readonly query?: string;
  readonly url?: string;
  readonly url_options?: { readonly data: string };
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly Target[] }[];
  readonly templating?: { readonly list: readonly { readonly query: string }[] };
  readonly annotations?: { readonly list: readonly { readonly target: { readonly query: string } }[] };
}

const dashboard = (name: string): Dashboard =>
  JSON.parse(readFileSync(new URL(`../../docs/grafana/${name}.json`, import.meta.url), "utf8")) as Dashboard;

test("save and test, and the lists of the builder of queries", async () => {
  for (const method of ["GET", "POST"]) {
    assert.ok((await send("SHOW MEASUREMENTS LIMIT 1", method)).series![0]!.values.length === 1);
    await send('SHOW RETENTION POLICIES on "default"', method);
    await send("SHOW MEASUREMENTS WITH MEASUREMENT =~ /(?i)poi/ LIMIT 100", method);
    await send('SHOW TAG KEYS FROM "points"', method);
    await send('SHOW FIELD KEYS FROM "autogen"."points"', method);
    await send('SHOW TAG VALUES FROM "points" WITH KEY = "name" WHERE "unit" = \'bar\' LIMIT 1000', method);
  }
});

test("queries of the builder have a point for each interval of the range", async () => {
  const tagged = `"name"::tag = '21PT1019' AND "asset"::tag =~ /^Pump\\ 1$/`;
  const made = `SELECT mean("value") AS "alias" FROM "points" WHERE (${tagged}) AND $timeFilter`;
  const { series } = await send(replaced(`${made} GROUP BY time($__interval), "unit"::tag fill(null)`));
  assert.deepEqual([series![0]!.tags, series![0]!.columns], [{ unit: "bar" }, ["time", "alias"]]);
  assert.deepEqual(series![0]!.values.slice(0, 2), [
    [startMs, 0.5],
    [startMs + 2 * hourMs, 2.5],
  ]);
  assert.equal(series![0]!.values.length, 25);
  for (const list of [
    'non_negative_derivative(mean("value"), 10s)',
    'mean("value") / 100',
    'last("value"), first("value")',
    'moving_average(max("value"), 3) * 8',
  ])
    await send(
      replaced(`SELECT ${list} FROM "points" WHERE $timeFilter GROUP BY time($__interval) fill(linear)`),
    );
});

test("every query of the dashboard for InfluxDB has data", async () => {
  const { panels, templating, annotations } = dashboard("plant-influxql");
  const queries = [
    ...panels.flatMap(({ targets }) => targets.map(({ query }) => query!)),
    ...templating!.list.map(({ query }) => query),
    ...annotations!.list.map(({ target }) => target.query),
  ];
  assert.equal(queries.length, 9);
  for (const query of queries) {
    const { series } = await send(replaced(query));
    assert.ok(
      series!.some(({ values }) => values.length > 0),
      query,
    );
  }
});

test("every request of the dashboard for Infinity has data", async () => {
  const texts: string[] = [];
  for (const { targets } of dashboard("plant-infinity").panels)
    for (const { url, url_options: options } of targets) {
      const body = options!.data
        .replace(/\$\{__from\}/, `${startMs}`)
        .replace(/\$\{__to\}/, `${startMs + 48 * hourMs}`);
      const { status, text } = await server.ask.v06(`POST ${url}`, JSON.parse(body));
      assert.equal(status, 200, text);
      texts.push(text);
    }
  assert.match(texts[0]!, /^timestamp,21PT1019\|average,/);
  assert.equal(texts[0]!.trim().split("\n").length, 49);
  assert.match(texts[1]!, /"value":47/);
});

// Many inserts at once, in every form: each series has its own points afterwards, and no others. Decoders
// share memory, and some wait while they decode.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";

const names = Array.from({ length: 40 }, (_, i) => `series ${i}`);
const rounds = 6;
const pointsEach = 50;
/** Longer than the largest body that is scanned. */
const longMember = "x".repeat(7 * 2 ** 20);

let server: TestServer;
const ids: number[] = [];
before(async () => {
  server = await startTestServer();
  const created = await server.ask.v06("POST /timeseries", { items: names.map((name) => ({ name })) });
  ids.push(...created.items.map(({ id }) => id as number));
});
after(() => server.close());

/** The points of a series in one round. The value tells the series. */
const pointsOf = (series: number, round: number) =>
  Array.from({ length: pointsEach }, (_, i) => ({
    timestamp: (series * rounds + round) * 1_000_000 + i * 997,
    value: series + i / 1000,
  }));

type Points = ReturnType<typeof pointsOf>;

/** Each sends the same points. Only the first form is scanned from its bytes. */
const forms: readonly ((series: number, points: Points) => Promise<unknown>)[] = [
  (series, items) => post(series, { items }),
  (series, items) => post(series, { items: items.map((point) => ({ ...point, quality: "good" })) }),
  (series, items) => post(series, { items, note: null }),
  (series, datapoints) => server.ask("POST /timeseries/data", { items: [{ id: ids[series], datapoints }] }),
  (series, datapoints) =>
    server.ask("POST /timeseries/data", { items: [{ name: names[series], datapoints, note: "n" }] }),
];

const post = (series: number, body: unknown) =>
  server.ask(`POST /timeseries/data/${encodeURIComponent(names[series]!)}`, body);

test("concurrent inserts in usual and unusual forms do not mix their points", async () => {
  for (let round = 0; round < rounds; round++)
    await Promise.all(
      names.map((_, series) => forms[(series + round) % forms.length]!(series, pointsOf(series, round))),
    );
  for (const [series, name] of names.entries()) await assertOwnPoints(series, name);
});

test("a long insert and short ones at once do not mix their points", async () => {
  const items = pointsOf(0, 0).map((point) => ({ ...point, note: longMember.slice(0, 150_000) }));
  await Promise.all([
    post(0, { items }),
    ...names.slice(1).flatMap((_, i) => forms.map((form) => form(i + 1, pointsOf(i + 1, 1)))),
  ]);
  for (const [series, name] of names.entries()) await assertOwnPoints(series, name);
});

async function assertOwnPoints(series: number, name: string): Promise<void> {
  const response = await server.ask(`GET /timeseries/data/${encodeURIComponent(name)}?limit=10000`);
  const stored = response.items[0]!["datapoints"];
  const sent = Array.from({ length: rounds }, (_, round) => pointsOf(series, round)).flat();
  assert.deepEqual(stored, sent, name);
}

// Many long responses at once, some of them aborted: each is the requested series, although the memory of
// responses is reused.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";

const seriesCount = 12;
/** The shortest fits one chunk, the longest takes several. */
const pointsOf = (series: number) => 400 + series * 5_000;
const startMs = Date.UTC(2026, 0, 1);

let server: TestServer;
const bodies = new Map<number, string>();

const rowsOf = (series: number) =>
  Array.from({ length: pointsOf(series) }, (_, i) => ({
    timestamp: startMs + i * 997,
    value: (series * 1_000_000 + i) / 1000,
  }));

before(async () => {
  server = await startTestServer();
  const names = Array.from({ length: seriesCount }, (_, i) => ({ name: `series ${i}` }));
  await server.ask("POST /timeseries", { items: names });
  for (const [i, { name }] of names.entries()) {
    const datapoints = rowsOf(i);
    bodies.set(i, JSON.stringify({ data: { items: [{ name, datapoints }] } }));
    await server.ask(`POST /timeseries/data/series%20${i}`, { items: datapoints });
  }
});
after(() => server.close());

const read = (series: number, signal: AbortSignal | null, headers = {}) =>
  fetch(`${server.baseUrl}/api/0.5/projects/demo/timeseries/data/series%20${series}?limit=100000`, {
    headers: { "api-key": server.key, ...headers },
    signal,
  });

async function whole(series: number, packing: "gzip" | "identity"): Promise<void> {
  const response = await read(series, null, { "accept-encoding": packing });
  const text = await response.text();
  assert.ok(text === bodies.get(series), `${series} as ${packing}: ${text.length} characters`);
}

async function givenUp(series: number): Promise<void> {
  const giving = new AbortController();
  const response = await read(series, giving.signal);
  await response.body!.getReader().read();
  giving.abort();
}

test("concurrent responses, compressed or not, while others are aborted", async () => {
  await Promise.all(
    Array.from({ length: seriesCount }, (_, series) => [
      whole(series, "identity"),
      givenUp(series),
      whole(series, "gzip"),
      whole((series * 7) % seriesCount, "identity"),
    ]).flat(),
  );
});

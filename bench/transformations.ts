// Transformations: a million raw rows joined with assets into events, then a run of the changed rows alone,
// each while another client reads one asset.
import { setTimeout as pause } from "node:timers/promises";
import { Connection, drive, expectSuccess, openConnections } from "./http.ts";
import { peakMemoryMb, processorSeconds } from "./process.ts";
import { get, getFrom06, post, postTo06 } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import { percentile } from "./workloads.ts";

export interface TransformationScale {
  readonly rawRows: number;
  readonly assets: number;
  /** Of each so many rows one becomes an event. */
  readonly rowsPerEvent: number;
  readonly changedRows: number;
}

export const fullTransformations: TransformationScale = {
  ...{ rawRows: 1_000_000, assets: 100_000, rowsPerEvent: 10, changedRows: 1_000 },
};
export const quickTransformations: TransformationScale = {
  ...{ rawRows: 20_000, assets: 2_000, rowsPerEvent: 10, changedRows: 200 },
};

const rowsPerRequest = 10_000;
const assetsPerRequest = 1_000;
/** Between two reads, so that they do not become a load of their own. */
const pauseMs = 5;

const query = `SELECT 'order-' || o.key AS externalId, o.kind AS type, o.text AS description,
  o.at * 1000 AS startTime, json_array(a.id) AS assetIds
FROM erp.orders o JOIN millrace.assets a ON a.externalId = o.location
WHERE o.kind = 'stop' AND is_new('orders', o.commitNumber)`;

/** A table; the runs are of one transformation on a fresh server. */
export async function measureTransformations(
  running: Running,
  { rawRows, assets, rowsPerEvent, changedRows }: TransformationScale,
): Promise<string> {
  const connections = await openConnections(running.port);
  const connection = connections[0]!;
  const numbers = (count: number, each: number) =>
    Array.from({ length: Math.ceil(count / each) }, (_, at) => [at * each, Math.min(count, (at + 1) * each)]);
  const assetItems = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ name: `P-${from + at}`, externalId: `A-${from + at}` }));
  await drive(
    connections,
    numbers(assets, assetsPerRequest).map(([from, to]) =>
      postTo06("/assets", JSON.stringify({ items: assetItems(from!, to!) })),
    ),
  );
  const row = (at: number, text: string) => ({
    key: String(at).padStart(7, "0"),
    columns: {
      ...{ kind: at % rowsPerEvent === 0 ? "stop" : "start", text: `${text} ${at}` },
      ...{ location: `A-${(at * 7) % assets}`, at: 1_700_000_000 + at },
    },
  });
  const putRows = (rows: readonly object[]) =>
    post("/raw/erp/orders/create?ensureParent=true", JSON.stringify({ items: rows }));
  const rowsFrom = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => row(from + at, "order"));
  for (const [from, to] of numbers(rawRows, rowsPerRequest))
    expectSuccess(await connection.send(putRows(rowsFrom(from!, to!))));
  const item = {
    externalId: "orders",
    name: "Orders",
    query,
    destination: { type: "events" },
    action: "upsert",
  };
  const saved = expectSuccess(
    await connection.send(postTo06("/transformations", JSON.stringify({ items: [item] }))),
  );
  const id = idIn(saved.body);
  const found = expectSuccess(await connection.send(get(`/assets?name=P-${assets >> 1}`)));
  const assetId = idIn(found.body);
  const run = () => measureRun(running, connection, { id, assetId });
  const events = Math.ceil(rawRows / rowsPerEvent);
  const lines = [
    await run().then((one) => line(`${rawRows} raw rows, ${assets} assets: creates`, one, events)),
  ];
  const step = Math.floor(rawRows / changedRows);
  const changed = Array.from({ length: changedRows }, (_, at) => row(at * step, "changed"));
  const expected = changed.filter(({ columns }) => columns.kind === "stop").length;
  expectSuccess(await connection.send(putRows(changed)));
  lines.push(line(`${changedRows} changed rows of these: changes`, await run(), expected));
  for (const one of connections) one.close();
  const head = [
    "| What | Events | Time | One asset meanwhile: p50 | p99 | Server: processor | Server: peak memory |",
    "|---|---|---|---|---|---|---|",
  ];
  return [...head, ...lines].join("\n");
}

interface RunFigures {
  readonly seconds: number;
  readonly readMs: readonly number[];
  readonly cpuSeconds: number;
  readonly memoryMb: number;
  readonly written: number;
}

const line = (
  what: string,
  { seconds, readMs, cpuSeconds, memoryMb, written }: RunFigures,
  events: number,
) => {
  if (written !== events) throw new Error(`${written} events are written, not ${events}`);
  const ms = (share: number) => `${percentile(readMs, share).toFixed(1)} ms`;
  const cells = [what, written, `${seconds.toFixed(1)} s`, ms(0.5), ms(0.99), `${cpuSeconds.toFixed(1)} s`];
  return `| ${[...cells, `${Math.round(memoryMb)} MiB`].join(" | ")} |`;
};

const idIn = (body: Buffer): number => Number(/"id":(\d+)/.exec(body.toString())![1]);

/** Starts a run and reads the asset until it has ended. */
async function measureRun(
  { started, port }: Running,
  connection: Connection,
  { id, assetId }: { readonly id: number; readonly assetId: number },
): Promise<RunFigures> {
  const reader = await Connection.open(port);
  const cpuBefore = processorSeconds(started);
  const startMs = performance.now();
  const begun = expectSuccess(await connection.send(postTo06(`/transformations/${id}/run`, "")));
  const place = `/transformations/${id}/runs/${idIn(begun.body)}`;
  const readMs: number[] = [];
  let isRunning = true;
  const reading = (async () => {
    while (isRunning) {
      const from = performance.now();
      expectSuccess(await reader.send(get(`/assets/${assetId}`)));
      readMs.push(performance.now() - from);
      await pause(pauseMs);
    }
  })();
  const run = await ended(connection, place);
  const seconds = (performance.now() - startMs) / 1000;
  isRunning = false;
  await reading;
  reader.close();
  if (run.status !== "COMPLETED") throw new Error(`the run is ${run.status}: ${run.problem}`);
  return {
    ...{ seconds, readMs, written: run.created + run.changed },
    ...{ cpuSeconds: processorSeconds(started) - cpuBefore, memoryMb: peakMemoryMb(started) },
  };
}

interface Run {
  readonly status: string;
  readonly problem?: string;
  readonly created: number;
  readonly changed: number;
}

async function ended(connection: Connection, place: string): Promise<Run> {
  for (;;) {
    const { body } = expectSuccess(await connection.send(getFrom06(place)));
    const [run] = (JSON.parse(body.toString()) as { data: { items: [Run] } }).data.items;
    if (run.status !== "RUNNING") return run;
    await pause(20);
  }
}

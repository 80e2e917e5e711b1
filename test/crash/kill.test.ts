// kill -9 in the midst of random writes and deletes, also of a start, again and again on one data folder:
// acknowledged writes exist, and writes without a response exist as a whole or not at all. The time until the
// next start responds is printed, not checked: machines differ.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { temporaryFolder } from "../support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace, withFront } from "../support/process.ts";
import { randomFrom, seed, times } from "../support/proof.ts";

const rounds = times(4, 200);
const seriesEach = 6;
const timesMax = 3000;
const adminKey = "a-key-of-this-test-with-enough-letters";
const preload = new URL("../support/small-checkpoints.ts", import.meta.url).href;
/** Each second start moves points into blocks all the time, the others leave them to the journal. */
const environmentOf = (round: number) => ({
  ...withFront,
  MILLRACE_ADMIN_KEY: adminKey,
  ...(round % 2 === 1 && { NODE_OPTIONS: `--import=${preload}` }),
});
const random = randomFrom(seed);
const below = (end: number) => Math.floor(random() * end);
const oneOf = <Value>(all: readonly Value[]) => all[below(all.length)]!;

type Points = Map<number, number | string>;
/** The series that there are, by name. */
type State = Map<string, Points>;
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** The state after it. */
  readonly effect: (state: State) => void;
}
interface Writer {
  readonly name: string;
  readonly state: State;
  /** Requests without a response. */
  doubt: Operation | undefined;
  acknowledged: number;
}

const isString = (name: string) => name.endsWith("5");
const namesOf = ({ name }: Writer) => Array.from({ length: seriesEach }, (_, i) => `${name}.${i}`);

function create(name: string): Operation {
  const body = { items: [{ name, isString: isString(name) }] };
  return { method: "POST", path: "/timeseries", body, effect: (state) => state.set(name, new Map()) };
}

function remove(name: string): Operation {
  return { method: "DELETE", path: `/timeseries/${name}`, effect: (state) => state.delete(name) };
}

/** Points in order or over each other, of one series or of several at once. */
function append(state: State): Operation {
  const count = oneOf([1, 1, 5, 40, 400]);
  const names = [...state.keys()].filter(() => random() < 0.5);
  const chosen = names.length > 0 ? names : [oneOf([...state.keys()])];
  const items = chosen.map((name) => {
    const first = below(timesMax);
    const datapoints = Array.from({ length: count }, (_, i) => {
      const value = below(1e6) / 1000;
      return { timestamp: first + i, value: isString(name) ? `text ${value}` : value };
    });
    return { name, datapoints };
  });
  const effect = (of: State) => {
    for (const { name, datapoints } of items)
      for (const { timestamp, value } of datapoints) of.get(name)!.set(timestamp, value);
  };
  return { method: "POST", path: "/timeseries/data", body: { items }, effect };
}

function erase(name: string): Operation {
  const start = below(timesMax);
  const isSingle = random() < 0.3;
  const end = start + (isSingle ? 1 : below(timesMax / 2) + 1);
  const range = `deleterange?timestampInclusiveBegin=${start}&timestampExclusiveEnd=${end}`;
  const path = `/timeseries/data/${name}/${isSingle ? `deletesingle?timestamp=${start}` : range}`;
  const effect = (state: State) => {
    const points = state.get(name)!;
    for (const time of points.keys()) if (time >= start && time < end) points.delete(time);
  };
  return { method: "DELETE", path, effect };
}

function nextOperation(writer: Writer): Operation {
  const { state } = writer;
  const missing = namesOf(writer).filter((name) => !state.has(name));
  if (missing.length > 0 && (state.size === 0 || random() < 0.3)) return create(oneOf(missing));
  const roll = random();
  if (roll < 0.7) return append(state);
  return roll < 0.95 ? erase(oneOf([...state.keys()])) : remove(oneOf([...state.keys()]));
}

const folder = temporaryFolder();
let server: Awaited<ReturnType<typeof serveMillrace>>;
const writers: readonly Writer[] = ["a", "b", "c", "d"].map((name) => ({
  name,
  state: new Map(),
  doubt: undefined,
  acknowledged: 0,
}));

async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${server.baseUrl}/api/0.5/projects/default${path}`, {
    method,
    headers: { "api-key": adminKey },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, `${method} ${path}: ${text}`);
  return JSON.parse(text);
}

async function writeUntilKilled(writer: Writer): Promise<void> {
  for (;;) {
    const operation = nextOperation(writer);
    try {
      await ask(operation.method, operation.path, operation.body);
    } catch (why) {
      if (why instanceof assert.AssertionError) throw why;
      writer.doubt = operation;
      return;
    }
    operation.effect(writer.state);
    writer.acknowledged++;
  }
}

/** The points of a writer's series on the server. */
async function stateIn({ name }: Writer): Promise<State> {
  interface TestResponse {
    readonly data: { items: { name: string; datapoints: { timestamp: number; value: number | string }[] }[] };
  }
  const listed = (await ask("GET", "/timeseries?limit=1000")) as TestResponse;
  const items = listed.data.items
    .filter((one) => one.name.startsWith(`${name}.`))
    .map((one) => ({ name: one.name }));
  if (items.length === 0) return new Map();
  const query = { items, start: 0, end: 10 * timesMax, limit: 100_000 };
  const { data } = (await ask("POST", "/timeseries/dataquery", query)) as TestResponse;
  return new Map(
    data.items.map((one) => [
      one.name,
      new Map(one.datapoints.map(({ timestamp, value }) => [timestamp, value])),
    ]),
  );
}

/** The state is that of all acknowledged operations, or of these and the one in doubt. */
async function check(writer: Writer): Promise<void> {
  const found = await stateIn(writer);
  const { state, doubt } = writer;
  writer.doubt = undefined;
  if (isDeepStrictEqual(found, state)) return;
  doubt?.effect(state);
  assert.deepEqual(
    found,
    state,
    `writer ${writer.name}, ${doubt ? `${doubt.method} ${doubt.path}` : "no"} in doubt`,
  );
}

after(endLeftProcesses);

it(`${rounds} times kill -9 in the midst of random operations, PROOF_SEED=${seed}`, {
  timeout: 7_200_000,
}, async (t) => {
  let slowestMs = 0;
  for (let round = 0; round <= rounds; round++) {
    // Now and then the start itself is killed.
    while (round > 0 && random() < 0.2) {
      const starting = runMillrace(["serve"], { MILLRACE_PORT: "0", ...environmentOf(round) }, folder);
      await setTimeout(random() * 2500);
      starting.child.kill("SIGKILL");
      await starting.ended;
    }
    const began = performance.now();
    server = await serveMillrace(environmentOf(round), folder);
    slowestMs = Math.max(slowestMs, performance.now() - began);
    for (const writer of writers) await check(writer);
    const health = (await (await fetch(`${server.baseUrl}/health`)).json()) as { quarantined: unknown[] };
    assert.deepEqual(health.quarantined, []);
    if (round === rounds) break;
    const writing = writers.map(writeUntilKilled);
    await setTimeout(300 + random() * 1200);
    server.child.kill("SIGKILL");
    await server.ended;
    await Promise.all(writing);
  }
  const count = writers.reduce((sum, one) => sum + one.acknowledged, 0);
  t.diagnostic(`${count} acknowledged operations; slowest start ${Math.round(slowestMs)} ms`);
});

// `--threads`: one thread or several that receive requests, and what stays on the main thread for each
// request.
//
// A machine with two cores cannot show the rate of many. The second table has what limits it there: the
// processor time of the main thread, of the front threads and of all others for a request that a front thread
// has received. The last one computes rates from them.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request as send } from "node:http";
import { defaultCount } from "../src/front/default-count.ts";
import { generateScans, seed } from "./generate.ts";
import { openConnections, type RequestBytes } from "./http.ts";
import { readersOf } from "./many-readers.ts";
import { loadForReads, type ReadScale } from "./new-windows.ts";
import { processorSeconds } from "./process.ts";
import { figure } from "./report.ts";
import { administratorKey, millrace, startMillrace } from "./systems/millrace.ts";
import type { Running, System } from "./systems/system.ts";
import { costOfWrites } from "./write-cost.ts";
import { runWrk } from "./wrk.ts";

export interface ThreadsScale extends ReadScale {
  readonly scans: number;
  /** Requests over each connection to a front thread. */
  readonly requests: number;
}

type OnFresh = <Result>(system: System, work: (running: Running) => Promise<Result>) => Promise<Result>;

const scannedSeries = 1_000;
const names = Array.from({ length: scannedSeries }, (_, at) => `scan${at}`);
/** Front threads: none and one in the first table, two in the others. */
const [alone, beside, frontCount] = [0, 1, 2];

/** Cores for which the last table computes rates, and the threads that a server has there by default. */
const computedCores = [4, 8, 16, 64];
const shardsOn = (cores: number) => Math.min(cores, 16);

/** Three tables, of one round. */
export async function measureThreads(onFresh: OnFresh, scale: ThreadsScale): Promise<string> {
  const runs: Run[] = [];
  for (const pin of pins())
    for (const threads of [alone, beside]) {
      const costs = await onFresh(withThreads(threads!, pin), (running) => ratesOf(running, scale));
      runs.push({
        title: `${pin.title}, ${threads === alone ? "main thread alone" : "one front thread"}`,
        costs,
      });
    }
  const main = await onFresh(withThreads(frontCount!), (running) => mainThreadOf(running, scale));
  return [ratesTable(runs), limitsTable(main), computedTable(main)].join("\n\n");
}

interface Pin {
  readonly title: string;
  /** The command that keeps a server on these cores. */
  readonly command: readonly string[];
}

/** Without taskset of util-linux, the server runs on all cores. */
function pins(): readonly Pin[] {
  if (spawnSync("taskset", ["--version"]).error) {
    console.log("taskset is not installed: the server is measured on all cores only.");
    return [{ title: "all cores", command: [] }];
  }
  return [
    { title: "1 core", command: ["taskset", "-c", "0"] },
    { title: "2 cores", command: ["taskset", "-c", "0,1"] },
  ];
}

const withThreads = (threads: number, { command }: Partial<Pin> = {}): System => ({
  ...millrace,
  start: (folder) => {
    const settings = { MILLRACE_FRONT_THREADS: String(threads), MILLRACE_AGGREGATE_CACHE: "0" };
    return startMillrace(folder, settings, command);
  },
});

interface Run {
  readonly title: string;
  readonly costs: Readonly<Record<string, RateAndCost>>;
}

interface RateAndCost {
  readonly perSecond: number;
  /** Processor seconds of the server per million of these. */
  readonly processor: number;
}

function ratesTable(runs: readonly Run[]): string {
  const kinds = Object.keys(runs[0]!.costs);
  const lines = kinds.map((kind) => {
    const cells = runs.map(({ costs }) => {
      const { perSecond, processor } = costs[kind]!;
      return `${figure(perSecond)} (${figure(processor)} s)`;
    });
    return `| ${[kind, ...cells].join(" | ")} |`;
  });
  return [
    "32 clients, requests/s; W2: 4 clients, points/s. In parentheses the processor seconds of the server per",
    "million requests, or points in W2. The clients run on all cores, also while the server has one.",
    "",
    `| ${["", ...runs.map(({ title }) => title)].join(" | ")} |`,
    `|${"---|".repeat(runs.length + 1)}`,
    ...lines,
  ].join("\n");
}

/** In microseconds a request. */
interface ThreadCost {
  readonly main: number;
  /** Of the front threads together. */
  readonly front: number;
  /** Of all other threads together: shards, and those of Node. */
  readonly others: number;
}
type ThreadCosts = Readonly<Record<string, ThreadCost>>;

function limitsTable(costs: ThreadCosts): string {
  const lines = Object.entries(costs).map(([kind, { main, front, others }]) => {
    const cells = [main, front, others].map((one) => one.toFixed(1));
    return `| ${[kind, ...cells, figure(1e6 / main), figure(1e6 / front)].join(" | ")} |`;
  });
  return [
    "| A request that a front thread receives | us of the main thread | us of the front thread | " +
      "us of the shards and all other threads | requests/s that the main thread allows | " +
      "requests/s of one front thread |",
    "|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}

/** Each thread is busy for at most a second a second, and all of them together for one of each core. */
function boundOf({ main, front, others }: ThreadCost, cores: number): string {
  const bounds = [
    ["main thread", 1e6 / main],
    ["front threads", (defaultCount(cores) * 1e6) / front],
    ["shards", (shardsOn(cores) * 1e6) / others],
    ["cores", (cores * 1e6) / (main + front + others)],
  ] as const;
  const [what, rate] = bounds.reduce((least, one) => (one[1] < least[1] ? one : least));
  return `${figure(rate)}, ${what}`;
}

function computedTable(costs: ThreadCosts): string {
  const lines = Object.entries(costs).map(
    ([kind, cost]) => `| ${[kind, ...computedCores.map((cores) => boundOf(cost, cores))].join(" | ")} |`,
  );
  const titles = computedCores.map(
    (cores) => `${cores} cores: ${defaultCount(cores)} front threads, ${shardsOn(cores)} shards`,
  );
  return [
    "**Computed, not measured**, from the microseconds above: requests/s of a server with default settings",
    "on machines with more cores, and clients on other machines. Each rate has the threads that bound it,",
    "because they are busy all the time: the main thread, which is one, the front threads, at most 7 by",
    "default, the shards, at most 16, or all cores. Time of Node's own threads counts as time of shards.",
    "The load is spread evenly. The microseconds are of one request at a time in each thread; with many at",
    "a time a read takes less, as the first table shows, so rates of reads can be higher. The speed of the",
    "disk and of the network is not in it, nor is waiting for memory, which cores share.",
    "",
    `| ${["requests/s, computed", ...titles].join(" | ")} |`,
    `|${"---|".repeat(computedCores.length + 1)}`,
    ...lines,
  ].join("\n");
}

const requestCount = 500;

/** Different requests of each kind. */
async function requestsOf(running: Running, scale: ThreadsScale) {
  const series = await loadForReads(millrace, running, scale);
  await running.declare(names);
  const readers = readersOf(millrace.requests, series, scale.pointsPerSeries);
  const many = (make: () => RequestBytes) => Array.from({ length: requestCount }, make);
  return {
    reads: {
      "latest of one series": many(readers.latest),
      "10 min averages of 20,000 points": many(readers.average),
      "1,000 raw points": many(() => readers.raw(1_000)),
    },
    scans: generateScans(scannedSeries, scale.scans, seed).map((one) => millrace.requests.scan(names, one)),
  };
}

async function ratesOf(running: Running, scale: ThreadsScale): Promise<Record<string, RateAndCost>> {
  const { reads, scans } = await requestsOf(running, scale);
  const costs: Record<string, RateAndCost> = {};
  for (const [what, requests] of Object.entries(reads)) {
    const before = processorSeconds(running.started);
    const { perSecond } = await runWrk(running, { requests, connections: 32, seconds: scale.seconds });
    const processor = processorSeconds(running.started) - before;
    costs[what] = { perSecond, processor: (processor / (perSecond * scale.seconds)) * 1e6 };
  }
  const connections = await openConnections(running.port);
  costs["W2, points"] = await costOfWrites(running, connections, {
    requests: scans,
    points: scans.length * scannedSeries,
  });
  for (const one of connections) one.close();
  return costs;
}

/** In microseconds a request; the main thread itself receives none. */
async function mainThreadOf(running: Running, scale: ThreadsScale): Promise<ThreadCosts> {
  const { reads, scans } = await requestsOf(running, scale);
  const clients = await clientsOfFronts(running);
  const costs: Record<string, ThreadCost> = {};
  let fronts: readonly string[] | undefined;
  const send = async (requests: readonly RequestBytes[], count = requests.length) => {
    let sent = 0;
    const sendNext = async (client: Client) => {
      while (sent < count) await client(requests[sent++ % requests.length]!);
    };
    await Promise.all(clients.map(sendNext));
  };
  const measure = async (what: string, requests: readonly RequestBytes[], count?: number) => {
    const warmUps = Math.floor(requests.length / 4);
    await send(requests.slice(0, warmUps), count && Math.floor(count / 4));
    const measured = requests.slice(warmUps);
    const before = threadSeconds(running);
    await send(measured, count);
    const spent = threadSeconds(running);
    for (const [thread, seconds] of spent) spent.set(thread, seconds - (before.get(thread) ?? 0));
    fronts ??= busiestOf(spent, mainOf(running));
    const sumOf = (threads: Iterable<string>) => {
      let seconds = 0;
      for (const thread of threads) seconds += spent.get(thread) ?? 0;
      return (seconds * 1e6) / (count ?? measured.length);
    };
    const [main, front, all] = [sumOf([mainOf(running)]), sumOf(fronts), sumOf(spent.keys())];
    costs[what] = { main, front, others: all - main - front };
  };
  // Latest values, which front threads keep, come first: no other thread works meanwhile.
  const count = scale.requests * clients.length;
  for (const [what, requests] of Object.entries(reads)) await measure(what, requests, count);
  // Once each: a repeated write has other costs.
  await measure("W2: write of 1,000 points", scans);
  return costs;
}

type Client = (request: RequestBytes) => Promise<string>;

/** One connection to each of the two front threads: of more, they would close some. */
async function clientsOfFronts({ port }: Running): Promise<Client[]> {
  const byThread = new Map<string, Client>();
  const probe = millrace.requests.latest(names[0]!, 0);
  for (let tries = 0; tries < 500 && byThread.size < frontCount!; tries++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const client: Client = (request) => sendOver(agent, port, request);
    const thread = await client(probe);
    if (byThread.has(thread) || (await client(healthBytes)) === thread) agent.destroy();
    else byThread.set(thread, client);
  }
  if (byThread.size < frontCount!) throw new Error("no connections to both front threads");
  return [...byThread.values()];
}

/** The main thread serves it, whatever thread receives it. */
const healthBytes = Buffer.from("GET /health HTTP/1.1\r\n\r\n");

/** Returns the beginning of the id of the request, which tells the thread that has served it. */
async function sendOver(agent: Agent, port: number, bytes: RequestBytes): Promise<string> {
  const [head = "", body = ""] = bytes.toString("latin1").split("\r\n\r\n", 2);
  const [line = ""] = head.split("\r\n", 1);
  const [method, path] = line.split(" ");
  const headers = { "api-key": administratorKey };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { agent, port, host: "127.0.0.1", method, path, headers };
  send(options, resolve).once("error", reject).end(body, "latin1");
  const response = await promise;
  for await (const _ of response);
  if (response.statusCode !== 200) throw new Error(`${line} responded ${response.statusCode}`);
  return String(response.headers["x-request-id"]).slice(0, 13);
}

/** The thread that has the number of the process. */
const mainOf = ({ started: { child } }: Running) => String(child.pid);

/** The processor time of each thread of the server so far, in seconds. */
function threadSeconds({ started: { child } }: Running): Map<string, number> {
  const folder = `/proc/${child.pid}/task`;
  const secondsOf = (thread: string) =>
    Number(readFileSync(`${folder}/${thread}/schedstat`, "latin1").split(" ", 1)[0]) / 1e9;
  return new Map(readdirSync(folder).map((thread) => [thread, secondsOf(thread)]));
}

/** The front threads, if only they were loaded. */
function busiestOf(spent: ReadonlyMap<string, number>, main: string): readonly string[] {
  const others = [...spent].filter(([thread]) => thread !== main);
  return others
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, frontCount)
    .map(([thread]) => thread);
}

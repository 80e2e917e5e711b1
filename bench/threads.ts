// `--threads`: one thread or several that receive requests, and what stays on the main thread for each
// request.
//
// A machine with two cores cannot show the rate of many. The second table is what limits it there: the
// processor time of the main thread for a request that a front thread has received.
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request as send } from "node:http";
import { generateScans, seed } from "./generate.ts";
import { drive, openConnections, type RequestBytes } from "./http.ts";
import { readersOf } from "./many-readers.ts";
import { loadForReads, type ReadScale } from "./new-windows.ts";
import { figure } from "./report.ts";
import { administratorKey, millrace, startMillrace } from "./systems/millrace.ts";
import type { Running, System } from "./systems/system.ts";
import { runWrk } from "./wrk.ts";

export interface ThreadsScale extends ReadScale {
  readonly scans: number;
  /** Requests over each connection to a front thread. */
  readonly requests: number;
}

type OnFresh = <Result>(system: System, work: (running: Running) => Promise<Result>) => Promise<Result>;

const scannedSeries = 1_000;
const names = Array.from({ length: scannedSeries }, (_, at) => `scan${at}`);
/** Front threads: none and one in the first table, two in the second. */
const [alone, beside, fronts] = [0, 1, 2];

/** Two tables, of one round. */
export async function measureThreads(onFresh: OnFresh, scale: ThreadsScale): Promise<string> {
  const measureRates = (threads: number) => onFresh(withThreads(threads), (one) => ratesOf(one, scale));
  const rates = [await measureRates(alone!), await measureRates(beside!)];
  const main = await onFresh(withThreads(fronts!), (running) => mainThreadOf(running, scale));
  const rows = Object.keys(rates[0]!).map((what) => {
    const [before, after] = rates.map((one) => one[what]!) as [number, number];
    return `| ${what} | ${figure(before)} | ${figure(after)} | ${(after / before).toFixed(2)}x |`;
  });
  const limits = Object.entries(main).map(
    ([what, us]) => `| ${what} | ${us.toFixed(1)} | ${us < 1 ? "not by it" : figure(1e6 / us)} |`,
  );
  return [
    "| 32 clients, requests/s (W2: 4 clients, points/s) | main thread alone | with one front thread | |",
    "|---|---|---|---|",
    ...rows,
    "",
    "| A request that a front thread receives | us of the main thread | so at most, requests/s |",
    "|---|---|---|",
    ...limits,
  ].join("\n");
}

const withThreads = (threads: number): System => ({
  ...millrace,
  start: (folder) =>
    startMillrace(folder, { MILLRACE_FRONT_THREADS: String(threads), MILLRACE_AGGREGATE_CACHE: "0" }),
});

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

async function ratesOf(running: Running, scale: ThreadsScale): Promise<Record<string, number>> {
  const { reads, scans } = await requestsOf(running, scale);
  const rates: Record<string, number> = {};
  for (const [what, requests] of Object.entries(reads))
    rates[what] = (await runWrk(running, { requests, connections: 32, seconds: scale.seconds })).perSecond;
  const connections = await openConnections(running.port);
  rates["W2"] = (scans.length * scannedSeries) / (await drive(connections, scans));
  for (const one of connections) one.close();
  return rates;
}

/** In microseconds a request; the main thread itself receives none. */
async function mainThreadOf(running: Running, scale: ThreadsScale): Promise<Record<string, number>> {
  const { reads, scans } = await requestsOf(running, scale);
  const clients = await clientsOfFronts(running);
  const costs: Record<string, number> = {};
  const measure = async (what: string, requests: readonly RequestBytes[]) => {
    const before = mainThreadSeconds(running);
    let sent = 0;
    await Promise.all(
      clients.map(async (client) => {
        for (let at = 0; at < scale.requests; at++, sent++) await client(requests[sent % requests.length]!);
      }),
    );
    costs[what] = ((mainThreadSeconds(running) - before) * 1e6) / sent;
  };
  for (const [what, requests] of Object.entries(reads)) await measure(what, requests);
  await measure("W2: write of 1,000 points", scans);
  return costs;
}

type Client = (request: RequestBytes) => Promise<string>;

/** One connection to each of the two front threads: of more, they would close some. */
async function clientsOfFronts({ port }: Running): Promise<Client[]> {
  const byThread = new Map<string, Client>();
  const probe = millrace.requests.latest(names[0]!, 0);
  for (let tries = 0; tries < 500 && byThread.size < fronts!; tries++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const client: Client = (request) => sendOver(agent, port, request);
    const thread = await client(probe);
    if (byThread.has(thread) || (await client(healthBytes)) === thread) agent.destroy();
    else byThread.set(thread, client);
  }
  if (byThread.size < fronts!) throw new Error("no connections to both front threads");
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

/** The processor time of the main thread of the server so far, in seconds. */
function mainThreadSeconds({ started: { child } }: Running): number {
  const stat = readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, "latin1");
  return Number(stat.split(" ", 1)[0]) / 1e9;
}

// One soak test: a plant at one value a second with readers, records, a connector and backups, while server,
// connector and broker are killed and restarted. At the end each acknowledged write must be there, once.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { serveMillrace } from "../../test/support/process.ts";
import { WriteChecker } from "../../test/support/write-checker.ts";
import { administratorKey } from "../systems/millrace.ts";
import { BrokerFeed } from "./broker-feed.ts";
import { project, SoakClient } from "./client.ts";
import { createSeries, Feed } from "./feed.ts";
import { calm, type Sample } from "./figures.ts";
import { datapointsOf, Reader } from "./readers.ts";
import { SoakServer } from "./server.ts";
import { nameOf, pointsOf } from "./signals.ts";

export interface SoakScale {
  readonly seconds: number;
  readonly series: number;
  /** Five fields of cron and a time zone. */
  readonly backups: string;
}

export interface Interruption {
  readonly what: string;
  /** Of the server, until it serves again; of others, until the process is started again. */
  readonly seconds: number;
}

export interface SoakResult {
  readonly samples: readonly Sample[];
  readonly interruptions: readonly Interruption[];
  /** The outcomes of the last backups. */
  readonly backups: readonly string[];
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly requests: number;
  /** Requests without a success, because the server was away or said when to try again. */
  readonly away: number;
  /** Lost, wrong and repeated records, and responses that no client should get. */
  readonly findings: readonly string[];
}

const groups = 10;
const readers = 8;
const betweenRecordsMs = 500;
const samplesOfRun = 200;
const sampleMsMin = 2_000;
const restoredSeriesMax = 200;
const verifySecondsMax = 600;

type What = "server killed" | "server restarted" | "connector killed" | "broker restarted";
/** At these parts of the run, before and after the calm part. */
const plan: readonly (readonly [part: number, what: What])[] = (
  ["server killed", "connector killed", "server restarted", "broker restarted", "server killed"] as const
).flatMap((what, at) => [
  [((at + 1) / 6) * calm.from, what] as const,
  [calm.to + ((at + 1) / 6) * (1 - calm.to), what] as const,
]);

/** Works in the folder. Reports its steps. */
export async function runSoak(
  scale: SoakScale,
  folder: string,
  say: (line: string) => void,
): Promise<SoakResult> {
  const server = await SoakServer.start(folder, scale.backups);
  const client = new SoakClient(server.baseUrl);
  const ids = await createSeries(client, scale.series);
  const broker = await BrokerFeed.start(folder, server.baseUrl);
  const bound = (at: number) => Math.floor((scale.series * at) / groups);
  const feeds = Array.from({ length: groups }, (_, at) => new Feed(client, bound(at), bound(at + 1)));
  const checker = new WriteChecker(
    { baseUrl: server.baseUrl, key: administratorKey },
    "soak",
    betweenRecordsMs,
  );
  await checker.start();
  const ending = new AbortController();
  const work = [
    ...feeds,
    broker,
    ...Array.from({ length: readers }, () => new Reader(client, feeds, ids)),
  ].map((one) => one.run(ending.signal));
  const worked = Promise.all(work);
  const failed = new Promise<never>((_, reject) => worked.catch(reject));
  const watched = watch({ scale, server, broker, feeds, client, say });
  const { samples, interruptions } = await Promise.race([watched, failed]);
  ending.abort();
  await worked;
  await checker.stop();
  const backups = await verifiedBackups(server);

  say("Comparing all that was acknowledged");
  await checkPoints(client, feeds, ids.length);
  await broker.check(client);
  const found = await checker.findings(server.baseUrl);
  await broker.stop();
  await server.stop();
  say("Examining the data folder, verifying the last backup and restoring it");
  await server.command("doctor");
  await server.command("verify", server.backups);
  await checkRestored(server, client, feeds, ids.length);
  // While the server is killed, a connection ends without a response.
  const unexpected = checker.violations.filter((one) => !/fetch failed|terminated/.test(one));
  return {
    ...{ samples, interruptions, backups, requests: client.requests, away: client.away },
    acknowledged: {
      ...checker.acknowledged,
      "points of the plant": pointsOfAll(feeds),
      messages: broker.messages,
    },
    findings: [
      ...client.findings,
      ...found,
      ...unexpected,
      ...backups.filter((one) => /^(failed|damaged)/.test(one)),
      ...(backups.includes("in order") ? [] : [`no backup was verified: ${backups.join()}`]),
    ],
  };
}

interface Watched {
  readonly scale: SoakScale;
  readonly server: SoakServer;
  readonly broker: BrokerFeed;
  readonly feeds: readonly Feed[];
  readonly client: SoakClient;
  readonly say: (line: string) => void;
}

/** Takes samples, and interrupts as planned, to the end of the run. */
async function watch({ scale, server, broker, feeds, client, say }: Watched) {
  const samples: Sample[] = [];
  const interruptions: Interruption[] = [];
  let reported = 0;
  const due = [...plan].sort(([a], [b]) => a - b);
  const startedMs = performance.now();
  const part = () => (performance.now() - startedMs) / (scale.seconds * 1000);
  const betweenMs = Math.max((scale.seconds * 1000) / samplesOfRun, sampleMsMin);
  for (let nextMs = 0; due.length > 0 || part() < 1; await pause(100)) {
    if (due.length > 0 && part() >= due[0]![0]) {
      const [, what] = due.shift()!;
      interruptions.push({ what, seconds: await interrupt(what, server, broker) });
      say(`${what}: ${interruptions.at(-1)!.seconds.toFixed(1)} s`);
    }
    if (performance.now() - startedMs < nextMs) continue;
    nextMs = performance.now() - startedMs + betweenMs;
    const points = pointsOfAll(feeds);
    const { memoryMb, ...figures } = await server.figures();
    samples.push({
      part: part(),
      points,
      memoryMb,
      connectorMb: broker.memoryMb,
      ...figures,
      times: client.takeTimes(),
    });
    const disk = (figures.diskBytes / 2 ** 20).toFixed(0);
    for (const one of client.findings.slice(reported)) say(`FOUND ${one}`);
    reported = client.findings.length;
    const sizes = `${memoryMb.toFixed(0)} MiB of memory, ${disk} MiB of disk`;
    say(`${(100 * part()).toFixed(0)} %: ${points} points, ${sizes}, ${reported} findings`);
  }
  return { samples, interruptions };
}

async function interrupt(what: What, server: SoakServer, broker: BrokerFeed): Promise<number> {
  const startedMs = performance.now();
  if (what === "server killed") await server.restart("SIGKILL");
  if (what === "server restarted") await server.restart("SIGTERM");
  if (what === "connector killed") await broker.killConnector();
  if (what === "broker restarted") await broker.restartBroker();
  return (performance.now() - startedMs) / 1000;
}

const pointsOfAll = (feeds: readonly Feed[]): number => feeds.reduce((sum, { points }) => sum + points, 0);

/** The outcomes of the last backups, as soon as one of them has been verified. */
async function verifiedBackups(server: SoakServer): Promise<readonly string[]> {
  for (let second = 0; second < verifySecondsMax && !server.backupOutcomes.includes("in order"); second++)
    await pause(1_000);
  return server.backupOutcomes;
}

/** Reads every point of the plant. */
async function checkPoints(client: SoakClient, feeds: readonly Feed[], count: number): Promise<void> {
  for (let series = 0; series < count; series++) {
    const { from, acknowledged } = feeds.find((one) => one.has(series))!;
    const found = await storedSeconds(client, series);
    client.compare(`the seconds of ${nameOf(series)}`, found, pointsOf(series, from, acknowledged));
  }
}

/** The last backup has each series up to a second that was sent before its snapshot. */
async function checkRestored(server: SoakServer, client: SoakClient, feeds: readonly Feed[], count: number) {
  const data = join(server.folder, "restored");
  await server.command("restore", server.backups, "--to", data);
  const restored = await serveMillrace({ MILLRACE_DATA: data }, server.folder);
  const reader = new SoakClient(restored.baseUrl);
  for (let series = 0; series < count; series += Math.ceil(count / restoredSeriesMax)) {
    const { from } = feeds.find((one) => one.has(series))!;
    const found = await storedSeconds(reader, series);
    reader.compare(
      `the restored seconds of ${nameOf(series)}`,
      found,
      pointsOf(series, from, from + found.length),
    );
    if (found.length === 0) reader.findings.push(`the backup has no point of ${nameOf(series)}`);
  }
  client.findings.push(...reader.findings);
  restored.child.kill("SIGTERM");
  await restored.ended;
}

async function storedSeconds(client: SoakClient, series: number) {
  const path = `${project}/timeseries/data/${nameOf(series)}?start=0&end=${Date.now() + 60_000}&limit=100000`;
  return datapointsOf((await client.send("check", "GET", path)) ?? '{"data":{"items":[]}}');
}

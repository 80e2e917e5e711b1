// The throughput and the cost of a connector: messages of a broker, and the backlog of an outage.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connectAsync } from "mqtt";
import { ForwardBuffer } from "../src/connectors/forward-buffer.ts";
import { type Broker, startMosquitto } from "../test/support/mosquitto.ts";
import { endLeftProcesses, type RunningProcess, runMillrace } from "../test/support/process.ts";
import { peakMemoryMb, processorSeconds } from "./process.ts";
import { administratorKey } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";

export interface ConnectorScale {
  readonly messages: number;
  readonly series: number;
  /** Seconds of the outage: each series has a point a second. */
  readonly backlogSeconds: number;
}

export const fullConnectors: ConnectorScale = { messages: 400_000, series: 5_000, backlogSeconds: 3_600 };
export const quickConnectors: ConnectorScale = { messages: 5_000, series: 500, backlogSeconds: 20 };

type OnServer = (work: (running: Running) => Promise<string>) => Promise<string>;

/** A table; each line on a server of its own. */
export async function measureConnectors(onServer: OnServer, scale: ConnectorScale): Promise<string> {
  const lines = [
    await onServer((running) => drainBroker(running, scale)),
    await onServer((running) => sendBacklog(running, scale)),
  ];
  const head = [
    "| What | Records/s | Time | Connector: processor | Connector: peak memory |",
    "|---|---|---|---|---|",
  ];
  return [...head, ...lines].join("\n");
}

/** The messages wait in the broker, so that publishing takes no processor from the connector. */
async function drainBroker(running: Running, { messages, series }: ConnectorScale): Promise<string> {
  const broker = await startMosquitto();
  try {
    const file = configurationIn(running, broker.url);
    await ended(await connecting(file));
    const publisher = await connectAsync(broker.url);
    const waiting: Promise<unknown>[] = [];
    for (let i = 0; i < messages; i += 1) {
      const payload = JSON.stringify({ t: 1_700_000_000_000 + i, v: (i % 977) / 10 });
      waiting.push(publisher.publishAsync(`plant/s${i % series}`, payload, { qos: 1 }));
      if (waiting.length >= 5_000) await Promise.all(waiting.splice(0));
    }
    await Promise.all(waiting);
    await publisher.endAsync();
    return await timed(
      `MQTT, quality of service 1, JSON, ${messages} messages of ${series} topics`,
      messages,
      file,
      running,
    );
  } finally {
    await broker.stop();
  }
}

async function sendBacklog(running: Running, { series, backlogSeconds }: ConnectorScale): Promise<string> {
  const broker = await startMosquitto();
  try {
    const file = configurationIn(running, broker.url);
    const buffer = new ForwardBuffer(join(running.started.folder, "bench.buffer"), {
      ...{ bytesMax: 2 ** 33, ageMsMax: Number.MAX_SAFE_INTEGER },
    });
    const descriptions = Array.from({ length: series }, (_, i) => ({ name: `backlog.s${i}`, unit: "bar" }));
    for (let second = 0; second < backlogSeconds; second += 1) {
      const timestamp = 1_700_000_000_000 + 1_000 * second;
      const value = (i: number) => Math.round(1_000 * Math.sin(second / 100 + i)) / 10;
      buffer.put({ points: descriptions.map((one, i) => ({ series: one, timestamp, value: value(i) })) });
    }
    buffer.close();
    const points = series * backlogSeconds;
    await using _ = await liveData(broker, series);
    const what = `backlog of ${series} series at 1 Hz, ${backlogSeconds} s, while live data comes`;
    return await timed(what, points, file, running);
  } finally {
    await broker.stop();
  }
}

/** A message of each topic each second. The connector sends them after the backlog, which is older. */
async function liveData(broker: Broker, series: number): Promise<AsyncDisposable> {
  const publisher = await connectAsync(broker.url);
  const timer = setInterval(() => {
    const payload = JSON.stringify({ t: Date.now(), v: 1 });
    for (let i = 0; i < series; i += 1) publisher.publish(`plant/s${i}`, payload, { qos: 1 });
  }, 1_000);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await publisher.endAsync(true);
    },
  };
}

async function timed(what: string, records: number, file: string, running: Running): Promise<string> {
  const before = await pointsWritten(running);
  const begunMs = performance.now();
  const connector = await connecting(file, false);
  while ((await pointsWritten(running)) < before + records) await pause(50);
  const seconds = (performance.now() - begunMs) / 1_000;
  const [processor, memory] = [processorSeconds(connector), peakMemoryMb(connector)];
  await ended(connector);
  const cells = [
    Math.round(records / seconds).toLocaleString("en"),
    `${seconds.toFixed(1)} s`,
    `${processor.toFixed(1)} s`,
    `${Math.round(memory)} MiB`,
  ];
  return `| ${what} | ${cells.join(" | ")} |`;
}

async function pointsWritten({ port }: Running): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { "api-key": administratorKey },
  });
  return Number(/^millrace_points_written_total (\d+)/m.exec(await response.text())?.[1]);
}

function configurationIn({ port, started: { folder } }: Running, url: string): string {
  const file = join(folder, "bench.yaml");
  const map = '{"series": $levels[1], "value": v, "timestamp": t}';
  const content = {
    ...{ version: 1, name: "bench", buffer: { bytes: "8GiB" } },
    source: { type: "mqtt", url, read: [{ topic: "plant/+", format: "json", map }] },
    destination: { server: `http://127.0.0.1:${port}`, key: administratorKey },
  };
  writeFileSync(file, JSON.stringify(content));
  return file;
}

async function connecting(file: string, isAwaited = true): Promise<RunningProcess> {
  const connector = runMillrace(["connect", file], {}, join(file, ".."));
  process.once("exit", endLeftProcesses);
  while (isAwaited && !connector.output().includes("Subscribed")) await pause(20);
  return connector;
}

async function ended(connector: RunningProcess): Promise<void> {
  connector.child.kill("SIGINT");
  const { status, output, errors } = await connector.ended;
  if (status !== 0) throw new Error(`The connector failed: ${output}${errors}`);
}

// The OPC UA connector at 5,000 variables that change each second: lost points, latency and processor time.
// `npm run test:connectors` installs the library.
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../test/support/process.ts";
import { peakMemoryMb, processorSeconds } from "./process.ts";

const variables = 5_000;
const adminKey = "the-key-of-the-benchmark-0123456789-abcdef";
const port = 48_455;

/** A table with one line, of so many seconds. */
export async function measureOpcUa(seconds: number): Promise<string> {
  const plantFile = new URL("../src/connectors/opcua/test-server.ts", import.meta.url).pathname;
  const plant = fork(plantFile, [JSON.stringify({ port, load: variables, folder: temporaryFolder() })]);
  process.once("exit", endLeftProcesses);
  try {
    const [ready] = await Promise.race([once(plant, "message"), once(plant, "exit")]);
    if (typeof ready !== "object" || ready === null)
      throw new Error("The OPC UA server does not start: its library is missing");
    return await measureWith(seconds);
  } finally {
    endLeftProcesses();
    plant.kill("SIGKILL");
  }
}

async function measureWith(seconds: number): Promise<string> {
  const settings = { MILLRACE_ADMIN_KEY: adminKey, MILLRACE_DATA: temporaryFolder() };
  const { baseUrl } = await serveMillrace(settings, temporaryFolder());
  const connector = runMillrace(["connect", configurationFor(baseUrl)], {}, temporaryFolder());
  while (!connector.output().includes("Subscribed to")) await pause(100);
  await pause(10_000);
  const startMs = Date.now();
  const before = processorSeconds(connector);
  const latencies = await measureLatencies(baseUrl, startMs + seconds * 1_000);
  const used = processorSeconds(connector) - before;
  const endMs = Date.now();
  await pause(3_000);
  const lost = await countLost(baseUrl, startMs, endMs - 1_000);
  const memory = peakMemoryMb(connector);
  connector.child.kill("SIGINT");
  await connector.ended;
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    `${Math.round(latencies[Math.floor(share * latencies.length)] ?? Number.NaN)} ms`;
  const cells = [
    `${variables} variables at 1 Hz, ${seconds} s`,
    ...[at(0.5), at(0.99), `${lost.missing} of ${lost.expected}`],
    `${((100_000 * used) / (endMs - startMs)).toFixed(1)} % of a core`,
    `${Math.round(memory)} MiB`,
  ];
  const names = ["p50 to the server's disk", "p99", "lost", "connector: processor", "connector: peak memory"];
  return [`| What | ${names.join(" | ")} |`, "|---|---|---|---|---|---|", `| ${cells.join(" | ")} |`].join(
    "\n",
  );
}

function configurationFor(baseUrl: string): string {
  const file = join(temporaryFolder(), "plant.yaml");
  const source = {
    ...{ type: "opcua", endpoint: `opc.tcp://127.0.0.1:${port}`, browse: { include: ["Plant/Load/*"] } },
    ...{ security: { certificates: temporaryFolder() } },
    subscribe: { sampling: "0ms", publishing: "250ms" },
  };
  const destination = { server: baseUrl, key: adminKey };
  writeFileSync(file, JSON.stringify({ version: 1, name: "bench", source, destination }));
  return file;
}

/** From the time of the source to the first response of the server that has the point. */
async function measureLatencies(baseUrl: string, untilMs: number): Promise<number[]> {
  const items = Array.from({ length: 50 }, (_, i) => ({ name: `Plant/Load/V${(i * variables) / 50}` }));
  const seen = new Map<string, number>();
  const found: number[] = [];
  while (Date.now() < untilMs) {
    const latest = (await api(baseUrl, "POST", "timeseries/latest", { items })) as {
      items: { name: string; datapoints: { timestamp: number }[] }[];
    };
    const nowMs = Date.now();
    for (const { name, datapoints } of latest.items) {
      const time = datapoints[0]?.timestamp ?? 0;
      const before = seen.get(name);
      seen.set(name, time);
      if (before !== undefined && time > before) found.push(nowMs - time);
    }
    await pause(20);
  }
  return found;
}

/** Each variable has the same times; a time that any of them has is expected of all. */
async function countLost(baseUrl: string, fromMs: number, toMs: number) {
  const counts: number[] = [];
  for (let i = 0; i < variables; i += 1) {
    const name = encodeURIComponent(`Plant/Load/V${i}`);
    const path = `timeseries/data/${name}?start=${fromMs}&end=${toMs}&limit=10000`;
    const { items } = (await api(baseUrl, "GET", path)) as { items: { datapoints: unknown[] }[] };
    counts.push(items[0]?.datapoints.length ?? 0);
  }
  const most = Math.max(...counts);
  const missing = counts.reduce((sum, count) => sum + most - count, 0);
  return { missing, expected: most * variables };
}

async function api(baseUrl: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${baseUrl}/api/0.6/projects/default/${path}`, {
    method,
    headers: { "api-key": adminKey, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: unknown }).data;
}

// The OPC UA connector at 5,000 variables that change each second: lost points, latency and processor time.
// `npm run test:connectors` installs the library; then `npx node bench/opcua.ts [seconds]`.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../test/support/process.ts";

const variables = 5_000;
const seconds = Number(process.argv[2] ?? 60);
const adminKey = "the-key-of-the-benchmark-0123456789-abcdef";
const port = 48_455;
const ticksPerSecond = 100;

const plantFile = new URL("../src/connectors/opcua/test-server.ts", import.meta.url).pathname;
const plant = fork(plantFile, [JSON.stringify({ port, load: variables, folder: temporaryFolder() })]);
await once(plant, "message");
const data = temporaryFolder();
const server = await serveMillrace({ MILLRACE_ADMIN_KEY: adminKey, MILLRACE_DATA: data }, temporaryFolder());
const file = join(temporaryFolder(), "plant.yaml");
const source = {
  ...{ type: "opcua", endpoint: `opc.tcp://127.0.0.1:${port}`, browse: { include: ["Plant/Load/*"] } },
  ...{ security: { certificates: temporaryFolder() } },
  subscribe: { sampling: "0ms", publishing: "250ms" },
};
const destination = { server: server.baseUrl, key: adminKey };
writeFileSync(file, JSON.stringify({ version: 1, name: "bench", source, destination }));
const connector = runMillrace(["connect", file], {}, temporaryFolder());
while (!connector.output().includes("Subscribed to")) await pause(100);
await pause(10_000);

const startMs = Date.now();
const cpuBefore = cpuSeconds(connector.child.pid!);
const latencies = await measureLatencies(startMs + seconds * 1_000);
const used = cpuSeconds(connector.child.pid!) - cpuBefore;
const endMs = Date.now();
await pause(3_000);
const lost = await countLost(startMs, endMs - 1_000);
latencies.sort((a, b) => a - b);
const at = (share: number) => Math.round(latencies[Math.floor(share * latencies.length)] ?? Number.NaN);
console.log(
  `${variables} variables at 1 Hz for ${seconds} s; load of the machine ${loadavg()[0]!.toFixed(1)}`,
);
console.log(`end to end: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${latencies.length} samples`);
console.log(`connector: ${((100 * used * 1_000) / (endMs - startMs)).toFixed(1)} % of a core`);
console.log(`lost: ${lost.missing} of ${lost.expected} points`);
connector.child.kill("SIGINT");
await connector.ended;
endLeftProcesses();
plant.kill("SIGKILL");

/** From the time of the source to the first response of the server that has the point. */
async function measureLatencies(untilMs: number): Promise<number[]> {
  const items = Array.from({ length: 50 }, (_, i) => ({ name: `Plant/Load/V${(i * variables) / 50}` }));
  const seen = new Map<string, number>();
  const found: number[] = [];
  while (Date.now() < untilMs) {
    const latest = (await api("POST", "timeseries/latest", { items })) as {
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
async function countLost(fromMs: number, toMs: number): Promise<{ missing: number; expected: number }> {
  const counts: number[] = [];
  for (let i = 0; i < variables; i += 1) {
    const name = encodeURIComponent(`Plant/Load/V${i}`);
    const path = `timeseries/data/${name}?start=${fromMs}&end=${toMs}&limit=10000`;
    const { items } = (await api("GET", path)) as { items: { datapoints: unknown[] }[] };
    counts.push(items[0]?.datapoints.length ?? 0);
  }
  const most = Math.max(...counts);
  const missing = counts.reduce((sum, count) => sum + most - count, 0);
  return { missing, expected: most * variables };
}

async function api(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${server.baseUrl}/api/0.6/projects/default/${path}`, {
    method,
    headers: { "api-key": adminKey, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: unknown }).data;
}

/** Of a process on Linux, in user and system mode. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

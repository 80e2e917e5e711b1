// W15: 32 clients that read all the time. wrk sends the requests, as it costs little beside the server.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GeneratedSeries, randomFrom, seed, startMs } from "./generate.ts";
import type { RequestBytes } from "./http.ts";
import type { ReadScale } from "./new-windows.ts";
import { installPackages } from "./systems/debian.ts";
import type { Running, System } from "./systems/system.ts";
import type { Figures } from "./workloads.ts";

const connections = 32;
/** Different requests of each load. */
const requestCount = 2_000;
const bucketMs = 600_000;

/** One round; throws if a response is not 200. */
export function measureManyReaders(
  { requests }: System,
  running: Running,
  { series, scale }: { readonly series: readonly GeneratedSeries[]; readonly scale: ReadScale },
): Figures {
  installPackages(["wrk"]);
  const random = randomFrom(seed);
  const one = () => series[Math.floor(random() * series.length)]!;
  const windowOf = (points: number, unitMs: number) => {
    const places = Math.max(1, scale.pointsPerSeries - points);
    const fromMs = startMs + Math.floor((Math.floor(random() * places) * 1000) / unitMs) * unitMs;
    return { startMs: fromMs, endMs: fromMs + Math.ceil((points * 1000) / unitMs) * unitMs };
  };
  const rateOf = (make: () => RequestBytes) =>
    requestsPerSecond(running, Array.from({ length: requestCount }, make), scale.seconds);
  return {
    W15latest: rateOf(() => {
      const { name, times } = one();
      return requests.latest(name, times.at(-1)!);
    }),
    W15average: rateOf(() =>
      requests.buckets(one().name, { window: windowOf(20_000, bucketMs), bucketMs, functions: 1 }),
    ),
    W15raw: rateOf(() => requests.raw(one().name, windowOf(1_000, 1_000))),
  };
}

function requestsPerSecond(
  { port, started }: Running,
  requests: readonly RequestBytes[],
  seconds: number,
): number {
  const script = join(started.folder, "requests.lua");
  writeFileSync(script, scriptOf(requests));
  const flags = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", script, `http://127.0.0.1:${port}`];
  const { stdout, stderr, error } = spawnSync("wrk", flags, { encoding: "utf8" });
  if (error) throw error;
  const [, rate] = /^Requests\/sec:\s+([\d.]+)/m.exec(stdout) ?? [];
  if (rate === undefined || /Non-2xx|Socket errors/.test(stdout))
    throw new Error(`wrk reports: ${stdout}${stderr}`);
  return Number(rate);
}

/** The strings of JSON are strings of Lua, as requests are ASCII. */
const scriptOf = (requests: readonly RequestBytes[]): string => `
local requests = {${requests.map((one) => JSON.stringify(one.toString("latin1"))).join(",\n")}}
local at = 0
request = function()
  at = at % #requests + 1
  return requests[at]
end
`;

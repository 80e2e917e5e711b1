// Sends requests with wrk, which costs little beside the server. As root, it is installed from Debian.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { RequestBytes } from "./http.ts";
import { installPackages } from "./systems/debian.ts";
import type { Running } from "./systems/system.ts";

export interface WrkLoad {
  /** Sent in this order, again from the first one after the last. */
  readonly requests: readonly RequestBytes[];
  readonly connections: number;
  readonly seconds: number;
  /** The mean pause of a connection after a response; none when absent. */
  readonly pauseMs?: number;
}

export interface WrkFigures {
  readonly perSecond: number;
  /** From the request to the end of its response. */
  readonly p99Ms: number;
}

/** Throws if a response is not 200. */
export async function runWrk(
  { port, started }: Running,
  { requests, connections, seconds, pauseMs }: WrkLoad,
): Promise<WrkFigures> {
  installPackages(["wrk"]);
  const script = join(started.folder, "requests.lua");
  writeFileSync(script, scriptOf(requests, pauseMs));
  const load = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "60s", "--latency"];
  const wrk = spawn("wrk", [...load, "-s", script, `http://127.0.0.1:${port}`]);
  const [output, problems] = await Promise.all([text(wrk.stdout), text(wrk.stderr), once(wrk, "close")]);
  const [, rate] = /^Requests\/sec:\s+([\d.]+)/m.exec(output) ?? [];
  const [, p99, unit] = /^\s+99%\s+([\d.]+)(us|ms|s) *$/m.exec(output) ?? [];
  if (rate === undefined || p99 === undefined || /Non-2xx|Socket errors/.test(output))
    throw new Error(`wrk reports: ${output}${problems}`);
  return { perSecond: Number(rate), p99Ms: Number(p99) * { us: 0.001, ms: 1, s: 1_000 }[unit as "us"] };
}

/** The strings of JSON are strings of Lua, as requests are ASCII. */
const scriptOf = (requests: readonly RequestBytes[], pauseMs: number | undefined): string => `
local requests = {${requests.map((one) => JSON.stringify(one.toString("latin1"))).join(",\n")}}
local at = 0
request = function()
  at = at % #requests + 1
  return requests[at]
end
${pauseMs === undefined ? "" : `delay = function() return math.random(${2 * pauseMs}) end`}
`;

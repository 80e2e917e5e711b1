// A server process that measures each turn of its event loop: started by `measure.ts`.
import { readFileSync, writeFileSync } from "node:fs";
import { isLong } from "../support/proof.ts";
import { startTestServer } from "../support/server.ts";

/** The cost of a request for the process. */
export interface Cost {
  /** The most processor time that the main thread took without a turn of the event loop. */
  readonly holdMs: number;
  /** The most memory, beyond the memory in use before. */
  readonly memoryBytes: number;
}

export interface Started {
  readonly baseUrl: string;
  readonly key: string;
}

export type Order = "begin" | "end" | "close";
export type Reply = Started | Cost | "begun";

/** A timer is due in each turn that takes longer than this: the error of a measurement. */
const timerMs = 1;

let last = 0;
let worst = 0;
let before = 0;

const threadMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

// Processor time, not time on the clock: other processes of a busy machine do not count.
function noteTurn(): void {
  const now = threadMs();
  worst = Math.max(worst, now - last);
  last = now;
}

const resident = (which: "VmRSS" | "VmHWM") =>
  1024 * Number(new RegExp(`${which}:\\s+(\\d+) kB`).exec(readFileSync("/proc/self/status", "latin1"))![1]);

function begin(): void {
  writeFileSync("/proc/self/clear_refs", "5");
  before = resident("VmRSS");
  last = threadMs();
  worst = 0;
}

function end(): Cost {
  noteTurn();
  return { holdMs: worst, memoryBytes: resident("VmHWM") - before };
}

const send = (reply: Reply) => process.send!(reply);

const { baseUrl, key, close } = await startTestServer({ hostsModels: true });
setInterval(noteTurn, timerMs);

process.on("message", (order: Order) => {
  if (order === "begin") {
    // In a turn of its own, as the collection of garbage takes long.
    if (isLong) globalThis.gc?.();
    setTimeout(() => {
      begin();
      send("begun");
    }, 2 * timerMs);
  } else if (order === "end") send(end());
  else void close().then(() => process.exit());
});
process.on("disconnect", () => process.exit());
send({ baseUrl, key });

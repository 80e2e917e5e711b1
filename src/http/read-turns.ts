// The turns of reads on the main thread, with their metrics.
import { Counter, Gauge, type Registry } from "prom-client";
import { FairTurns, type TurnCounts } from "../lib/fair-turns.ts";
import { limits } from "../limits.ts";
import type { Metrics } from "./metrics.ts";

export function openReadTurns({ registry }: Pick<Metrics, "registry">): FairTurns {
  const turns = new FairTurns(limits.readSliceMs);
  measure(registry, () => turns.counts);
  return turns;
}

/** Writes do not wait for turns, so there are no metrics of theirs. */
function measure(registry: Registry, counts: () => TurnCounts): void {
  new Gauge({
    name: "millrace_read_turns_waiting",
    help: "Parts of reads that wait for their turn on the main thread",
    registers: [registry],
    collect() {
      this.set(counts().waiting);
    },
  });
  const totals = {
    millrace_read_turns_waited_total: ["Parts of reads that had to wait for their turn", "waited"],
    millrace_read_turns_wait_seconds_total: ["The time that all of these waited together", "waitedSeconds"],
  } as const;
  for (const [name, [help, member]] of Object.entries(totals))
    new Counter({
      ...{ name, help, registers: [registry] },
      collect() {
        this.reset();
        this.inc(counts()[member]);
      },
    });
}

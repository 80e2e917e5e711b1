// The turns of reads on a thread, with their metrics.
import { Counter, Gauge } from "prom-client";
import { FairTurns, type TurnCounts } from "../lib/fair-turns.ts";
import { limits } from "../limits.ts";
import type { Metrics } from "./metrics.ts";

type Measured = Pick<Metrics, "registry" | "others">;

export function openReadTurns(metrics: Measured): FairTurns {
  const turns = new FairTurns(limits.readSliceMs);
  measure(metrics, () => turns.counts);
  return turns;
}

/** Writes do not wait for turns, so there are no metrics of theirs. */
function measure(metrics: Measured, own: () => TurnCounts): void {
  const { registry } = metrics;
  const sum = (member: keyof TurnCounts): number =>
    [own(), ...metrics.others.map(({ turns }) => turns)].reduce((all, counts) => all + counts[member], 0);
  new Gauge({
    name: "millrace_read_turns_waiting",
    help: "Parts of reads that wait for their turn on a thread",
    registers: [registry],
    collect() {
      this.set(sum("waiting"));
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
        this.inc(sum(member));
      },
    });
}

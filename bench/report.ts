// The table of figures: median and spread of each system, and our ratio to the best peer of the same run.
import { arch, cpus, release, totalmem, type } from "node:os";
import type { System } from "./systems/system.ts";
import { type Figures, type Workload, type WorkloadKey, workloads } from "./workloads.ts";

export interface Results {
  readonly system: System;
  readonly rounds: readonly Figures[];
}

interface Context {
  readonly command: string;
  readonly rounds: number;
  /** Of the workloads that no peer offers. */
  readonly ownRounds: number;
  readonly missing: readonly string[];
  /** Other ratios to the best peer than those of the workloads. */
  readonly bars?: Readonly<Partial<Record<WorkloadKey, number>>>;
}

/** The whole report in Markdown; the first of `results` is our own server. */
export function reportOf(results: readonly Results[], context: Context): string {
  const [ours, ...peers] = results;
  if (!ours) return "";
  return [
    machine(),
    "",
    `\`${context.command}\`: median of the rounds (lowest to highest); ${context.rounds} on fresh servers` +
      `${context.ownRounds < context.rounds ? `, ${context.ownRounds} of workloads that no peer has` : ""}.`,
    "",
    ...tableOf(ours, peers, context.bars),
    "",
    ...results.map(({ system }) => descriptionOf(system)),
    ...context.missing.map((name) => `- ${name} is not installed and was not measured.`),
  ].join("\n");
}

const descriptionOf = (system: System): string =>
  `- ${system.name} ${system.version()}: a write is ${system.durability}. ${syncOf(system)}`.trimEnd();

/** How writes of a system that does not sync were brought to disk. */
function syncOf({ isDurable, synced }: System): string {
  if (isDurable || !synced) return "";
  return (
    `In the rows of writes on disk, each client waits after each response for ${synced.how}; clients that ` +
    "wait at the same time share one. This is an upper estimate of the cost: a sync of the file system " +
    "also writes all other changed pages, those of merges too."
  );
}

/** The day and the machine of the measurement, in one line. */
export function machine(): string {
  const cores = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const system = `${type()} ${release()} ${arch()}, Node ${process.version}`;
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, ${cores.length} cores (${cores[0]?.model.trim()}), ${memory}, ${system}`;
}

function tableOf(ours: Results, peers: readonly Results[], bars: Context["bars"]): string[] {
  const all = [ours, ...peers];
  const head = ["", "Workload", "Unit", ...all.map(({ system }) => system.name), "Ratio to best peer", "Bar"];
  const isMeasured = (key: WorkloadKey) => figuresOf(ours.rounds, key).length > 0;
  const rows = (Object.keys(workloads) as WorkloadKey[]).filter(isMeasured).map((key) => {
    const bar = bars?.[key];
    const usual: Workload = workloads[key];
    const workload = bar === undefined ? usual : { ...usual, bar, durableBar: undefined };
    const cells = all.map(({ rounds }) => cellOf(figuresOf(rounds, key)));
    const ratio = ratiosOf(workload, key, ours, peers);
    return [workload.name, workload.what, workload.unit, ...cells, ratio, barOf(workload)];
  });
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

function barOf({ unit, bar, durableBar, bound }: Workload): string {
  if (bar === undefined && bound === undefined) return "";
  const sign = isRate(unit) ? ">=" : "<=";
  const durable = durableBar === undefined ? "" : `; ${sign} ${durableBar}`;
  return `${sign} ${bar === undefined ? `${bound} ${unit}` : bar}${durable}`;
}

const isRate = (unit: Workload["unit"]) => unit.endsWith("/s") || unit === "of W1";

const figuresOf = (rounds: readonly Figures[], key: WorkloadKey): number[] =>
  rounds.map((one) => one[key]).filter((figure) => figure !== undefined);

/** To the best peer, and where it has a bar of its own, to the best one that syncs its writes. */
function ratiosOf(workload: Workload, key: WorkloadKey, ours: Results, peers: readonly Results[]): string {
  const ratio = ratioOf(workload, key, ours, peers);
  const durable = peers.filter(({ system }) => system.isDurable);
  if (workload.durableBar === undefined || durable.length === 0) return ratio;
  const names = durable.map(({ system }) => system.name).join(", ");
  return `${ratio}; ${ratioOf(workload, key, ours, durable)} of ${names}, which syncs too`;
}

function ratioOf(workload: Workload, key: WorkloadKey, ours: Results, peers: readonly Results[]): string {
  if (peers.length === 0 || key === "memory") return "";
  const medians = peers.map(({ rounds }) => medianOf(rounds, key)).filter((one) => !Number.isNaN(one));
  if (medians.length === 0) return "";
  const best = isRate(workload.unit) ? Math.max(...medians) : Math.min(...medians);
  return `${(medianOf(ours.rounds, key) / best).toFixed(2)}x`;
}

const medianOf = (rounds: readonly Figures[], key: WorkloadKey): number => middleOf(figuresOf(rounds, key));

/** Of an even number of rounds the mean of the two in the middle: neither is the better one. */
function middleOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? Number.NaN) + (sorted[Math.floor(half)] ?? Number.NaN)) / 2;
}

function cellOf(values: readonly number[]): string {
  if (values.length === 0 || values.every(Number.isNaN)) return "-";
  if (values.length === 1) return figure(values[0] ?? Number.NaN);
  const [low, middle, high] = [Math.min(...values), middleOf(values), Math.max(...values)].map(figure);
  return `${middle} (${low} to ${high})`;
}

/** Three digits; millions as M, thousands as k. */
export function figure(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
  if (value >= 1e4) return `${(value / 1e3).toPrecision(3)} k`;
  return value >= 1000 ? value.toFixed(0) : value.toPrecision(3);
}

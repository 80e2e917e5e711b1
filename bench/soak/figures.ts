// The measurements of a soak test: samples, the table of them, and the figures that did not stay flat.
import { percentile } from "../workloads.ts";

/** At one time; latencies are of the time since the sample before. */
export interface Sample {
  /** Of the whole run, from 0 to 1. */
  readonly part: number;
  readonly points: number;
  readonly memoryMb: number;
  readonly connectorMb: number;
  readonly processorSeconds: number;
  readonly openFiles: number;
  readonly diskBytes: number;
  /** In ms, by kind of request. */
  readonly times: ReadonlyMap<string, readonly number[]>;
}

/** The part of the run without interruptions, in which figures must stay flat. */
export const calm = { from: 0.2, to: 0.8 };

const slices = 10;
export const kinds = ["write", "latest", "raw", "minutes", "frame", "OData"] as const;

/** A table in Markdown, a row for each tenth of the run. */
export function tableOf(samples: readonly Sample[]): string {
  const head = [
    "Part",
    "Points",
    "Memory",
    "Connector",
    "Open files",
    "Disk",
    ...kinds.map((kind) => `${kind}, p50 / p99`),
  ];
  const rows = Array.from({ length: slices }, (_, at) => {
    const inside = samples.filter(({ part }) => part > at / slices && part <= (at + 1) / slices);
    const last = inside.at(-1);
    if (!last) return [];
    const times = kinds.map((kind) => inside.flatMap((one) => one.times.get(kind) ?? []));
    const cells = [
      `${at * 10} to ${(at + 1) * 10} %`,
      `${(last.points / 1e6).toFixed(1)} M`,
      `${Math.round(median(inside.map(({ memoryMb }) => memoryMb)))} MiB`,
      `${Math.round(median(inside.map(({ connectorMb }) => connectorMb)))} MiB`,
      String(Math.max(...inside.map(({ openFiles }) => openFiles))),
      `${(last.diskBytes / 2 ** 20).toFixed(0)} MiB`,
      ...times.map((all) =>
        all.length > 0 ? `${ms(percentile(all, 0.5))} / ${ms(percentile(all, 0.99))}` : "-",
      ),
    ];
    return [cells];
  }).flat();
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export interface Trend {
  readonly what: string;
  readonly early: number;
  readonly late: number;
  readonly isFlat: boolean;
}

/** The permitted growth of a figure from the first to the last third of the calm part. */
const bounds = { memory: 1.1, files: 1.1, latency: 1.25, disk: 1.1 };

/** Medians of the first and of the last third of the calm part. */
export function trendsOf(samples: readonly Sample[]): Trend[] {
  const third = (calm.to - calm.from) / 3;
  const within = (from: number, to: number) => samples.filter(({ part }) => part >= from && part <= to);
  const early = within(calm.from, calm.from + third);
  const late = within(calm.to - third, calm.to);
  if (early.length === 0 || late.length === 0) return [];
  const trend = (what: string, bound: number, figureOf: (some: readonly Sample[]) => number): Trend => {
    const [a, b] = [figureOf(early), figureOf(late)];
    return { what, early: a, late: b, isFlat: b <= a * bound };
  };
  const medianOf = (figure: (one: Sample) => number) => (some: readonly Sample[]) => median(some.map(figure));
  return [
    trend(
      "memory, MiB",
      bounds.memory,
      medianOf(({ memoryMb }) => memoryMb),
    ),
    trend(
      "memory of the connector, MiB",
      bounds.memory,
      medianOf(({ connectorMb }) => connectorMb),
    ),
    trend(
      "open files",
      bounds.files,
      medianOf(({ openFiles }) => openFiles),
    ),
    trend(
      "disk, bytes a point",
      bounds.disk,
      medianOf(({ diskBytes, points }) => diskBytes / points),
    ),
    ...kinds.map((kind) =>
      trend(`${kind}, p50 in ms`, bounds.latency, (some) =>
        percentile(
          some.flatMap(({ times }) => times.get(kind) ?? []),
          0.5,
        ),
      ),
    ),
  ];
}

export function trendTable(trends: readonly Trend[]): string {
  const rows = trends.map(({ what, early, late, isFlat }) =>
    [what, early.toPrecision(3), late.toPrecision(3), isFlat ? "flat" : "**rises**"].join(" | "),
  );
  return [
    "| Figure | First third | Last third | |",
    "|---|---|---|---|",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}

const median = (all: readonly number[]): number => percentile(all, 0.5);
const ms = (time: number): string => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;

// Copies a whole installation to another one, and compares the two: records, datapoints, bytes of files.
import type { DataStores } from "../data-stores.ts";
import { limits } from "../limits.ts";
import { allProjects } from "../resources/projects/projects.ts";
import type { BlobKey } from "../storage/blobs.ts";
import type { ProjectId } from "../storage/catalog.ts";
import { blobsOf, copyBlob, sumOfBlob } from "./blobs-copy.ts";
import { copyPart, partsOf, type Sum, sumOfPart } from "./catalog-copy.ts";
import { compareSeries, copySeries, seriesOf } from "./points-copy.ts";
import { runWorkers } from "./workers.ts";

export const steps = [
  "copy records",
  "copy points",
  "copy files",
  "compare records",
  "compare points",
  "compare files",
] as const;
export type Step = (typeof steps)[number];

export interface Copying {
  readonly from: DataStores;
  readonly to: DataStores;
  /** Ends the copy after the writes that have begun. The next run continues. */
  readonly signal: AbortSignal;
  /** Reports how many records, points or files of a step are done. */
  readonly report: (step: Step, done: number) => void;
}

/** The result of a comparison of the two installations. */
export interface CopyComparison {
  readonly records: number;
  readonly points: number;
  readonly files: number;
  readonly bytes: number;
  /** The first differences; `differenceCount` has all. */
  readonly differences: readonly string[];
  readonly differenceCount: number;
}

/** Copies the records, points and files that the target lacks. The source must not change meanwhile. */
export async function copyAll(copying: Copying): Promise<void> {
  const { from, to, signal } = copying;
  const catalogs = { from: from.catalog, to: to.catalog };
  const pointStores = { from: from.points, to: to.points, signal };
  const add = counting(copying);
  for (const part of await partsOf(from.catalog)) {
    signal.throwIfAborted();
    await copyPart(catalogs, part, (count) => {
      signal.throwIfAborted();
      add("copy records", count);
    });
  }
  for await (const page of allSeries(from))
    await copySeries(pointStores, page, (count) => add("copy points", count));
  const blobs = { from: from.blobs, to: to.blobs };
  for await (const page of allBlobs(from))
    await eachOf(copying, page, async (key) => {
      await copyBlob(blobs, key);
      add("copy files", 1);
    });
}

/** Reads everything of both installations and compares numbers and checksums. */
export async function compareAll(copying: Copying): Promise<CopyComparison> {
  const { from, to, signal } = copying;
  const found = new Differences();
  const add = counting(copying);
  const total = { records: 0, points: 0, files: 0, bytes: 0 };
  for (const part of await partsOf(from.catalog)) {
    signal.throwIfAborted();
    const sums = await Promise.all([sumOfPart(from.catalog, part), sumOfPart(to.catalog, part)]);
    const owner = part.tenant === "system" ? "" : ` of project ${part.tenant}`;
    found.compare(`table ${part.table.name}${owner}`, sums, "records");
    total.records += sums[0].count;
    add("compare records", sums[0].count);
  }
  const pointStores = { from: from.points, to: to.points, signal };
  for await (const page of allSeries(from)) {
    const different = await compareSeries(pointStores, page, (count) => {
      total.points += count;
      add("compare points", count);
    });
    for (const { series, sums } of different) found.compare(`series ${series}`, sums, "points");
  }
  for await (const page of allBlobs(from))
    await eachOf(copying, page, async (key) => {
      const sums = await Promise.all([sumOfBlob(from.blobs, key), sumOfBlob(to.blobs, key)]);
      found.compare(`file ${key.project}/${key.id}`, sums, "bytes");
      total.files++;
      total.bytes += sums[0]?.count ?? 0;
      add("compare files", 1);
    });
  return { ...total, differences: found.first, differenceCount: found.count };
}

/** Adds up the progress of each step, and reports it. */
function counting({ report }: Copying): (step: Step, count: number) => void {
  const done = new Map<Step, number>();
  return (step, count) => {
    const sum = (done.get(step) ?? 0) + count;
    done.set(step, sum);
    report(step, sum);
  };
}

class Differences {
  readonly first: string[] = [];
  count = 0;

  compare(what: string, [source, target]: readonly [Sum | undefined, Sum | undefined], unit: string): void {
    if (source?.sha256 === target?.sha256 && source?.count === target?.count) return;
    this.count++;
    if (this.first.length >= limits.copyDifferencesMax) return;
    const countOf = (sum: Sum | undefined) => (sum ? `${sum.count} ${unit}` : "nothing");
    const isSame = source?.count === target?.count;
    const content = isSame
      ? `${countOf(source)} with different content`
      : `${countOf(source)} and ${countOf(target)}`;
    this.first.push(`${what}: source and target have ${content}`);
  }
}

async function projectIdsOf({ catalog }: DataStores): Promise<readonly ProjectId[]> {
  return (await catalog.read("system", allProjects)).map(({ id }) => id);
}

async function* allSeries(stores: DataStores) {
  for (const project of await projectIdsOf(stores)) yield* seriesOf(stores.catalog, project);
}

async function* allBlobs(stores: DataStores) {
  for (const project of await projectIdsOf(stores)) yield* blobsOf(stores.catalog, project);
}

async function eachOf({ signal }: Copying, keys: readonly BlobKey[], work: (key: BlobKey) => Promise<void>) {
  const left = keys.values();
  await runWorkers(async () => {
    for (const key of left) {
      signal.throwIfAborted();
      await work(key);
    }
  });
}

// A random sample of the datapoints that the server serves at the time of the snapshot of a backup. The
// manifest has it, so that a restored copy can be compared with the server at any later time.
import { createHash } from "node:crypto";
import { between, everything } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import { allProjects } from "../resources/projects/projects.ts";
import { timeSeriesTable } from "../resources/timeseries/schema.ts";
import type { Catalog, ProjectId } from "../storage/catalog.ts";
import type { Point, PointSeries, PointsStore } from "../storage/points.ts";

export interface PointsSample extends PointSeries {
  readonly project: ProjectId;
  /** Number and checksum of its first points, of at most `firstPointsMax`. */
  readonly first?: { readonly count: number; readonly sha256: string };
  /** Its last point; null without one. */
  readonly last?: Point | null;
}

type Chosen = Pick<PointsSample, "project" | "series" | "isString">;

const projectsMax = 16;
const seriesOfProjectMax = 8;
const firstPointsMax = 2_000;

/** Chooses series at random. */
export async function chooseSeries(catalog: Catalog): Promise<Chosen[]> {
  const projects = await catalog.read("system", allProjects);
  const chosen: Chosen[] = [];
  const shuffled = projects.toSorted(() => Math.random() - 0.5);
  for (const { id } of shuffled.slice(0, projectsMax)) chosen.push(...(await seriesOf(catalog, id)));
  return chosen;
}

/** Each is the first one from a random id. */
async function seriesOf(catalog: Catalog, project: ProjectId): Promise<Chosen[]> {
  const found = new Map<number, Chosen>();
  await catalog.read(project, async (tx) => {
    const page = { limit: 1 };
    const descending = [{ field: "id", direction: "descending" }] as const;
    const [first] = await tx.find(timeSeriesTable, { filter: everything, order: byId, page });
    const [last] = await tx.find(timeSeriesTable, { filter: everything, order: descending, page });
    if (!first || !last) return;
    for (let number = 0; number < seriesOfProjectMax; number++) {
      const value = first.id + Math.floor(Math.random() * (last.id - first.id + 1));
      const filter = between("id", { from: { value, inclusive: true } });
      const [one] = await tx.find(timeSeriesTable, { filter, order: byId, page });
      if (one) found.set(one.id, { project, series: one.id, isString: one.isString });
    }
  });
  return [...found.values()];
}

/** Reads the chosen series. */
export async function sampleOf(points: PointsStore, chosen: readonly Chosen[]): Promise<PointsSample[]> {
  const last = await points.latest(chosen, Number.POSITIVE_INFINITY);
  const samples: PointsSample[] = [];
  for (const [index, one] of chosen.entries()) {
    const { times, values } = await points.scan({ ...one, ...allTime, limit: firstPointsMax });
    const hash = createHash("sha256");
    for (let at = 0; at < times.length; at++) hash.update(`${times[at]} ${values[at]}\n`);
    const first = { count: times.length, sha256: hash.digest("hex") };
    samples.push({ ...one, first, last: last[index] ?? null });
  }
  return samples;
}

const allTime = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

/** Keeps the values that are equal in both samples. */
export function unchanged(before: readonly PointsSample[], after: readonly PointsSample[]): PointsSample[] {
  return before.map(({ project, series, isString, first, last }, index) => ({
    ...{ project, series, isString },
    ...(first && isEqual(first, after[index]!.first) && { first }),
    ...(last !== undefined && isEqual(last, after[index]!.last) && { last }),
  }));
}

/** The differences between a sample of the server and the same series of a restored copy. */
export function differencesIn(expected: readonly PointsSample[], found: readonly PointsSample[]): string[] {
  return expected.flatMap(({ project, series, first, last }, index) => {
    const one = found[index]!;
    const name = `series ${series} of project ${project}`;
    const told = (what: string, is: unknown, was: unknown) =>
      `${name}: ${what} ${JSON.stringify(is)}, the server had ${JSON.stringify(was)}`;
    return [
      ...(first && !isEqual(first, one.first) ? [told("first points", one.first, first)] : []),
      ...(last !== undefined && !isEqual(last, one.last) ? [told("last point", one.last, last)] : []),
    ];
  });
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

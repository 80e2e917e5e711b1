// Which old backups stay.
import { limits } from "../limits.ts";
import { idOf, snapshotOf } from "./repository.ts";

/** The numbers of days, weeks and months whose newest backup stays; those without a backup do not count. */
export interface Keep {
  readonly days: number;
  readonly weeks: number;
  readonly months: number;
}

/** Parses `DAYS,WEEKS,MONTHS`; undefined for another string. At least one backup stays. */
export function parseKeep(text: string): Keep | undefined {
  const [, days, weeks, months] = /^(\d{1,4}),(\d{1,4}),(\d{1,4})$/.exec(text) ?? [];
  if (months === undefined) return undefined;
  const keep = { days: Number(days), weeks: Number(weeks), months: Number(months) };
  return keep.days + keep.weeks + keep.months > 0 ? keep : undefined;
}

const dayMs = 24 * 3_600_000;
/** 1970-01-01 was a Thursday; weeks begin on Mondays. */
const daysBeforeMonday = 3;

/**
 * The ids that stay. `good` always does, by default the newest, and so do all after it, which are not
 * verified: they push no other out. Days are those of UTC.
 */
export function keptIds(
  ids: readonly string[],
  { days, weeks, months }: Keep,
  good = ids.toSorted().at(-1) ?? "",
): ReadonlySet<string> {
  const newestFirst = ids.filter((id) => id <= good).toSorted();
  newestFirst.reverse();
  const dayOf = (id: string) => Math.floor(timeOf(id) / dayMs);
  const kept = new Set(ids.filter((id) => id >= good));
  for (const [count, periodOf] of [
    [days, dayOf],
    [weeks, (id: string) => Math.floor((dayOf(id) + daysBeforeMonday) / 7)],
    [months, (id: string) => id.slice(0, 6)],
  ] as const) {
    const newestOf = new Map<number | string, string>();
    for (const id of newestFirst) if (!newestOf.has(periodOf(id))) newestOf.set(periodOf(id), id);
    for (const id of [...newestOf.values()].slice(0, count)) kept.add(id);
  }
  return kept;
}

/** The increments that stay: those of the last hours before the newest backup, and all after it. */
export function keptIncrementIds(increments: readonly string[], ids: readonly string[]): ReadonlySet<string> {
  const newest = ids.toSorted().at(-1);
  if (newest === undefined) return new Set(increments);
  const oldest = idOf(snapshotOf(newest) - limits.backupIncrementsKeptMs);
  return new Set(increments.filter((id) => id >= oldest));
}

const timeOf = (id: string): number =>
  Date.UTC(Number(id.slice(0, 4)), Number(id.slice(4, 6)) - 1, Number(id.slice(6, 8)));

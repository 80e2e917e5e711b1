// When a transformation runs by itself: at times of cron, at intervals, or after another transformation.
import { fail } from "../../../errors.ts";
import { isTimeZone } from "../../../lib/clock-buckets.ts";
import { hasCronTimes, nextCronTime } from "../../../lib/cron.ts";
import { limits } from "../../../limits.ts";
import { equals, type Filter, oneOf } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import type { CatalogReader } from "../../../storage/catalog.ts";
import { type Timing, type Transformation, transformationTable } from "../schema.ts";

/** Refuses (400) a cron expression without five fields that are valid, and an unknown time zone. */
export function refuseUnusable(schedule: Timing, field: string): void {
  if (!("cron" in schedule)) return;
  const { cron, timeZone } = schedule;
  const refused = (member: string, expected: string, got: string) =>
    fail("field-invalid", { field: `${field}.${member}`, expected, got: JSON.stringify(got) });
  if (!isTimeZone(timeZone)) throw refused("timeZone", "a time zone such as Europe/Oslo", timeZone);
  if (!hasCronTimes(schedule))
    throw refused("cron", "five fields with a next time: minute, hour, day of month, month, weekday", cron);
}

/** The next time after `nowMs`; undefined for a schedule without times. */
export function nextTimeOf(schedule: Timing | undefined, nowMs: number): number | undefined {
  if (!schedule) return undefined;
  if ("cron" in schedule) return nextCronTime(schedule, nowMs);
  return "everyMinutes" in schedule ? nowMs + schedule.everyMinutes * 60_000 : undefined;
}

/** The columns of the schedule in the record of a transformation. */
export const scheduleColumns = (
  schedule: Timing | undefined,
  nowMs: number,
): Pick<Transformation, "schedule" | "after" | "nextTime"> => {
  const nextTime = nextTimeOf(schedule, nowMs);
  return {
    ...(schedule && { schedule }),
    ...(schedule && "after" in schedule && { after: schedule.after }),
    ...(nextTime !== undefined && { nextTime }),
  };
};

/**
 * Refuses (400) transformations that would run after one that does not exist: those that are written, and
 * those after one that has lost its external id. The changes are in the transaction already.
 */
export async function refuseUnknownBefore(
  tx: CatalogReader,
  rows: readonly Transformation[],
  lostIds: readonly string[],
): Promise<void> {
  const findAll = async (filter: Filter) => {
    const page = { limit: await tx.count(transformationTable, filter) };
    return tx.find(transformationTable, { filter, order: byId, page });
  };
  const followers = lostIds.length > 0 ? await findAll(oneOf("after", lostIds)) : [];
  const dependent = [...rows, ...followers].filter(({ after }) => after !== undefined);
  if (dependent.length === 0) return;
  const found = await findAll(
    oneOf(
      "externalId",
      dependent.map(({ after }) => after!),
    ),
  );
  const known = new Set(found.map(({ externalId }) => externalId));
  const wrong = dependent.find(({ after }) => !known.has(after!));
  if (wrong)
    throw fail("transformation-after-unknown", { externalId: wrong.externalId, after: wrong.after! });
}

/** Refuses (400) transformations that would run after each other in a cycle. They are written already. */
export async function refuseCycles(tx: CatalogReader, rows: readonly Transformation[]): Promise<void> {
  for (const { externalId, after } of rows) {
    let name = after;
    for (let steps = 0; name !== undefined; steps += 1) {
      if (name === externalId || steps >= limits.transformationChainMax)
        throw fail("transformation-cycle", { externalId, limit: limits.transformationChainMax });
      const filter = equals("externalId", name);
      const [before] = await tx.find(transformationTable, { filter, order: byId, page: { limit: 1 } });
      name = before?.after;
    }
  }
}

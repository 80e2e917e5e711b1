// Runs the retention rules that are due. A run deletes points by the deletion that callers use: it is in the
// journal, so that after a crash each block is there or gone. The next run continues.
//
// A server claims a run: it moves the time of the next one in a transaction. That time is also the token of
// the run, which ends when the rule has another one: a caller has changed the rules, or another server has
// taken over because this one was slow.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Services } from "../../context.ts";
import { startTicks } from "../../lib/ticks.ts";
import { limits } from "../../limits.ts";
import { between, or } from "../../query/filter.ts";
import { byId, type PageQuery, type Position } from "../../query/page.ts";
import type { ProjectId } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";
import { projectIds } from "../projects/projects.ts";
import { type TimeSeries, timeSeriesTable } from "../timeseries/schema.ts";
import { cutoffOf } from "./preview.ts";
import { type RetentionRule, retentionTable } from "./schema.ts";
import { seriesOf } from "./targets.ts";

export type RetentionStores = Pick<Services, "catalog" | "points" | "system">;

export interface RetentionWatch {
  readonly log: Logger;
  /** Called after each deletion, and after a run that failed. */
  readonly removed: (points: number) => void;
  readonly failed: () => void;
}

/** Looks for due rules at intervals; returns the function that stops it. */
export function startRetention(stores: RetentionStores, watch: RetentionWatch): () => Promise<void> {
  const stopping = new AbortController();
  const report = (problem: unknown) => watch.log.error({ err: problem }, "Could not remove old points");
  const stop = startTicks({ everyMs: limits.retentionTickMs, report }, () =>
    runDueRules(stores, watch, stopping.signal),
  );
  return () => {
    stopping.abort();
    return stop();
  };
}

/** Runs the rules of all projects that are due, one after another. */
export async function runDueRules(
  stores: RetentionStores,
  watch: RetentionWatch,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  for (const projectId of await projectIds(stores)) {
    for (;;) {
      if (signal.aborted) return;
      const run = await claim(stores, projectId);
      if (run === undefined) break;
      await new RetentionRun(stores, projectId, run).work(watch, signal);
    }
  }
}

/** Claims a due rule. Rules with an unlikely time of the next run wait: the clock of the server was set. */
function claim(
  { catalog, system }: RetentionStores,
  projectId: ProjectId,
): Promise<RetentionRule | undefined> {
  const nowMs = system.nowMs();
  const { retentionDelayMs: delayMs, retentionIntervalMs: intervalMs } = limits;
  const isLate = between("nextTime", { to: { value: nowMs - delayMs, inclusive: false } });
  const isEarly = between("nextTime", { from: { value: nowMs + delayMs, inclusive: false } });
  const isDue = between("nextTime", { to: { value: nowMs, inclusive: true } });
  return catalog.write(projectId, async (tx) => {
    const page = { limit: limits.retentionRulesMax };
    const odd = await tx.find(retentionTable, { filter: or(isLate, isEarly), order: byId, page });
    if (odd.length > 0) {
      const waiting = odd.map(({ id }) => ({ id, nextTime: nowMs + delayMs }));
      await tx.setColumns(retentionTable, ["nextTime"], waiting);
    }
    const [due] = await tx.find(retentionTable, { filter: isDue, order: byId, page: { limit: 1 } });
    if (due === undefined) return undefined;
    const begun = {
      ...{ ...due, nextTime: nowMs + intervalMs, lastStartedTime: nowMs },
      ...{ lastSeries: 0, lastPoints: 0, lastBlocks: 0 },
    };
    const { lastEndedTime: _, lastError: __, ...rule } = begun;
    await tx.replace(retentionTable, [rule]);
    return rule;
  });
}

/** A run is another server's, or the rules have changed. */
class Ended extends Error {}

/** A deletion is followed by a pause of this many times its length, so that requests have their turn. */
const pauseFactor = 3;
/** From one note of the progress to the next. */
const noteMs = 10_000;

class RetentionRun {
  readonly #stores: RetentionStores;
  readonly #projectId: ProjectId;
  #rule: RetentionRule;
  readonly #cutoffMs: number;
  /** Since the rule was noted last. */
  #points = 0;
  #blocks = 0;
  #series = 0;
  #notedMs: number;

  constructor(stores: RetentionStores, projectId: ProjectId, rule: RetentionRule) {
    this.#stores = stores;
    this.#projectId = projectId;
    this.#rule = rule;
    this.#cutoffMs = cutoffOf(rule, stores.system.nowMs());
    this.#notedMs = stores.system.monotonicMs();
  }

  /** Removes until nothing is left, the signal aborts, or the run is no longer of this server. */
  async work(watch: RetentionWatch, signal: AbortSignal): Promise<void> {
    const { id, name } = this.#rule;
    try {
      await this.#removeAll(watch, signal);
      await this.#note(signal.aborted ? {} : { lastEndedTime: this.#stores.system.nowMs() });
    } catch (problem) {
      if (problem instanceof Ended) return await this.#note({}).catch(() => undefined);
      watch.failed();
      watch.log.error({ err: problem, rule: id, name }, "A retention rule failed; it runs again in an hour");
      const lastError = (problem as Error).message.slice(0, errorLengthMax);
      await this.#note({ lastEndedTime: this.#stores.system.nowMs(), lastError }).catch(() => undefined);
    }
    const { lastPoints: points, lastBlocks: blocks, lastSeries: series } = this.#rule;
    if (points) watch.log.info({ rule: id, name, series, points, blocks }, "Removed old points");
  }

  async #removeAll(watch: RetentionWatch, signal: AbortSignal): Promise<void> {
    for (let after: Position | undefined, isFirst = true; isFirst || after; isFirst = false) {
      if (signal.aborted) return;
      const page = await this.#nextSeries({ limit: limits.retentionSeriesAtOnce, ...(after && { after }) });
      after = page.next;
      await this.#removeFrom(page.items, watch, signal);
    }
  }

  /** Series for which the rule counts now: a change of rules and assets counts at the next page. */
  #nextSeries(page: PageQuery) {
    return this.#stores.catalog.read(this.#projectId, async (tx) => {
      const [rule] = await tx.get(retentionTable, [this.#rule.id]);
      if (rule?.nextTime !== this.#rule.nextTime) throw new Ended();
      const query = { order: byId, page, fields: ["id", "isString"] };
      return readPage(tx, timeSeriesTable, { ...query, filter: await seriesOf(tx, rule) });
    });
  }

  async #removeFrom(
    series: readonly Pick<TimeSeries, "id" | "isString">[],
    watch: RetentionWatch,
    signal: AbortSignal,
  ): Promise<void> {
    const { points, system } = this.#stores;
    const touched = new Set<number>();
    let left = series.map(({ id, isString }) => ({ series: id, isString, beforeMs: this.#cutoffMs }));
    while (left.length > 0 && !signal.aborted) {
      const begunMs = system.monotonicMs();
      const found = await points.oldPoints(left, limits.retentionBlocksAtOnce);
      await Promise.all(
        found.map(async ({ points: count, blocks, endMs }, i) => {
          if (count === 0) return;
          const id = left[i]!.series;
          await points.delete(id, { startMs: Number.NEGATIVE_INFINITY, endMs });
          if (!touched.has(id)) this.#series += 1;
          touched.add(id);
          this.#points += count;
          this.#blocks += blocks;
          watch.removed(count);
        }),
      );
      left = left.filter((_, i) => found[i]!.hasMore);
      if (system.monotonicMs() - this.#notedMs > noteMs) await this.#note({});
      if (found.some((one) => one.points > 0))
        await pause(pauseFactor * (system.monotonicMs() - begunMs), signal);
    }
  }

  /** Notes what was removed since the last note, and keeps the claim. */
  async #note(more: Partial<RetentionRule>): Promise<void> {
    const nextTime = this.#stores.system.nowMs() + limits.retentionIntervalMs;
    const added = { points: this.#points, blocks: this.#blocks, series: this.#series };
    const noted = await this.#stores.catalog.write(this.#projectId, async (tx) => {
      const [rule] = await tx.get(retentionTable, [this.#rule.id]);
      if (rule === undefined) throw new Ended();
      const isOwn = rule.nextTime === this.#rule.nextTime;
      const after = {
        ...{ ...rule, ...(isOwn && { ...more, nextTime }) },
        removedPoints: rule.removedPoints + added.points,
        lastPoints: (rule.lastPoints ?? 0) + added.points,
        lastBlocks: (rule.lastBlocks ?? 0) + added.blocks,
        lastSeries: (rule.lastSeries ?? 0) + added.series,
      };
      await tx.replace(retentionTable, [after]);
      return isOwn ? after : undefined;
    });
    if (noted === undefined) throw new Ended();
    this.#rule = noted;
    this.#points -= added.points;
    this.#blocks -= added.blocks;
    this.#series -= added.series;
    this.#notedMs = this.#stores.system.monotonicMs();
  }
}

const errorLengthMax = 300;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  ms < 1 ? Promise.resolve() : sleep(ms, undefined, { signal }).catch(() => undefined);

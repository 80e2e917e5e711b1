// Runs the retention rules that are due. A run deletes points by the deletion that callers use: it is in the
// journal, so that after a crash each block is there or gone. The next run continues.
//
// A server claims a run in a transaction: it sets the token of the run, and the time of the next one. The run
// ends when the rule has another token: a caller has changed the rules, the clock is wrong (`clock.ts`), or
// another server has taken over because this one was slow. A run checks before each deletion that it has the
// token, and that the rule still counts for the series. It has one time from its beginning to its end.
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenOperation } from "../../audit/audit-log.ts";
import type { Services } from "../../context.ts";
import { Failure } from "../../errors.ts";
import { startTicks } from "../../lib/ticks.ts";
import { limits } from "../../limits.ts";
import { between } from "../../query/filter.ts";
import { byId, type OrderBy, type PageQuery, type Position } from "../../query/page.ts";
import type { CatalogReader, ProjectId } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";
import { projectIds } from "../projects/projects.ts";
import { type TimeSeries, timeSeriesTable } from "../timeseries/schema.ts";
import { type ClockStores, type ClockWatch, markClock, markClocks } from "./clock.ts";
import { cutoffOf } from "./preview.ts";
import { type RetentionRule, retentionTable } from "./schema.ts";
import { seriesOf } from "./targets.ts";
import { forgetOthers, noteSeen, ruledSeries, splitByWait } from "./waiting.ts";

export type RetentionStores = ClockStores & Pick<Services, "audit" | "ids" | "points">;

export interface RetentionWatch extends ClockWatch {
  /** Called after each deletion, and after a run that failed. */
  readonly removed: (points: number) => void;
  readonly failed: () => void;
}

/** Looks for due rules at intervals; returns the function that stops it. */
export function startRetention(stores: RetentionStores, watch: RetentionWatch): () => Promise<void> {
  const stopping = new AbortController();
  const report = (problem: unknown) => watch.log.error({ err: problem }, "Could not remove old points");
  const everyMs = limits.retentionTickMs;
  const stops = [
    startTicks({ everyMs, report }, () => runDueRules(stores, watch, stopping.signal)),
    startTicks({ everyMs, report }, () => markClocks(stores, watch)),
  ];
  return async () => {
    stopping.abort();
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** Runs the rules of all projects that are due: one of each project in turn. */
export async function runDueRules(
  stores: RetentionStores,
  watch: RetentionWatch,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  for (let hasRun = true; hasRun; ) {
    hasRun = false;
    for (const projectId of await projectIds(stores)) {
      if (signal.aborted) return;
      try {
        const run = await claim(stores, watch, projectId);
        await run?.work(watch, signal);
        hasRun ||= run !== undefined;
      } catch (problem) {
        watch.failed();
        watch.log.error({ err: problem, project: projectId }, "Could not remove old points of a project");
      }
    }
  }
}

/** Claims the rule that is due for the longest time. */
async function claim(
  stores: RetentionStores,
  { log }: ClockWatch,
  projectId: ProjectId,
): Promise<RetentionRun | undefined> {
  const { catalog, ids, system } = stores;
  const dueAt = (nowMs: number) => between("nextTime", { to: { value: nowMs, inclusive: true } });
  const isDue = (tx: CatalogReader) => tx.count(retentionTable, dueAt(system.nowMs()));
  if ((await catalog.read(projectId, isDue)) === 0) return undefined;
  return catalog.write(projectId, async (tx) => {
    const nowMs = await markClock(tx, { ...stores, projectId, log });
    const longestDue = { filter: dueAt(nowMs), order: byNextTime, page: { limit: 1 } };
    const [due] = await tx.find(retentionTable, longestDue);
    if (due === undefined) return undefined;
    const begun = {
      ...{ ...due, nextTime: nowMs + limits.retentionIntervalMs, runToken: ids.next() },
      ...{ lastStartedTime: nowMs, lastSeries: 0, lastWaiting: 0, lastPoints: 0, lastBlocks: 0 },
    };
    const { lastEndedTime: _, lastError: __, ...rule } = begun;
    await tx.replace(retentionTable, [rule]);
    return new RetentionRun(stores, { projectId, rule, nowMs });
  });
}

const byNextTime: readonly OrderBy[] = [{ field: "nextTime", direction: "ascending" }, ...byId];

/** A run is another server's, or the rules have changed. */
class Ended extends Error {
  constructor() {
    super("the run of a retention rule has ended");
  }
}

/** A deletion is followed by a pause of this many times its length, so that requests have their turn. */
const pauseFactor = 3;
/** From one note of the progress to the next. */
const noteMs = 10_000;

/** The removals of a run. */
interface Counts {
  series: number;
  waiting: number;
  points: number;
  blocks: number;
}

interface Removing {
  readonly watch: RetentionWatch;
  readonly signal: AbortSignal;
  /** Series that lost points. */
  readonly touched: Set<number>;
}

type RunSeries = Pick<TimeSeries, "id" | "isString">;

interface Claimed {
  readonly projectId: ProjectId;
  readonly rule: RetentionRule & { readonly runToken: number };
  readonly nowMs: number;
}

class RetentionRun {
  readonly #stores: RetentionStores;
  readonly #projectId: ProjectId;
  readonly #rule: RetentionRule & { readonly runToken: number };
  /** The time of the whole run: a clock that is set during the run changes nothing. */
  readonly #nowMs: number;
  readonly #cutoffMs: number;
  readonly #counts: Counts = { series: 0, waiting: 0, points: 0, blocks: 0 };
  /** The counts that the record of the rule has. */
  #noted: Readonly<Counts> = { ...this.#counts };
  #notedMs: number;
  #failures = 0;
  #firstFailure: string | undefined;
  /** The record in the audit log, from the first deletion. */
  #audited: OpenOperation | undefined;

  constructor(stores: RetentionStores, { projectId, rule, nowMs }: Claimed) {
    this.#stores = stores;
    this.#projectId = projectId;
    this.#rule = rule;
    this.#nowMs = nowMs;
    this.#cutoffMs = cutoffOf(rule, nowMs);
    this.#notedMs = stores.system.monotonicMs();
  }

  /** Removes until nothing is left, the signal aborts, or the run is no longer of this server. */
  async work(watch: RetentionWatch, signal: AbortSignal): Promise<void> {
    const { id, name } = this.#rule;
    let hasFailed = false;
    try {
      await this.#removeAll(watch, signal);
      hasFailed = this.#failures > 0;
      const lastError = hasFailed && { lastError: `${this.#failures} series: ${this.#firstFailure}` };
      await this.#note(signal.aborted ? {} : { lastEndedTime: this.#stores.system.nowMs(), ...lastError });
      if (hasFailed) watch.failed();
    } catch (problem) {
      if (problem instanceof Ended) await this.#note({}).catch(() => undefined);
      else {
        hasFailed = true;
        watch.failed();
        watch.log.error(
          { err: problem, rule: id, name },
          "A retention rule failed; it runs again in an hour",
        );
        const lastError = messageOf(problem);
        await this.#note({ lastEndedTime: this.#stores.system.nowMs(), lastError }).catch(() => undefined);
      }
    }
    const { points, blocks, series } = this.#counts;
    if (points > 0) watch.log.info({ rule: id, name, series, points, blocks }, "Removed old points");
    const ids = [`${points} points`, `${series} series`];
    await this.#audited?.end({ result: hasFailed ? "failed" : "done", ids });
  }

  async #removeAll(watch: RetentionWatch, signal: AbortSignal): Promise<void> {
    const { catalog } = this.#stores;
    await forgetOthers(catalog, this.#projectId, this.#rule);
    for (let after: Position | undefined, isFirst = true; isFirst || after; isFirst = false) {
      if (signal.aborted) return;
      const page = { limit: limits.retentionSeriesPerPage, ...(after && { after }) };
      const { next, ready } = await this.#nextSeries(page);
      for (let at = 0; at < ready.length; at += limits.retentionSeriesAtOnce)
        await this.#removeWhatCan(ready.slice(at, at + limits.retentionSeriesAtOnce), watch, signal);
      if (this.#stores.system.monotonicMs() - this.#notedMs > noteMs) await this.#note({});
      after = next;
    }
  }

  /** The next series for which the rule has counted for a day. Notes those that are new to it. */
  async #nextSeries(page: PageQuery): Promise<{ readonly next?: Position; readonly ready: RunSeries[] }> {
    const { catalog } = this.#stores;
    const nowMs = this.#nowMs;
    const { found, ready, unseen } = await catalog.read(this.#projectId, async (tx) => {
      const rule = await this.#ownRule(tx);
      const query = { order: byId, page, fields: ["id", "isString"] };
      const found = await readPage(tx, timeSeriesTable, { ...query, filter: await seriesOf(tx, rule) });
      const ids = found.items.map(({ id }) => id);
      return { found, ...(await splitByWait(tx, { rule, ids, nowMs })) };
    });
    if (unseen.length > 0)
      await catalog.write(this.#projectId, async (tx) =>
        noteSeen(tx, { rule: await this.#ownRule(tx), ids: unseen, nowMs }),
      );
    this.#counts.waiting += found.items.length - ready.size;
    const items = found.items.filter(({ id }) => ready.has(id));
    return { ready: items, ...(found.next && { next: found.next }) };
  }

  /** Throws `Ended` if the run is no longer of this server. */
  async #ownRule(tx: CatalogReader): Promise<RetentionRule> {
    const [rule] = await tx.get(retentionTable, [this.#rule.id]);
    if (rule?.runToken !== this.#rule.runToken) throw new Ended();
    return rule;
  }

  /** A series that fails does not keep the others from their turn. */
  async #removeWhatCan(
    series: readonly RunSeries[],
    watch: RetentionWatch,
    signal: AbortSignal,
    touched = new Set<number>(),
  ): Promise<void> {
    try {
      await this.#removeFrom(series, { watch, signal, touched });
    } catch (problem) {
      if (problem instanceof Ended) throw problem;
      if (series.length > 1)
        for (const one of series) await this.#removeWhatCan([one], watch, signal, touched);
      else {
        watch.log.error(
          { err: problem, rule: this.#rule.id, series: series[0]!.id },
          "Could not remove points",
        );
        this.#failures += 1;
        this.#firstFailure ??= messageOf(problem);
        if (this.#failures >= limits.retentionFailuresMax) throw problem;
      }
    }
  }

  async #removeFrom(series: readonly RunSeries[], { watch, signal, touched }: Removing): Promise<void> {
    const { points, system } = this.#stores;
    let left = series.map(({ id, isString }) => ({ series: id, isString, beforeMs: this.#cutoffMs }));
    while (left.length > 0 && !signal.aborted) {
      const begunMs = system.monotonicMs();
      const found = await points.oldPoints(left, limits.retentionBlocksAtOnce);
      const old = found.flatMap((one, i) => (one.points > 0 ? [{ ...one, id: left[i]!.series }] : []));
      if (old.length > 0) await this.#auditBegin();
      const ruled = await this.#stillRuled(old.map(({ id }) => id));
      const deletable = old.filter(({ id }) => ruled.has(id));
      await settled(
        deletable.map(async ({ id, points: count, blocks, endMs }) => {
          await points.delete(id, { startMs: Number.NEGATIVE_INFINITY, endMs });
          if (!touched.has(id)) this.#counts.series += 1;
          touched.add(id);
          this.#counts.points += count;
          this.#counts.blocks += blocks;
          watch.removed(count);
        }),
      );
      left = left.filter(
        ({ series: id }, i) => found[i]!.hasMore && (found[i]!.points === 0 || ruled.has(id)),
      );
      if (system.monotonicMs() - this.#notedMs > noteMs) await this.#note({});
      if (deletable.length > 0) await pause(pauseFactor * (system.monotonicMs() - begunMs), signal);
    }
  }

  /** Those of the series for which the rule counts still. Throws `Ended` as `#ownRule`. */
  #stillRuled(ids: readonly number[]): Promise<ReadonlySet<number>> {
    if (ids.length === 0) return Promise.resolve(new Set());
    return this.#stores.catalog.read(this.#projectId, async (tx) =>
      ruledSeries(tx, await this.#ownRule(tx), ids),
    );
  }

  /** Records the run before its first deletion; rejects if that is not possible. */
  async #auditBegin(): Promise<void> {
    const { audit } = this.#stores;
    if (this.#audited || !audit.covers("deletion")) return;
    this.#audited = await audit.begin(this.#projectId, {
      ...{ time: audit.nowMs, account: "", credential: "server", address: "", kind: "deletion" },
      ...{ action: "remove old datapoints", resource: "retentionrules", idsCount: 1 },
      ids: [String(this.#rule.id), `before ${new Date(this.#cutoffMs).toISOString()}`],
    });
  }

  /** Notes the removals since the last note, and keeps the claim. */
  async #note(more: Partial<RetentionRule>): Promise<void> {
    const nextTime = this.#stores.system.nowMs() + limits.retentionIntervalMs;
    const [counts, before] = [{ ...this.#counts }, this.#noted];
    const added = (name: keyof Counts) => counts[name] - before[name];
    const isOwn = await this.#stores.catalog.write(this.#projectId, async (tx) => {
      const [rule] = await tx.get(retentionTable, [this.#rule.id]);
      if (rule === undefined) throw new Ended();
      const isOwn = rule.runToken === this.#rule.runToken;
      const after = {
        ...{ ...rule, ...(isOwn && { ...more, nextTime }) },
        removedPoints: rule.removedPoints + added("points"),
        lastPoints: (rule.lastPoints ?? 0) + added("points"),
        lastBlocks: (rule.lastBlocks ?? 0) + added("blocks"),
        lastSeries: (rule.lastSeries ?? 0) + added("series"),
        lastWaiting: (rule.lastWaiting ?? 0) + added("waiting"),
      };
      await tx.replace(retentionTable, [after]);
      return isOwn;
    });
    this.#noted = counts;
    this.#notedMs = this.#stores.system.monotonicMs();
    if (!isOwn) throw new Ended();
  }
}

/** Waits for all, then throws the first failure. */
async function settled(all: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(all)) if (one.status === "rejected") throw one.reason;
}

/**
 * Everyone who may read the rule sees it, so only messages of refusals are shown: others may name hidden
 * data.
 */
const messageOf = (problem: unknown): string =>
  problem instanceof Failure ? problem.message : "the log of the server says why";

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  ms < 1 ? Promise.resolve() : sleep(ms, undefined, { signal }).catch(() => undefined);

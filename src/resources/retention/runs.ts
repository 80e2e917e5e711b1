// Runs the retention rules that are due. A run deletes points by the deletion that callers use: it is in the
// journal, so that after a crash each block is there or gone. The next run continues.
//
// A server claims a run: it moves the time of the next one in a transaction. That time is also the token of
// the run, which ends when the rule has another one: a caller has changed the rules, or another server has
// taken over because this one was slow. A run checks before each deletion that it has the token, and that the
// rule still counts for the series.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { OpenOperation } from "../../audit/audit-log.ts";
import type { Services } from "../../context.ts";
import { startTicks } from "../../lib/ticks.ts";
import { limits } from "../../limits.ts";
import { between, or } from "../../query/filter.ts";
import { byId, type PageQuery, type Position } from "../../query/page.ts";
import type { CatalogReader, ProjectId } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";
import { projectIds } from "../projects/projects.ts";
import { type TimeSeries, timeSeriesTable } from "../timeseries/schema.ts";
import { cutoffOf } from "./preview.ts";
import { type RetentionRule, retentionTable } from "./schema.ts";
import { seriesOf } from "./targets.ts";
import { forgetOthers, noteSeen, ruledSeries, splitByWait } from "./waiting.ts";

export type RetentionStores = Pick<Services, "audit" | "catalog" | "points" | "system">;

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
async function claim(
  { catalog, system }: RetentionStores,
  projectId: ProjectId,
): Promise<RetentionRule | undefined> {
  const nowMs = system.nowMs();
  const { retentionDelayMs: delayMs, retentionIntervalMs: intervalMs } = limits;
  const isLate = between("nextTime", { to: { value: nowMs - delayMs, inclusive: false } });
  const isEarly = between("nextTime", { from: { value: nowMs + delayMs, inclusive: false } });
  const isDue = between("nextTime", { to: { value: nowMs, inclusive: true } });
  const isAny = await catalog.read(projectId, (tx) => tx.count(retentionTable, or(isDue, isEarly)));
  if (isAny === 0) return undefined;
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
      ...{ lastSeries: 0, lastWaiting: 0, lastPoints: 0, lastBlocks: 0 },
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

/** What a run has done. */
interface Counts {
  series: number;
  waiting: number;
  points: number;
  blocks: number;
}

type RunSeries = Pick<TimeSeries, "id" | "isString">;

class RetentionRun {
  readonly #stores: RetentionStores;
  readonly #projectId: ProjectId;
  #rule: RetentionRule;
  readonly #cutoffMs: number;
  readonly #counts: Counts = { series: 0, waiting: 0, points: 0, blocks: 0 };
  /** What the record of the rule has of them. */
  #noted: Readonly<Counts> = { ...this.#counts };
  #notedMs: number;
  /** The record in the audit log, from the first deletion. */
  #audited: OpenOperation | undefined;

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
    let hasFailed = false;
    try {
      await this.#removeAll(watch, signal);
      await this.#note(signal.aborted ? {} : { lastEndedTime: this.#stores.system.nowMs() });
    } catch (problem) {
      if (problem instanceof Ended) await this.#note({}).catch(() => undefined);
      else {
        hasFailed = true;
        watch.failed();
        watch.log.error(
          { err: problem, rule: id, name },
          "A retention rule failed; it runs again in an hour",
        );
        const lastError = (problem as Error).message.slice(0, errorLengthMax);
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
        await this.#removeFrom(ready.slice(at, at + limits.retentionSeriesAtOnce), watch, signal);
      after = next;
    }
  }

  /** The next series for which the rule has counted for a day. Notes those that are new to it. */
  async #nextSeries(page: PageQuery): Promise<{ readonly next?: Position; readonly ready: RunSeries[] }> {
    const { catalog, system } = this.#stores;
    const nowMs = system.nowMs();
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
    if (rule?.nextTime !== this.#rule.nextTime) throw new Ended();
    return rule;
  }

  async #removeFrom(series: readonly RunSeries[], watch: RetentionWatch, signal: AbortSignal): Promise<void> {
    const { points, system } = this.#stores;
    const touched = new Set<number>();
    let left = series.map(({ id, isString }) => ({ series: id, isString, beforeMs: this.#cutoffMs }));
    while (left.length > 0 && !signal.aborted) {
      const begunMs = system.monotonicMs();
      const found = await points.oldPoints(left, limits.retentionBlocksAtOnce);
      const old = found.flatMap((one, i) => (one.points > 0 ? [{ ...one, id: left[i]!.series }] : []));
      const ruled = await this.#stillRuled(old.map(({ id }) => id));
      const deletable = old.filter(({ id }) => ruled.has(id));
      if (deletable.length > 0) await this.#auditBegin();
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

  /** Notes what was removed since the last note, and keeps the claim. */
  async #note(more: Partial<RetentionRule>): Promise<void> {
    const nextTime = this.#stores.system.nowMs() + limits.retentionIntervalMs;
    const [counts, before] = [{ ...this.#counts }, this.#noted];
    const added = (name: keyof Counts) => counts[name] - before[name];
    const noted = await this.#stores.catalog.write(this.#projectId, async (tx) => {
      const [rule] = await tx.get(retentionTable, [this.#rule.id]);
      if (rule === undefined) throw new Ended();
      const isOwn = rule.nextTime === this.#rule.nextTime;
      const after = {
        ...{ ...rule, ...(isOwn && { ...more, nextTime }) },
        removedPoints: rule.removedPoints + added("points"),
        lastPoints: (rule.lastPoints ?? 0) + added("points"),
        lastBlocks: (rule.lastBlocks ?? 0) + added("blocks"),
        lastSeries: (rule.lastSeries ?? 0) + added("series"),
        lastWaiting: (rule.lastWaiting ?? 0) + added("waiting"),
      };
      await tx.replace(retentionTable, [after]);
      return isOwn ? after : undefined;
    });
    if (noted === undefined) throw new Ended();
    this.#rule = noted;
    this.#noted = counts;
    this.#notedMs = this.#stores.system.monotonicMs();
  }
}

/** Waits for all, then throws the first failure. */
async function settled(all: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(all)) if (one.status === "rejected") throw one.reason;
}

const errorLengthMax = 300;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  ms < 1 ? Promise.resolve() : sleep(ms, undefined, { signal }).catch(() => undefined);

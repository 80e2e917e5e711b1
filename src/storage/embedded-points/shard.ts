// One shard of the store: the heads and blocks of the series that live in it, used by one thread alone.
import type {
  AggregateColumns,
  AggregateQuery,
  Damage,
  PointColumns,
  PointRuns,
  ScanQuery,
  SeriesId,
} from "../points.ts";
import { BlockTable, type BlockTableSettings, DamageFound, type Owner } from "./block-table.ts";
import { type Change, shardOf } from "./change.ts";
import { type Kind, kindOf, numbers, strings, type Values } from "./columns.ts";
import { eraseFromBlocks, type Flushed, flushNewest, flushOldest } from "./flush.ts";
import { changeIn } from "./frame.ts";
import { Head } from "./head.ts";
import { SeriesReader } from "./series-reader.ts";
import type { LatestFound, LatestQuery } from "./shard-calls.ts";

/**
 * A head is looked at for full blocks whenever it has grown by so many: what comes in a rush is encoded when
 * that is over. What waits in all heads together is bounded by the journal's checkpoint.
 */
const flushAtBlocks = 16;
/** Work in the background goes on for so long before queries get their turn. */
const sliceMs = 8;
/** So long an opening waits for the check that no row of a block is missing; what is left of it follows. */
const checkAtOpeningMs = 100;

export interface ShardStats {
  readonly points: number;
  readonly blocks: number;
  readonly damage: readonly Damage[];
}

/**
 * The series of each run of the last change, and its head where it is of this shard: a scan cycle brings the
 * same ones each time.
 */
interface Route {
  readonly series: SeriesId[];
  readonly heads: (Head | undefined)[];
}

export class Shard {
  readonly #table: BlockTable;
  readonly #heads: readonly Map<SeriesId, Head>[] = [new Map(), new Map()];
  readonly #routes: Route[] = [
    { series: [], heads: [] },
    { series: [], heads: [] },
  ];
  /** Heads that may hold full blocks. */
  readonly #grown = new Set<Head>();
  /** Heads that a checkpoint has still to empty; the last one is next. */
  readonly #emptying: Head[] = [];
  #checkpoint: number | undefined;
  readonly #isOwn: (series: SeriesId) => boolean;

  /** `shard` of `shards` this is, all of them unless it is said. */
  constructor(path: string, settings: BlockTableSettings & { readonly shards?: number }) {
    const { shard = 0, shards = 1 } = settings;
    this.#isOwn = (series) => shards === 1 || shardOf(series, shards) === shard;
    this.#table = new BlockTable(path, settings);
    const untilMs = performance.now() + checkAtOpeningMs;
    while (this.#table.isUnchecked && performance.now() < untilMs) this.#table.check();
  }

  /** The sequence number up to which all changes are in blocks on disk. */
  get applied(): number {
    return this.#table.applied;
  }

  /** Whether `work` has something to do. */
  get isBusy(): boolean {
    return this.#isFlushing || this.#table.isUnchecked;
  }

  get #isFlushing(): boolean {
    return this.#grown.size > 0 || this.#checkpoint !== undefined;
  }

  /** Heads that wait for being written. */
  get backlog(): number {
    return this.#grown.size;
  }

  /** Takes in its own part of a change; changes come in the order of the journal. */
  applyFrame(frame: Uint8Array): void {
    this.apply(changeIn(frame, this.#isOwn));
  }

  /** As `applyFrame`. */
  apply(change: Change): void {
    if (change.kind === "erase") {
      this.#erase(change);
      return;
    }
    if (change.batch.numbers !== undefined) this.#add(change.batch.numbers, numbers);
    if (change.batch.strings !== undefined) this.#add(change.batch.strings, strings);
  }

  scan(query: ScanQuery): PointColumns {
    return this.#ask(query.series, kindOf(query.isString), (reader) => reader.scan(query));
  }

  aggregate(query: AggregateQuery): AggregateColumns {
    return this.#ask(query.series, numbers, (reader) => reader.aggregate(query));
  }

  latest({ series, beforeMs }: LatestQuery): (LatestFound | undefined)[] {
    return series.map((one) =>
      this.#ask(one.series, kindOf(one.isString), (reader) => {
        const point = reader.latest(beforeMs);
        return point && { point, isNewest: reader.endsBefore(beforeMs) };
      }),
    );
  }

  stats(): ShardStats {
    const { points, blocks } = this.#table.totals;
    let inHeads = 0;
    for (const heads of this.#heads) for (const head of heads.values()) inHeads += head.count;
    return { points: points + inHeads, blocks, damage: this.#table.damage() };
  }

  /**
   * Has every point held now moved into blocks by the following calls of `work`, and then `sequence`
   * recorded.
   */
  beginCheckpoint(sequence: number): void {
    for (const heads of this.#heads) for (const head of heads.values()) this.#emptying.push(head);
    this.#checkpoint = sequence;
  }

  /** The heads keep what is not yet in blocks. */
  giveUpCheckpoint(): void {
    this.#emptying.length = 0;
    this.#checkpoint = undefined;
  }

  /**
   * Does a slice of the waiting work as one transaction. Answers the sequence number of a checkpoint that
   * this completed. When it throws, nothing is lost: the heads still hold all points, and the work still
   * waits.
   */
  work(): number | undefined {
    if (!this.#isFlushing) {
      this.#table.check();
      return undefined;
    }
    const taken: Head[] = [];
    try {
      return this.#slice(taken);
    } catch (why) {
      for (const head of taken) this.#putBack(head);
      if (!(why instanceof DamageFound)) throw why;
      this.#table.quarantine(why);
      return undefined;
    }
  }

  close(): void {
    this.#table.close();
  }

  #slice(taken: Head[]): number | undefined {
    const flushed: Flushed[] = [];
    const untilMs = performance.now() + sliceMs;
    this.#table.transaction(() => {
      while (performance.now() < untilMs) {
        const next = this.#takeNext();
        if (next === undefined) break;
        taken.push(next.head);
        flushed.push(next.flush(this.#table, next.head));
      }
    });
    for (const one of flushed) this.#forget(one);
    taken.length = 0;
    return this.#emptying.length === 0 ? this.#endCheckpoint() : undefined;
  }

  /** It comes again as the next one. */
  #putBack(head: Head): void {
    if (this.#checkpoint !== undefined) this.#emptying.push(head);
    else this.#grown.add(head);
  }

  #endCheckpoint(): number | undefined {
    const completed = this.#checkpoint;
    if (completed !== undefined) this.#table.recordApplied(completed);
    this.#checkpoint = undefined;
    return completed;
  }

  #takeNext(): { head: Head; flush: typeof flushNewest } | undefined {
    const emptied = this.#emptying.pop();
    const head = emptied ?? this.#grown.values().next().value;
    if (head === undefined) return undefined;
    this.#grown.delete(head);
    return { head, flush: emptied === undefined ? flushNewest : flushOldest };
  }

  #forget({ head, from, to, hasMore }: Flushed): void {
    head.remove(from, to);
    head.countAfterFlush = head.count;
    if (hasMore) this.#putBack(head);
    const heads = this.#heads[head.kind]!;
    if (head.count === 0 && heads.get(head.series) === head) this.#removeHead(head.series, head.kind);
  }

  #add(runs: PointRuns<Values>, kind: Kind): void {
    const route = this.#routes[kind]!;
    let from = 0;
    for (let run = 0; run < runs.series.length; run++) {
      const series = runs.series[run]!;
      const to = runs.ends[run]!;
      if (route.series[run] !== series) this.#findRoute(route, { run, series, kind });
      const head = route.heads[run];
      if (head !== undefined && to > from) this.#grow(head, runs, { from, to });
      from = to;
    }
  }

  #findRoute(
    { series: all, heads }: Route,
    { run, series, kind }: { run: number; series: number; kind: Kind },
  ) {
    all[run] = series;
    heads[run] = this.#isOwn(series) ? this.#headOf(this.#heads[kind]!, series, kind) : undefined;
  }

  #grow(head: Head, points: PointColumns, { from, to }: { from: number; to: number }): void {
    head.add(points, from, to);
    if (head.count - head.countAfterFlush >= flushAtBlocks * this.#table.blockPoints) this.#grown.add(head);
  }

  #headOf(heads: Map<SeriesId, Head>, series: SeriesId, kind: Kind): Head {
    const found = heads.get(series);
    if (found !== undefined) return found;
    const head = new Head(series, kind);
    heads.set(series, head);
    return head;
  }

  #removeHead(series: SeriesId, kind: Kind): void {
    this.#heads[kind]!.delete(series);
    this.#routes[kind] = { series: [], heads: [] };
  }

  #erase({ series, range }: Change & { kind: "erase" }): void {
    const [startMs, endMs] = [range?.startMs ?? -Infinity, range?.endMs ?? Infinity];
    for (const kind of [numbers, strings]) {
      const head = this.#heads[kind]!.get(series);
      head?.removeBetween(startMs, endMs);
      if (head !== undefined && range === undefined) this.#removeHead(series, kind);
      this.#healing(() =>
        this.#table.transaction(() => eraseFromBlocks(this.#table, { series, kind }, startMs, endMs)),
      );
    }
  }

  #ask<Answer>(series: SeriesId, kind: Kind, query: (reader: SeriesReader) => Answer): Answer {
    const owner: Owner = { series, kind };
    return this.#healing(() => query(new SeriesReader(this.#table, owner, this.#heads[kind]!.get(series))));
  }

  /**
   * Quarantines each damaged block met on the way and tries again; a query then fails if it needs that
   * block.
   */
  #healing<Answer>(work: () => Answer): Answer {
    for (;;) {
      try {
        return work();
      } catch (why) {
        if (!(why instanceof DamageFound)) throw why;
        this.#table.quarantine(why);
      }
    }
  }
}

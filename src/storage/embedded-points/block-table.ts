// The blocks of one shard in its SQLite file (FORMAT.md, "Shards"): where each lies in time, its summary, its
// bytes.
//
// Headers and bytes are two tables, so that walking over a year of summaries reads no points. Blocks of one
// series and kind never overlap in time. A block found damaged moves to a table of its own, so that its place
// can be written anew.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { invariant } from "../../lib/invariant.ts";
import { LruCache } from "../../lib/lru-cache.ts";
import type { Damage, PointColumns, SeriesId } from "../points.ts";
import { DamagedBlock, decodeBlock, encodeBlock } from "./block.ts";
import { type Kind, numbers } from "./columns.ts";
import { KnownBuckets } from "./known-buckets.ts";
import { addSeal, blockSumOf, openRow, type RowContent, sealRow } from "./sealed-row.ts";
import {
  putStateSql,
  RowCheck,
  readStateSql,
  type ShardIdentity,
  type State,
  stateOf,
  stateSchema,
  stateValues,
} from "./shard-state.ts";
import { type Summary, summarise } from "./summary.ts";

/** Unpacked blocks surely kept in memory: 4 MB of full ones, and at most twice as many. */
const keptBlocks = 32;
/** Of new files; of blocks of 6 KB, pages of 4 KB waste twice as much (13 %). */
const pageBytes = 2048;

/** Where a block lies. */
interface BlockPlace {
  readonly id: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

export interface BlockRow extends BlockPlace, RowContent {
  readonly seal: number;
}

/** As the table has it. */
type StoredRow = BlockPlace & { readonly sealed: Uint8Array };

/** A stretch of a series that cannot be read. */
export interface DamagedStretch {
  readonly series: SeriesId;
  readonly kind: Kind;
  readonly firstMs: number;
  readonly lastMs: number;
}

interface DamagedRow extends DamagedStretch {
  readonly id: number;
  readonly expected: string;
  readonly found: string;
}

/** Whose blocks: points of one kind of one series. */
export interface Owner {
  readonly series: SeriesId;
  readonly kind: Kind;
}

/** A block, or its row, could not be read; it must be quarantined before anything else is tried. */
export class DamageFound extends Error {
  readonly owner: Owner;
  /** Without a seal when the row itself is what is damaged. */
  readonly row: BlockPlace & { readonly seal?: number };
  readonly damage: DamagedBlock;
  constructor(owner: Owner, row: DamageFound["row"], damage: DamagedBlock) {
    super(damage.message);
    this.name = "DamageFound";
    this.owner = owner;
    this.row = row;
    this.damage = damage;
  }
}

const schema = (identity: ShardIdentity) => `
  CREATE TABLE block (
    series INTEGER NOT NULL, kind INTEGER NOT NULL, first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL, count INTEGER NOT NULL, data_id INTEGER NOT NULL, sealed BLOB NOT NULL,
    PRIMARY KEY (series, kind, first_ms)
  ) WITHOUT ROWID;
  CREATE TABLE data (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE damaged (
    data_id INTEGER PRIMARY KEY, series INTEGER NOT NULL, kind INTEGER NOT NULL, first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL, expected TEXT NOT NULL, found TEXT NOT NULL
  );
${stateSchema(identity)}`;
const tableCount = 4;

const columns = "data_id AS id, first_ms AS firstMs, last_ms AS lastMs, count, sealed";
const ofOwner = "series = ? AND kind = ?";

export interface BlockTableSettings extends Partial<ShardIdentity> {
  readonly file: string;
  readonly blockPoints: number;
}

export class BlockTable {
  /** Points of a full block. */
  readonly blockPoints: number;
  /** Of series of numbers; learnt by those who read, and forgotten here. */
  readonly known = new KnownBuckets();
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #statements: ReturnType<typeof prepare>;
  #totals: { -readonly [Name in keyof State]: State[Name] };
  /** Runs after the opening; what it found wrong stays. */
  #check: RowCheck | undefined;
  #missing: readonly Damage[] = [];
  /** What is asked about once is often asked about again, a trend that a screen refreshes say. */
  readonly #kept = new LruCache<number, PointColumns>(keptBlocks);
  /** Few: looked through on every read. */
  #damaged: readonly DamagedStretch[] = [];

  /**
   * `file` is the name under which damage is reported. Throws when the file is that of another shard or of
   * another store.
   */
  constructor(path: string, { file, blockPoints, store = 0, shard = 0 }: BlockTableSettings) {
    this.blockPoints = blockPoints;
    this.#file = file;
    this.#database = new DatabaseSync(path);
    this.#database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL`);
    this.#database.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384");
    makeTables(this.#database, file, { store, shard });
    this.#statements = prepare(this.#database);
    this.#totals = this.#readTotals();
    if (this.#totals.store !== store || this.#totals.shard !== shard) {
      const found = `shard ${this.#totals.shard} of store ${this.#totals.store}`;
      throw new Error(`${file} is ${found}, not shard ${shard} of store ${store}`);
    }
    this.#damaged = this.#readDamaged();
    this.#check = new RowCheck(this.#database);
  }

  /** Whether it is not known yet that no row is missing. */
  get isUnchecked(): boolean {
    return this.#check !== undefined;
  }

  /**
   * Looks at some more rows than before, until all were seen to be those that were written. Which series a
   * missing one belonged to nobody can tell: it is reported as damage, and its points are missing.
   */
  check(): void {
    try {
      if (this.#check?.step() !== true) return;
      this.#missing = [this.#check.damage(this.#totals, this.#file) ?? []].flat();
    } catch (why) {
      const found = (why as Error).message;
      this.#missing = [{ file: this.#file, offset: 0, expected: "rows of blocks that can be read", found }];
    }
    this.#check = undefined;
  }

  /** The journal's sequence number up to which every change is in blocks. */
  get applied(): number {
    return this.#totals.applied;
  }

  get totals(): { readonly points: number; readonly blocks: number } {
    return this.#totals;
  }

  /** All of the work or, when it throws, nothing of it. */
  transaction<Answer>(work: () => Answer): Answer {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const answer = work();
      this.#statements.putTotals.run(...stateValues(this.#totals));
      this.#database.exec("COMMIT");
      return answer;
    } catch (why) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#totals = this.#readTotals();
      this.#damaged = this.#readDamaged();
      if (this.#check !== undefined) this.#check = new RowCheck(this.#database);
      throw why;
    }
  }

  /**
   * Brings all transactions so far to disk, and with them that every change up to `sequence` is in blocks.
   * Until then none needs to be on disk, because the journal still holds what it moved; so only this one
   * waits for a sync. The log of the database, which would keep its largest size, is emptied as well.
   */
  recordApplied(sequence: number): void {
    this.#database.exec("PRAGMA synchronous = FULL");
    try {
      this.transaction(() => {
        this.#totals.applied = sequence;
      });
    } finally {
      this.#database.exec("PRAGMA synchronous = NORMAL");
    }
    this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** The last block that begins before `beforeMs`. */
  lastBefore(owner: Owner, beforeMs: number): BlockRow | undefined {
    return rowOf(owner, this.#statements.before.get(owner.series, owner.kind, beforeMs));
  }

  /** The first block that begins at or after `fromMs`. */
  firstFrom(owner: Owner, fromMs: number): BlockRow | undefined {
    return rowOf(owner, this.#statements.from.get(owner.series, owner.kind, fromMs));
  }

  /** The blocks with a point in [startMs, endMs), ascending. Blocks must not change while this is walked. */
  *covering(owner: Owner, startMs: number, endMs: number): Generator<BlockRow> {
    const first = this.lastBefore(owner, startMs);
    if (first !== undefined && first.lastMs >= startMs) yield first;
    const { series, kind } = owner;
    for (const row of this.#statements.between.iterate(series, kind, startMs, endMs)) yield rowOf(owner, row);
  }

  /** The points of a block; throws `DamageFound`. */
  read(owner: Owner, row: BlockRow): PointColumns {
    return orDamage(owner, row, () => {
      const found = this.#statements.data.get(row.id) as { bytes: Uint8Array } | undefined;
      if (found === undefined) throw new DamagedBlock("the bytes of the block", "none");
      if (found.bytes.length < 4 || blockSumOf(found.bytes) !== row.blockSum)
        throw new DamagedBlock(`a block with checksum ${row.blockSum}`, "another one");
      const points = decodeBlock(found.bytes);
      const isAsSaid = points.times[0] === row.firstMs && points.times.at(-1) === row.lastMs;
      if (!isAsSaid) throw new DamagedBlock(`points from ${row.firstMs} to ${row.lastMs}`, "others");
      return points;
    });
  }

  /**
   * As `read`, from memory where this block of numbers was asked for lately. The arrays stay the table's; not
   * for use inside a transaction, whose end may bring a removed block back.
   */
  readKept(owner: Owner, row: BlockRow): PointColumns {
    const kept = this.#kept.get(row.id);
    if (kept !== undefined) return kept;
    const points = this.read(owner, row);
    if (owner.kind === numbers) this.#kept.set(row.id, points);
    return points;
  }

  /** The summary of a block of numbers. */
  readSummary(owner: Owner, row: BlockRow): Summary {
    if (row.summary === undefined) throw new DamageFound(owner, row, new DamagedBlock("a summary", "none"));
    return row.summary;
  }

  /** Inside a transaction. The points are ascending, at least one, and overlap no block of their owner. */
  insert({ series, kind }: Owner, { times, values }: PointColumns): void {
    const count = times.length;
    const [firstMs, lastMs] = [times[0]!, times[count - 1]!];
    invariant(count > 0 && firstMs <= lastMs, "points in a block are in order");
    const block = encodeBlock(times, values);
    const id = Number(this.#statements.insertData.run(block).lastInsertRowid);
    const place = { series, kind, id, firstMs, lastMs, count };
    const summary = kind === numbers ? summarise(times, values as Float64Array, 0, count) : undefined;
    const blockSum = blockSumOf(block);
    const { sealed, seal } = sealRow(place, { summary, blockSum });
    this.#statements.insert.run(series, kind, firstMs, lastMs, count, id, sealed);
    if (kind === numbers) this.known.forget(series, firstMs, lastMs);
    this.#count(place, seal, 1);
  }

  /** Inside a transaction. */
  remove(owner: Owner, { id, firstMs, lastMs, count, seal }: BlockRow): void {
    const { series, kind } = owner;
    this.#statements.remove.run(series, kind, firstMs);
    this.#statements.removeData.run(id);
    // The next block that is written may get the same id.
    this.#kept.delete(id);
    if (kind === numbers) this.known.forget(series, firstMs, lastMs);
    this.#count({ series, kind, firstMs, count }, seal, -1);
  }

  #count(
    place: { series: number; kind: number; firstMs: number; count: number },
    seal: number,
    by: 1 | -1,
  ): void {
    this.#totals.points += by * place.count;
    this.#totals.blocks += by;
    this.#totals.seals = addSeal(this.#totals.seals, by * seal);
    this.#check?.note(place, seal, by);
  }

  /**
   * Takes a block that cannot be read out of the way; its bytes stay for whoever wants to save some. Where
   * its row is damaged the sums still count it: whose it was is not sure, so a row is missing until the
   * doctor came.
   */
  quarantine({ owner: { series, kind }, row, damage: { expected, found } }: DamageFound): void {
    const { id, firstMs, lastMs, count, seal } = row;
    this.transaction(() => {
      this.#statements.remove.run(series, kind, firstMs);
      // What its row says of its place need not be right.
      if (kind === numbers) this.known.forget(series, -Infinity, Infinity);
      this.#statements.insertDamaged.run(id, series, kind, firstMs, lastMs, expected, found);
      if (seal !== undefined) this.#count({ series, kind, firstMs, count }, seal, -1);
    });
    this.#damaged = [...this.#damaged, { series, kind, firstMs, lastMs }];
  }

  /** The first stretch of the owner with a time in [startMs, endMs] that cannot be read. */
  damagedIn({ series, kind }: Owner, startMs: number, endMs: number): DamagedStretch | undefined {
    return this.#damaged.find(
      (one) => one.series === series && one.kind === kind && one.firstMs <= endMs && one.lastMs >= startMs,
    );
  }

  /** Inside a transaction: what is erased need not be readable any more. */
  forgetDamaged({ series, kind }: Owner, startMs: number, endMs: number): void {
    if (this.damagedIn({ series, kind }, startMs, endMs) === undefined) return;
    this.#statements.removeDamaged.run(series, kind, startMs, endMs);
    this.#damaged = this.#readDamaged();
  }

  /** The offset is the row of the table `data`, or 0. */
  damage(): Damage[] {
    const file = this.#file;
    const blocks = this.#readDamaged().map(({ id, expected, found }) => ({
      file,
      offset: id,
      expected,
      found,
    }));
    return [...this.#missing, ...blocks];
  }

  close(): void {
    this.#database.close();
  }

  #readDamaged(): DamagedRow[] {
    return this.#statements.damaged.all() as unknown as DamagedRow[];
  }

  #readTotals(): State {
    const found = stateOf(this.#statements.totals.get());
    if (found === undefined)
      throw new Error(
        `${this.#file} does not say what it holds; \`millrace doctor\` finds out from its blocks`,
      );
    return { ...found };
  }
}

function prepare(
  database: DatabaseSync,
): Record<
  | "before"
  | "from"
  | "between"
  | "data"
  | "insert"
  | "insertData"
  | "remove"
  | "removeData"
  | "damaged"
  | "insertDamaged"
  | "removeDamaged"
  | "totals"
  | "putTotals",
  StatementSync
> {
  const sql = (text: string) => database.prepare(text);
  const descending = "ORDER BY first_ms DESC LIMIT 1";
  return {
    before: sql(`SELECT ${columns} FROM block WHERE ${ofOwner} AND first_ms < ? ${descending}`),
    from: sql(`SELECT ${columns} FROM block WHERE ${ofOwner} AND first_ms >= ? ORDER BY first_ms LIMIT 1`),
    between: sql(`
      SELECT ${columns} FROM block
      WHERE ${ofOwner} AND first_ms >= ? AND first_ms < ? ORDER BY first_ms`),
    data: sql("SELECT bytes FROM data WHERE id = ?"),
    insert: sql("INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?)"),
    insertData: sql("INSERT INTO data (bytes) VALUES (?)"),
    remove: sql(`DELETE FROM block WHERE ${ofOwner} AND first_ms = ?`),
    removeData: sql("DELETE FROM data WHERE id = ?"),
    damaged: sql(`
      SELECT data_id AS id, series, kind, first_ms AS firstMs, last_ms AS lastMs, expected, found
      FROM damaged`),
    insertDamaged: sql("INSERT INTO damaged VALUES (?, ?, ?, ?, ?, ?, ?)"),
    removeDamaged: sql(`DELETE FROM damaged WHERE ${ofOwner} AND first_ms >= ? AND last_ms < ?`),
    totals: sql(readStateSql),
    putTotals: sql(putStateSql),
  };
}

/**
 * Makes all tables at once, on disk when it returns, in a file that has never had any. A single bit can hide
 * them all: a file that is too large for its tables is not taken for a new one.
 */
function makeTables(database: DatabaseSync, file: string, identity: ShardIdentity): void {
  const found = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()!["tables"];
  if (found === tableCount) return;
  const pages = Number(database.prepare("PRAGMA page_count").get()!["page_count"]);
  if (found !== 0 || pages > 1)
    throw new Error(`${file} has ${pages} pages, but ${found} of ${tableCount} tables`);
  database.exec(`BEGIN IMMEDIATE; ${schema(identity)}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
}

/** Throws `DamageFound` for a row that is not what was written. */
function rowOf(owner: Owner, row: object): BlockRow;
function rowOf(owner: Owner, row: object | undefined): BlockRow | undefined;
function rowOf({ series, kind }: Owner, row: object | undefined): BlockRow | undefined {
  if (row === undefined) return undefined;
  const { sealed, id, firstMs, lastMs, count } = row as StoredRow;
  return orDamage({ series, kind }, { id, firstMs, lastMs, count }, () => {
    const { summary, blockSum, seal } = openRow({ series, kind, id, firstMs, lastMs, count }, sealed);
    return { id, firstMs, lastMs, count, summary, blockSum, seal };
  });
}

function orDamage<Answer>(owner: Owner, row: DamageFound["row"], read: () => Answer): Answer {
  try {
    return read();
  } catch (why) {
    throw why instanceof DamagedBlock ? new DamageFound(owner, row, why) : why;
  }
}

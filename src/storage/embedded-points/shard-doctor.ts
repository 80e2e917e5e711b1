// Examines the whole file of a shard that no process has open, and repairs damage where possible.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Finding, integrityOf, type Remedy } from "../findings.ts";
import { Kernels } from "../kernels.ts";
import { numberKind, type ValueKind } from "../point-columns.ts";
import type { Damage, PointColumns } from "../points.ts";
import { type Summariser, type Summary, summariesOfBlock } from "../summary.ts";
import { DamagedBlock, decodeBlock } from "./block.ts";
import {
  addChecksum,
  blockChecksumOf,
  decodeRow,
  encodeRow,
  type RowKeys,
  storedChecksum,
} from "./checksummed-row.ts";
import { DaySummaries } from "./day-summaries.ts";
import { firstSequenceOf } from "./segment.ts";
import {
  readStateSql,
  type ShardIdentity,
  type StoredShardState,
  stateOf,
  stateValues,
  writeStateSql,
} from "./stored-shard-state.ts";

interface Row extends RowKeys {
  readonly kind: ValueKind;
  readonly header: Uint8Array;
  readonly bytes: Uint8Array | null;
}

/** The file of a shard, and the identity that it must have. */
export type ExpectedShard = ShardIdentity & { readonly file: string };

const columns = "series, kind, data_id AS id, first_ms AS firstMs, last_ms AS lastMs";

export class ShardDoctor {
  readonly #kernels = new Kernels();
  readonly #database: DatabaseSync;
  readonly #folder: string;
  readonly #file: string;
  readonly #setAsideFolder: string;
  readonly #identity: ShardIdentity;

  /** Removed blocks are kept in `setAsideFolder`. Throws when the file is not a database. */
  constructor(folder: string, { file, ...identity }: ExpectedShard, setAsideFolder: string) {
    this.#folder = folder;
    this.#file = file;
    this.#identity = identity;
    this.#setAsideFolder = setAsideFolder;
    this.#database = new DatabaseSync(join(folder, file));
  }

  /** The sequence number up to which the shard has every change; NaN when its state is damaged. */
  get flushedSequence(): number {
    return this.#state()?.flushedSequence ?? Number.NaN;
  }

  /** A finding when the file belongs to another shard or another store. */
  identityFindings(): Finding[] {
    const { store, shard } = this.#state() ?? this.#identity;
    if (store === this.#identity.store && shard === this.#identity.shard) return [];
    const expected = `shard ${this.#identity.shard} of store ${this.#identity.store}`;
    return [this.#damage(0, expected, `shard ${shard} of store ${store}`)];
  }

  /** Findings of SQLite in its own file. With any of them, no other result is reliable. */
  integrityFindings(): Finding[] {
    return integrityOf(this.#database, this.#file);
  }

  /** Findings in blocks and their rows, blocks quarantined earlier, summaries of days, and totals. */
  *findings(): Generator<Finding> {
    let last: Row | undefined;
    const all = `SELECT ${columns}, count, header, bytes FROM block LEFT JOIN data ON data.id = data_id
      ORDER BY series, kind, first_ms`;
    for (const found of this.#database.prepare(all).iterate()) {
      const row = found as unknown as Row;
      const isSameSeries = row.series === last?.series && row.kind === last.kind;
      if (isSameSeries && row.firstMs <= last!.lastMs)
        yield this.#damage(row.id, `a block after ${last!.lastMs} ms`, `one from ${row.firstMs} ms on`);
      last = row;
      yield* this.#blockFindings(row);
    }
    yield* this.#quarantinedFindings();
    yield* this.#dayFindings();
    yield* this.#totalsFindings();
  }

  close(): void {
    this.#database.close();
  }

  *#blockFindings(row: Row): Generator<Finding> {
    let points: PointColumns;
    try {
      points = pointsOf(row, this.#kernels);
    } catch (error) {
      const { expected, found } = damageOf(error);
      yield { ...this.#damage(row.id, expected, found), remedy: this.#removal(row) };
      return;
    }
    const summaries =
      row.kind === numberKind
        ? summariesOfBlock(points.times, points.values as Float64Array, this.#kernels)
        : [];
    const correct = encodeRow(row, { summaries, blockChecksum: blockChecksumOf(row.bytes!) });
    try {
      const found = decodeRow(row, row.header);
      if (found.blockChecksum !== blockChecksumOf(row.bytes!))
        throw new DamagedBlock("the block of its row", "another block");
      if (row.kind === numberKind && !areOfPoints(found.summaries, points, this.#kernels))
        throw new DamagedBlock("the summaries of its points", "other summaries");
    } catch (error) {
      const { expected, found } = damageOf(error);
      // The row checksum proves the keys. Without that, the block may belong to another series.
      const areKeysRight = correct.checksum === storedChecksum(row.header);
      const apply = () => {
        this.#run("UPDATE block SET header = ? WHERE data_id = ?", correct.header, row.id);
        this.#removeDays(row.series);
      };
      const remedy = areKeysRight ? { says: "recalculate the summaries", apply } : this.#removal(row);
      yield { ...this.#damage(row.id, expected, found), remedy };
    }
  }

  *#dayFindings(): Generator<Finding> {
    const days = this.#days();
    for (const day of days?.wrongRows() ?? []) {
      const found = `another one in the row of the day of series ${day.series} from ${day.startMs} ms on`;
      const remedy: Remedy = {
        says: "calculate the summary of the day again",
        apply: () => days!.writeAgain(day),
      };
      yield { ...this.#damage(0, "the summary of the blocks of a day", found), remedy };
    }
  }

  /** Undefined in a file from before days had summaries. */
  #days(): DaySummaries | undefined {
    const found = this.#database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'day'").get();
    return found && new DaySummaries(this.#database);
  }

  /** The store writes them again when it changes blocks of these days. */
  #removeDays(series: number): void {
    this.#days()?.remove(series, -Infinity, Infinity);
  }

  /** A finding when the rows are not those that were written. Nothing else shows a missing row. */
  *#totalsFindings(): Generator<Finding> {
    const state = this.#state();
    const { points, blocks, rowChecksums } = this.#count();
    const areEqual =
      state?.points === points && state.blocks === blocks && state.rowChecksums === rowChecksums;
    if (areEqual) return;
    const totals = state ? `${state.points} points in ${state.blocks} blocks` : "how many points and blocks";
    const found = state ? `${points} in ${blocks}, the sum of their checksums ${rowChecksums}` : "damage";
    const expected = state ? `${totals}, the sum of their checksums ${state.rowChecksums}` : totals;
    yield {
      ...this.#damage(0, expected, found),
      remedy: { says: "count again", apply: () => this.#recount() },
    };
  }

  #count(): Pick<StoredShardState, "points" | "blocks" | "rowChecksums"> {
    let [points, blocks, rowChecksums] = [0, 0, 0];
    for (const row of this.#database.prepare("SELECT count, header FROM block").iterate()) {
      const { count, header } = row as unknown as Row;
      points += count;
      blocks++;
      rowChecksums = addChecksum(rowChecksums, storedChecksum(header));
    }
    return { points, blocks, rowChecksums };
  }

  #recount(): void {
    const flushedSequence = this.#state()?.flushedSequence ?? this.#sequenceOfJournal();
    this.#run(writeStateSql, ...stateValues({ flushedSequence, ...this.#count(), ...this.#identity }));
  }

  /**
   * The sequence number before the first segment of the journal. A segment is deleted only when all its
   * changes are in blocks, and applying a change again does no harm.
   */
  #sequenceOfJournal(): number {
    const firsts = readdirSync(this.#folder).flatMap((name) => firstSequenceOf(name) ?? []);
    return firsts.length === 0 ? 0 : Math.min(...firsts) - 1;
  }

  *#quarantinedFindings(): Generator<Finding> {
    const rows = this.#database.prepare(`
      SELECT ${columns}, expected, found, bytes FROM damaged LEFT JOIN data ON data.id = data_id`);
    for (const one of rows.all()) {
      const { expected, found, ...row } = one as unknown as Row & Damage;
      yield { ...this.#damage(row.id, expected, found), remedy: this.#removal(row) };
    }
  }

  #removal({ series, kind, firstMs, lastMs, id, bytes }: Omit<Row, "count" | "header">): Remedy {
    const name = `${this.#file}-block-${id}-series-${series}-from-${firstMs}-to-${lastMs}`;
    const isKept = bytes !== null;
    return {
      says: `remove the points of series ${series} from ${firstMs} to ${lastMs} ms${
        isKept ? `, with the block kept as ${name}` : ""
      }`,
      apply: () => {
        if (isKept) writeFileSync(join(this.#setAsideFolder, name), bytes, { flush: true });
        this.#run("BEGIN IMMEDIATE");
        const isSameBlock = "series = ? AND kind = ? AND first_ms = ? AND data_id = ?";
        this.#run(`DELETE FROM block WHERE ${isSameBlock}`, series, kind, firstMs, id);
        this.#run("DELETE FROM damaged WHERE data_id = ?", id);
        this.#run(
          "DELETE FROM data WHERE id = ? AND NOT EXISTS (SELECT 1 FROM block WHERE data_id = id)",
          id,
        );
        this.#removeDays(series);
        this.#recount();
        this.#run("COMMIT");
      },
    };
  }

  #state(): StoredShardState | undefined {
    return stateOf(this.#database.prepare(readStateSql).get());
  }

  #run(sql: string, ...parameters: (number | Uint8Array)[]): void {
    this.#database.prepare(sql).run(...parameters);
  }

  #damage(offset: number, expected: string, found: string): Damage {
    return { file: this.#file, offset, expected, found };
  }
}

function pointsOf({ bytes, firstMs, lastMs, count }: Row, kernels: Kernels): PointColumns {
  if (bytes === null) throw new DamagedBlock("the bytes of the block", "none");
  const points = decodeBlock(bytes, kernels);
  const { times } = points;
  if (times[0] !== firstMs || times.at(-1) !== lastMs || times.length !== count) {
    const found = `${times.length} from ${times[0]} to ${times.at(-1)}`;
    throw new DamagedBlock(`${count} points from ${firstMs} to ${lastMs} ms`, found);
  }
  return points;
}

function damageOf(error: unknown): DamagedBlock {
  if (error instanceof DamagedBlock) return error;
  throw error;
}

/** Whether the summaries are of all points. Fields that are rounded may differ. */
function areOfPoints(
  summaries: readonly Summary[],
  { times, values }: PointColumns,
  summariser: Summariser,
): boolean {
  let from = 0;
  for (const { count, firstMs, min, max } of summaries) {
    if (!(count > 0 && from + count <= times.length && firstMs === times[from])) return false;
    const expected = summariser.summarise(times, values as Float64Array, from, from + count);
    if (min !== expected.min || max !== expected.max) return false;
    from += count;
  }
  return from === times.length;
}

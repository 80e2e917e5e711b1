// The state that a shard stores as one row of its file (FORMAT.md, "Shards"), and the check that the table of
// blocks has exactly the rows that were written.
//
// SQLite has no checksums over its pages, and a flipped bit can hide a row from every search. Only the sum
// over all row checksums shows that a row is missing.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { Damage } from "../points.ts";
import { DamagedBlock } from "./block.ts";
import { addChecksum, type RowKeys, verifiedChecksum } from "./checksummed-row.ts";

/** Which shard of which store a file is. Both are 0 for a shard without a store, in tests. */
export interface ShardIdentity {
  readonly store: number;
  readonly shard: number;
}

export interface StoredShardState extends ShardIdentity {
  /** The sequence number up to which every change is in blocks: column `applied` of the file. */
  readonly flushedSequence: number;
  readonly points: number;
  readonly blocks: number;
  /** The sum of the checksums of all rows of blocks. */
  readonly rowChecksums: number;
}

const emptyShard = { flushedSequence: 0, points: 0, blocks: 0, rowChecksums: 0 };

/** Creates the table with the row of an empty shard. */
export const stateSchema = (identity: ShardIdentity) => `
  CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1), applied INTEGER NOT NULL, points INTEGER NOT NULL,
    blocks INTEGER NOT NULL, row_checksums INTEGER NOT NULL, store INTEGER NOT NULL, shard INTEGER NOT NULL,
    crc INTEGER NOT NULL
  );
  INSERT INTO state VALUES (1, ${stateValues({ ...emptyShard, ...identity })})
`;

export const readStateSql = `
  SELECT applied AS flushedSequence, points, blocks, row_checksums AS rowChecksums, store, shard, crc
  FROM state`;
export const writeStateSql = "INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?, ?, ?, ?, ?)";

/** The parameters of `writeStateSql`. */
export const stateValues = (state: StoredShardState): number[] => [...fieldsOf(state), checksumOf(state)];

/** The state in a row of `readStateSql`; undefined when it is missing or its checksum is wrong. */
export function stateOf(row: unknown): StoredShardState | undefined {
  if (row === undefined) return undefined;
  const { crc, ...state } = row as StoredShardState & { crc: number };
  return crc === checksumOf(state) ? state : undefined;
}

const fieldsOf = ({
  flushedSequence,
  points,
  blocks,
  rowChecksums,
  store,
  shard,
}: StoredShardState): number[] => [flushedSequence, points, blocks, rowChecksums, store, shard];

const checksumOf = (state: StoredShardState): number =>
  crc32(new Uint8Array(Float64Array.from(fieldsOf(state)).buffer));

/** Rows that are checked in one step of a few milliseconds. */
const rowsPerStep = 500;

type Row = RowKeys & { readonly header: Uint8Array };
type RowPosition = Pick<RowKeys, "series" | "kind" | "firstMs">;

/** Checks all rows step by step, while rows are added and removed in between. */
export class RowCheck {
  readonly #nextRows: StatementSync;
  /** The last row that was checked. */
  #position: RowPosition = { series: -Infinity, kind: 0, firstMs: 0 };
  #rows = 0;
  #rowChecksums = 0;
  #damagedRows = 0;

  constructor(database: DatabaseSync) {
    this.#nextRows = database.prepare(`
      SELECT series, kind, data_id AS id, first_ms AS firstMs, last_ms AS lastMs, count, header
      FROM block WHERE (series, kind, first_ms) > (?, ?, ?) ORDER BY series, kind, first_ms
      LIMIT ${rowsPerStep}`);
  }

  /** Call when a row was added (1) or removed (-1): corrects the sums if the check has already passed it. */
  adjust({ series, kind, firstMs }: RowPosition, checksum: number, by: 1 | -1): void {
    const position = this.#position;
    const order = series - position.series || kind - position.kind || firstMs - position.firstMs;
    if (order > 0) return;
    this.#rows += by;
    this.#rowChecksums = addChecksum(this.#rowChecksums, by * checksum);
  }

  /** Checks some more rows. Returns whether they were the last. */
  step(): boolean {
    let count = 0;
    const { series, kind, firstMs } = this.#position;
    for (const row of this.#nextRows.iterate(series, kind, firstMs)) {
      this.#checkRow(row as unknown as Row);
      count++;
    }
    return count < rowsPerStep;
  }

  #checkRow(row: Row): void {
    try {
      this.#rowChecksums = addChecksum(this.#rowChecksums, verifiedChecksum(row, row.header));
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      this.#damagedRows++;
    }
    this.#rows++;
    this.#position = row;
  }

  /** The damage found, after the last step. */
  damage({ blocks, rowChecksums }: StoredShardState, file: string): Damage | undefined {
    if (this.#rows === blocks && this.#rowChecksums === rowChecksums && this.#damagedRows === 0)
      return undefined;
    const expected = `${blocks} rows of blocks with the checksum sum ${rowChecksums}`;
    const found = `${this.#rows} with ${this.#rowChecksums}, ${this.#damagedRows} of them damaged`;
    return { file, offset: 0, expected, found };
  }
}

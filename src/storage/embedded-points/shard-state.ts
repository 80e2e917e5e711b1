// What a shard says of itself in one row of its file (FORMAT.md, "Shards"), and whether its table of blocks
// holds just the rows that this row speaks of.
//
// A flipped bit can hide a row from every search, and SQLite has no checksums over its pages; what is missing
// is found by nothing but the sum of all.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { Damage } from "../points.ts";
import { DamagedBlock } from "./block.ts";
import { addSeal, checkedSeal, type Place } from "./sealed-row.ts";

/** Which shard of which store a file is; 0 of store 0 where a shard is used alone. */
export interface ShardIdentity {
  readonly store: number;
  readonly shard: number;
}

export interface State extends ShardIdentity {
  /** The journal's sequence number up to which every change is in blocks. */
  readonly applied: number;
  readonly points: number;
  readonly blocks: number;
  /** The sum of the seals of all rows. */
  readonly seals: number;
}

/** The table, and the row of a shard without points. */
export const stateSchema = (identity: ShardIdentity) => `
  CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1), applied INTEGER NOT NULL, points INTEGER NOT NULL,
    blocks INTEGER NOT NULL, seals INTEGER NOT NULL, store INTEGER NOT NULL, shard INTEGER NOT NULL,
    crc INTEGER NOT NULL
  );
  INSERT INTO state VALUES (1, ${stateValues({ applied: 0, points: 0, blocks: 0, seals: 0, ...identity })})
`;

export const readStateSql = "SELECT applied, points, blocks, seals, store, shard, crc FROM state";
export const putStateSql = "INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?, ?, ?, ?, ?)";

/** What `putStateSql` takes. */
export const stateValues = (state: State): number[] => [...numbersOf(state), checksumOf(state)];

/** What the row says; undefined when it is not what was written. */
export function stateOf(row: unknown): State | undefined {
  if (row === undefined) return undefined;
  const { crc, ...state } = row as State & { crc: number };
  return crc === checksumOf(state) ? state : undefined;
}

const numbersOf = ({ applied, points, blocks, seals, store, shard }: State): number[] => [
  applied,
  points,
  blocks,
  seals,
  store,
  shard,
];

const checksumOf = (state: State): number =>
  crc32(new Uint8Array(Float64Array.from(numbersOf(state)).buffer));

/** Rows looked at in one go: some milliseconds. */
const rowsAtOnce = 500;

type Row = Place & { readonly sealed: Uint8Array };
type Key = Pick<Place, "series" | "kind" | "firstMs">;

/** Goes through all rows piece by piece, while others may come and go. */
export class RowCheck {
  readonly #next: StatementSync;
  #at: Key = { series: -Infinity, kind: 0, firstMs: 0 };
  #rows = 0;
  #seals = 0;
  #damaged = 0;

  constructor(database: DatabaseSync) {
    this.#next = database.prepare(`
      SELECT series, kind, data_id AS id, first_ms AS firstMs, last_ms AS lastMs, count, sealed
      FROM block WHERE (series, kind, first_ms) > (?, ?, ?) ORDER BY series, kind, first_ms
      LIMIT ${rowsAtOnce}`);
  }

  /** A row came, or with `by` -1 went: what has been passed already is put right. */
  note({ series, kind, firstMs }: Key, seal: number, by: 1 | -1): void {
    const at = this.#at;
    const order = series - at.series || kind - at.kind || firstMs - at.firstMs;
    if (order > 0) return;
    this.#rows += by;
    this.#seals = addSeal(this.#seals, by * seal);
  }

  /** Looks at some more rows; whether these were the last. */
  step(): boolean {
    let count = 0;
    for (const found of this.#next.iterate(this.#at.series, this.#at.kind, this.#at.firstMs)) {
      this.#look(found as unknown as Row);
      count++;
    }
    return count < rowsAtOnce;
  }

  #look(row: Row): void {
    try {
      this.#seals = addSeal(this.#seals, checkedSeal(row, row.sealed));
    } catch (why) {
      if (!(why instanceof DamagedBlock)) throw why;
      this.#damaged++;
    }
    this.#rows++;
    this.#at = row;
  }

  /** What is wrong when all rows have been looked at. */
  damage({ blocks, seals }: State, file: string): Damage | undefined {
    if (this.#rows === blocks && this.#seals === seals && this.#damaged === 0) return undefined;
    const found = `${this.#rows} with ${this.#seals}, ${this.#damaged} of them damaged`;
    return { file, offset: 0, expected: `${blocks} rows of blocks with the sum ${seals}`, found };
  }
}

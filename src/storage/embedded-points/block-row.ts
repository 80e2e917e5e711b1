// The row of a block in the table of blocks, verified (FORMAT.md, "Shards"), and the error for a damaged one.
import type { ValueKind } from "../point-columns.ts";
import type { SeriesId } from "../points.ts";
import { DamagedBlock } from "./block.ts";
import { decodeRow, type RowContent } from "./checksummed-row.ts";

export interface BlockBounds {
  readonly id: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

export interface BlockRow extends BlockBounds, RowContent {
  readonly checksum: number;
}

/** A row of the table, not yet verified. */
export type FoundRow = BlockBounds & { readonly header: Uint8Array };

/** The row of a statement that returns arrays, which take less time than objects. */
export function foundRowOf(row: unknown): FoundRow {
  const [id, firstMs, lastMs, count, header] = row as [number, number, number, number, Uint8Array];
  return { id, firstMs, lastMs, count, header };
}

/** Numbers and strings of one series are stored apart, as separate kinds. */
export interface PointSetKey {
  readonly series: SeriesId;
  readonly kind: ValueKind;
}

/** A block or its row is damaged. It must be quarantined before the operation is tried again. */
export class DamageFound extends Error {
  readonly key: PointSetKey;
  /** Without a checksum when the row itself is damaged. */
  readonly row: BlockBounds & { readonly checksum?: number };
  readonly damage: DamagedBlock;
  constructor(key: PointSetKey, row: DamageFound["row"], damage: DamagedBlock) {
    super(damage.message);
    this.name = "DamageFound";
    this.key = key;
    this.row = row;
    this.damage = damage;
  }
}

/** Verifies a row. Throws `DamageFound`. */
export function rowOf(key: PointSetKey, row: object): BlockRow;
export function rowOf(key: PointSetKey, row: object | undefined): BlockRow | undefined;
export function rowOf({ series, kind }: PointSetKey, row: object | undefined): BlockRow | undefined {
  if (row === undefined) return undefined;
  const { header, id, firstMs, lastMs, count } = row as FoundRow;
  return orDamageFound({ series, kind }, { id, firstMs, lastMs, count }, () => {
    const row = decodeRow({ series, kind, id, firstMs, lastMs, count }, header);
    return { id, firstMs, lastMs, count, ...row };
  });
}

/** Turns a `DamagedBlock` into a `DamageFound`. */
export function orDamageFound<Result>(key: PointSetKey, row: DamageFound["row"], read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof DamagedBlock ? new DamageFound(key, row, error) : error;
  }
}

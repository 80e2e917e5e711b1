// The profile of the columns of raw rows: types, empty values and different values.
import { cellText, typeOf, type ValueType } from "../../lib/exact-json.ts";
import type { RawRow } from "./raw-data.ts";

/** Further different values are not counted, so that a table of any length has a profile. */
export const distinctMax = 10_000;

interface ColumnCounts {
  readonly types: Map<ValueType, number>;
  readonly distinct: Set<string>;
  filled: number;
}

export interface ColumnProfile {
  readonly name: string;
  /** Types of the values, the most frequent one first. */
  readonly types: readonly ValueType[];
  readonly emptyCount: number;
  /** At most `distinctMax`: there are as many different values, or more. */
  readonly distinctCount: number;
  readonly example: string;
}

export class Profile {
  #rowCount = 0;
  readonly #columns = new Map<string, ColumnCounts>();

  get rowCount(): number {
    return this.#rowCount;
  }

  add(rows: readonly RawRow[]): this {
    this.#rowCount += rows.length;
    for (const { columns } of rows)
      for (const [name, value] of Object.entries(columns)) this.#count(name, value);
    return this;
  }

  columns(): ColumnProfile[] {
    return [...this.#columns].map(([name, { types, distinct, filled }]) => ({
      name,
      types: [...types].sort(([, a], [, b]) => b - a).map(([type]) => type),
      emptyCount: this.#rowCount - filled,
      distinctCount: distinct.size,
      example: [...distinct.values().take(3)].join(", "),
    }));
  }

  #count(name: string, value: unknown): void {
    const known = this.#columns.get(name) ?? { types: new Map(), distinct: new Set(), filled: 0 };
    this.#columns.set(name, known);
    const type = typeOf(value);
    if (type === "empty") return;
    known.filled += 1;
    known.types.set(type, (known.types.get(type) ?? 0) + 1);
    if (known.distinct.size < distinctMax) known.distinct.add(cellText(value));
  }
}

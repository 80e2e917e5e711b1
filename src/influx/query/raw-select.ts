// Reads the rows of a SELECT without functions: points of all fields of a group, merged by time.
import type { RequestContext } from "../../context.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { isAlways, passes, type ResultCell } from "./conditions.ts";
import type { Member } from "./members.ts";
import { latestPage, PointCursor, type PointsQuery, pagesOfPoints } from "./point-cursor.ts";
import { statementProblem } from "./problems.ts";
import type { ResultRows } from "./rows.ts";
import type { TagSet } from "./series-model.ts";

/** The value of a column in a row; `fieldOf` gives null for a field without a value there. */
export type RowValue = (fieldOf: (name: string) => ResultCell, tags: TagSet["tags"]) => ResultCell;

export interface RawColumn {
  readonly name: string;
  readonly value: RowValue;
  /** The field that the column shows unchanged. */
  readonly field?: string;
}

export interface RawQuery {
  readonly members: readonly Member[];
  readonly columns: readonly RawColumn[];
  /** The fields of the columns, first, and of the tests. */
  readonly fields: readonly string[];
  /** How many of the fields are of columns. A row without a value in these is none. */
  readonly shownFields: number;
  readonly range: TimeRange;
  readonly isDescending: boolean;
  readonly isLatest: boolean;
  /** The most rows that are needed. */
  readonly limit: number;
}

export async function* rawRows(ctx: RequestContext, query: RawQuery): AsyncGenerator<ResultRows> {
  const { members, fields, columns, isLatest } = query;
  const stored = members.flatMap(({ tagSet }, member) =>
    fields.flatMap((field, slot) =>
      (tagSet.fields.get(field) ?? []).map((series) => ({ series, member, slot })),
    ),
  );
  if (stored.length > limits.influxMergedSeriesMax)
    throw statementProblem(
      `rows of ${stored.length} series in one; at most ${limits.influxMergedSeriesMax}: use GROUP BY`,
    );
  const open = isLatest ? latestPage : pagesOfPoints;
  const pageSize = Math.ceil(
    Math.min(limits.influxPointsPerPage, 2 * query.limit, pointsMax / stored.length),
  );
  const pagesOf = ({ series }: Pick<PointsQuery, "series">) => {
    const longest = series.isString ? Math.min(pageSize, stringsPerPage) : pageSize;
    return open(ctx, { ...query, series, pageSize: longest });
  };
  const [only, ...others] = stored;
  const isPlain =
    only && others.length === 0 && columns.length === 1 && columns[0]!.field === fields[only.slot];
  if (isPlain && isAlways(members[only.member]!.test)) {
    for await (const { times, values } of pagesOf(only)) yield { times, columns: [values] };
    return;
  }
  const cursors = stored.map(({ series, member, slot }) => ({
    member,
    slot,
    cursor: new PointCursor(pagesOf({ series })),
  }));
  const merge = new RowMerge(query, cursors);
  while (!merge.isAtEnd) {
    await merge.refill();
    yield* await ctx.computing.step(ctx, () => merge.nextRows());
  }
}

/** The points of all pages of a group in memory. */
const pointsMax = 200_000;
const stringsPerPage = 250;
/** Of a step of about 2 ms. */
const comparisonsPerStep = 100_000;

interface FieldCursor {
  readonly member: number;
  readonly slot: number;
  readonly cursor: PointCursor;
}

/** Merges cursors to rows: one for each time and member, with the fields that have a value then. */
class RowMerge {
  readonly #query: RawQuery;
  readonly #slots: ReadonlyMap<string, number>;
  #cursors: readonly FieldCursor[];

  constructor(query: RawQuery, cursors: readonly FieldCursor[]) {
    this.#query = query;
    this.#slots = new Map(query.fields.map((field, slot) => [field, slot]));
    this.#cursors = cursors;
  }

  get isAtEnd(): boolean {
    return this.#cursors.length === 0;
  }

  /** Reads the pages that are needed, and drops the cursors at their end. */
  async refill(): Promise<void> {
    await Promise.all(
      this.#cursors.filter(({ cursor }) => cursor.needsPage).map(({ cursor }) => cursor.refill()),
    );
    this.#cursors = this.#cursors.filter(({ cursor }) => cursor.timeMs !== undefined);
  }

  /** Rows until a cursor needs a page. */
  nextRows(): ResultRows[] {
    const { columns } = this.#query;
    const times: number[] = [];
    const cells: ResultCell[][] = columns.map(() => []);
    const rowsMax = comparisonsPerStep / Math.max(1, this.#cursors.length);
    for (
      let count = 0;
      count < rowsMax && !this.#cursors.some(({ cursor }) => cursor.needsPage);
      count += 1
    ) {
      const first = this.#first();
      if (!first) break;
      const { timeMs, member, row } = first;
      if (!row.slice(0, this.#query.shownFields).some((value) => value !== undefined)) continue;
      const fieldOf = (name: string) => row[this.#slots.get(name) ?? -1] ?? null;
      const { tagSet, test } = this.#query.members[member]!;
      if (!isAlways(test) && !passes(test, fieldOf)) continue;
      const values = columns.map(({ value }) => value(fieldOf, tagSet.tags));
      times.push(timeMs);
      for (const [at, value] of values.entries()) cells[at]!.push(value);
    }
    return times.length === 0 ? [] : [{ times: Float64Array.from(times), columns: cells }];
  }

  /** Takes the next row from the cursors. */
  #first(): { readonly timeMs: number; readonly member: number; readonly row: ResultCell[] } | undefined {
    const sign = this.#query.isDescending ? -1 : 1;
    let [timeMs, member] = [Number.NaN, -1];
    for (const one of this.#cursors) {
      const atMs = one.cursor.timeMs;
      if (atMs === undefined) continue;
      const order = member < 0 ? -1 : (atMs - timeMs) * sign || one.member - member;
      if (order < 0) [timeMs, member] = [atMs, one.member];
    }
    if (member < 0) return undefined;
    const row: ResultCell[] = [];
    for (const one of this.#cursors) {
      if (one.member !== member || one.cursor.timeMs !== timeMs) continue;
      row[one.slot] = one.cursor.value;
      one.cursor.advance();
    }
    return { timeMs, member, row };
  }
}

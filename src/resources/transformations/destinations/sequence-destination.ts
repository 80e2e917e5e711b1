// The destination sequence rows: rows of one sequence, whose columns are named by their external ids.
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import type { RecordValues } from "../../../query/evaluate.ts";
import { equals } from "../../../query/filter.ts";
import { type Cell, cellOf, expectedBy, longIn } from "../../sequences/cells.ts";
import { deleteRows, rowsNumbered, writeRows } from "../../sequences/rows.ts";
import { listSequences, type Sequence, type SequenceColumn } from "../../sequences/sequences.ts";
import { actions } from "../schema.ts";
import { comparing } from "./compare.ts";
import { type ColumnType, type RecordDestination, unguarded } from "./destination.ts";

const key = "rowNumber";

/** Refuses (400) a sequence that does not exist or that the caller may not read. */
export async function sequenceDestination(
  ctx: RequestContext,
  externalId: string,
): Promise<RecordDestination> {
  const query = { filter: equals("externalId", externalId), page: { limit: 1 } };
  const [sequence] = (await listSequences(ctx, query)).items;
  if (!sequence) throw fail("transformation-sequence-unknown", { externalId });
  const named = columnsByName(sequence);
  const known = sequence.columns.flatMap((column) => column.externalId ?? []);
  const compare = comparing({ fixed: [], check: refuserOf(named), find: finderOf(sequence.id, named) });
  return {
    acl: "sequencesAcl",
    keys: [[key]],
    columns: Object.fromEntries([...known, key].map((name) => [name, cellTypes])),
    actions,
    keyOf: (values) => rowNumberIn(values[key])?.toString(),
    compare: (ctx, action, rows) =>
      compare(
        ctx,
        action,
        rows.map((row) => ({ ...row, values: cellsIn(named, row.values) })),
      ),
    async write(ctx, { creations, changes, deletions }) {
      const whole = [
        ...creations,
        ...changes.map(({ key, current, values }) => ({ key, values: { ...current, ...values } })),
      ];
      if (whole.length > 0) await writeRows(ctx, sequence.id, whole.map(storedBy(named)));
      const gone = deletions.map((row) => BigInt(row.key));
      if (gone.length > 0) await deleteRows(ctx, sequence.id, gone);
    },
    guard: unguarded,
  };
}

/** Numbers are not made strings: a column of strings refuses them. */
const cellTypes: readonly ColumnType[] = ["text", "number"];

type NamedColumns = ReadonlyMap<string, SequenceColumn>;

/** A column without an external id has a name that no query can return: its values are kept. */
const columnsByName = ({ columns }: Sequence): NamedColumns =>
  new Map(columns.map((column) => [column.externalId ?? `\0${column.id}`, column]));

/** A row number in its plain form, so that `1` and `1.0` are one row. */
function rowNumberIn(value: unknown): bigint | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const number = longIn(value);
  return number !== undefined && number >= 0n ? number : undefined;
}

/** The values as they are stored; values that are refused stay as they are. */
const cellsIn = (columns: NamedColumns, { [key]: _, ...values }: RecordValues): RecordValues =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value === null ? null : (cellOf(columns.get(name)!.valueType, value as Cell) ?? value),
    ]),
  );

const refuserOf =
  (columns: NamedColumns) =>
  (values: RecordValues): void => {
    for (const [name, value] of Object.entries(values)) {
      const { valueType } = columns.get(name)!;
      if (cellOf(valueType, value as Cell) !== undefined) continue;
      const got = JSON.stringify(value);
      throw fail("field-invalid", { field: name, expected: expectedBy[valueType], got });
    }
  };

/** The rows of these numbers, by number. */
const finderOf =
  (id: number, named: NamedColumns) =>
  async (ctx: RequestContext, keys: readonly string[]): Promise<ReadonlyMap<string, RecordValues>> => {
    const columns = [...named];
    const rows = await rowsNumbered(ctx, id, keys.map(BigInt));
    return new Map(
      rows.map(({ rowNumber, cells }) => {
        const values = columns.map(([name, { slot }]) => [name, cells[slot]] as const);
        return [`${BigInt(rowNumber)}`, Object.fromEntries(values.filter(([, cell]) => cell !== undefined))];
      }),
    );
  };

const storedBy =
  (named: NamedColumns) =>
  ({ key, values }: { readonly key: string; readonly values: RecordValues }, at: number) => ({
    rowNumber: BigInt(key),
    values: [...named].map(([name, { id: columnId }]) => ({
      columnId,
      value: (values[name] ?? null) as Cell | null,
    })),
    field: `items[${at}]`,
  });

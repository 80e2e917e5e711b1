// The destination raw: any columns. The first write creates the table.
import type { RequestContext } from "../../../context.ts";
import { Failure } from "../../../errors.ts";
import { parseJson } from "../../../lib/json.ts";
import { membersIn } from "../../../lib/json-text.ts";
import type { RecordValues } from "../../../query/evaluate.ts";
import { oneOf } from "../../../query/filter.ts";
import { mapInSlices } from "../../../query/map-in-slices.ts";
import { refuseLongColumns } from "../../raw/row-json.rest.ts";
import { deleteRows, listRows, putRows } from "../../raw/rows.ts";
import { actions } from "../schema.ts";
import { comparing } from "./compare.ts";
import { type RecordDestination, unguarded, WrittenJson } from "./destination.ts";
import { keyIn } from "./record-columns.rest.ts";

export function rawDestination(name: RawTableName): RecordDestination {
  /** The exact JSON of rows that were compared, for those that change. */
  const written = new WeakMap<RecordValues, string>();
  return {
    acl: "rawAcl",
    keys: [["key"]],
    columns: undefined,
    actions,
    keyOf: keyIn("key"),
    compare: comparing({
      fixed: [],
      check: ({ key: _, ...columns }) => void refuseLongColumns(columnsText(columns), 0),
      async find(ctx, keys) {
        const texts = await rowTexts(ctx, name, keys);
        const found = await mapInSlices([...texts], ([key, columns]) => {
          const current: RecordValues = { ...valuesIn(columns), key };
          written.set(current, columns);
          return [key, current] as const;
        });
        return new Map(found);
      },
    }),
    async write(ctx, { creations, changes, deletions }) {
      const whole = [
        ...(await mapInSlices(creations, ({ key, values }) => rawRowOf(key, values))),
        ...(await mapInSlices(changes, ({ key, current, values }) => ({
          ...{ key, columns: withColumns(written.get(current)!, values) },
        }))),
      ];
      if (whole.length > 0) await putRows(ctx, name, { rows: whole, ensureParent: true });
      const gone = deletions.map(({ key }) => key);
      if (gone.length > 0) await deleteRows(ctx, name, gone);
    },
    guard: unguarded,
  };
}

interface RawTableName {
  readonly database: string;
  readonly table: string;
}

/** The columns of the rows with these keys, as JSON. */
async function rowTexts(
  ctx: RequestContext,
  name: RawTableName,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const query = { filter: oneOf("key", keys), page: { limit: keys.length } };
  const { items } = await listRows(ctx, name, query).catch(withoutTable);
  return new Map(items.map(({ key, columns }) => [key, columns]));
}

/** The values of a row. Lists and objects stay as they are written. */
function valuesIn(columns: string): RecordValues {
  const values = parseJson(columns) as RecordValues;
  const isNested = (value: unknown) => typeof value === "object" && value !== null;
  if (!Object.values(values).some(isNested)) return values;
  const nested = membersIn(columns, columns.indexOf("{")).filter(({ name }) => isNested(values[name]));
  const written = nested.map(
    ({ name, valueStart, end }) => [name, new WrittenJson(columns.slice(valueStart, end))] as const,
  );
  return { ...values, ...Object.fromEntries(written) };
}

/** The object with other values. Members that do not change keep their exact text, such as `1.50`. */
function withColumns(text: string, values: RecordValues): string {
  const written = (column: string) => memberText(column, values[column]);
  const members = membersIn(text, text.indexOf("{"));
  const names = new Set(members.map((member) => member.name));
  const kept = members
    .filter((member) => values[member.name] !== null)
    .map((member) =>
      Object.hasOwn(values, member.name) ? written(member.name) : text.slice(member.start, member.end),
    );
  const added = Object.keys(values).filter((column) => !names.has(column) && values[column] !== null);
  return `{${[...kept, ...added.map(written)].join()}}`;
}

/** The table is created by the first write. */
function withoutTable(problem: unknown): { readonly items: readonly { key: string; columns: string }[] } {
  if (problem instanceof Failure && problem.status === 404) return { items: [] };
  throw problem;
}

function rawRowOf(key: string, { key: _, ...columns }: RecordValues) {
  const given = Object.entries(columns).filter(([, value]) => value !== null);
  return { key, columns: columnsText(Object.fromEntries(given)) };
}

const columnsText = (columns: RecordValues): string =>
  `{${Object.entries(columns)
    .map(([name, value]) => memberText(name, value))
    .join()}}`;

const memberText = (name: string, value: unknown): string =>
  `${JSON.stringify(name)}:${value instanceof WrittenJson ? value.text : JSON.stringify(value)}`;

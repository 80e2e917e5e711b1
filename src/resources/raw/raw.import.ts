// `millrace import raw`: rows of a file into a raw table.
import { ServerProblem } from "../../client/connection.ts";
import { Refused, textOf } from "../../import/record-items.ts";
import type { Loader, Prepared, RecordImport, RecordKind, Refuse } from "../../import/record-kind.ts";
import type { FileRecord } from "../../import/records.ts";

export const rawImport: RecordKind = {
  ...{ name: "raw", noun: "rows", needsTable: true },
  help: ["any columns; JSON values stay as they are written"],
  loader: (loading) => new RawLoader(loading),
};

/** Rows replace those of the same key, so that writing them again changes nothing. */
class RawLoader implements Loader {
  readonly isRepeated = false;
  readonly #loading: RecordImport;

  constructor(loading: RecordImport) {
    this.#loading = loading;
  }

  async prepareOne(record: FileRecord): Promise<Prepared> {
    return { line: record.line, item: rawRowOf(record, this.#loading.options.keyColumn) };
  }

  async load(batch: readonly Prepared[], refuse: Refuse): Promise<number> {
    const { connection, options } = this.#loading;
    if (options.dryRun || batch.length === 0) return batch.length;
    const [database, table] = [options.database, options.table].map(encodeURIComponent);
    const path = connection.pathOf(`raw/${database}/${table}/create?ensureParent=true`);
    try {
      await connection.json("POST", path, { body: `{"items":[${batch.map(({ item }) => item).join(",")}]}` });
      return batch.length;
    } catch (problem) {
      if (!(problem instanceof ServerProblem) || problem.status !== 400) throw problem;
      if (batch.length === 1) {
        refuse(batch[0]!, new Refused("", "", problem.message));
        return 0;
      }
      const half = Math.ceil(batch.length / 2);
      return (await this.load(batch.slice(0, half), refuse)) + (await this.load(batch.slice(half), refuse));
    }
  }
}

/**
 * A raw row as JSON text. Members of JSON stay as they are written: those of `columns` when there is nothing
 * but it beside the key, else all but the key.
 */
function rawRowOf({ fields, written }: FileRecord, keyColumn: string): string {
  const key = fields.get(keyColumn);
  if (key === undefined)
    throw new Refused(
      keyColumn,
      "",
      "missing: the row has no key; --key-column names the column with the keys",
    );
  const named = JSON.stringify(textOf(key));
  const rest = [...(written ?? [...fields].map(([name, value]) => [name, JSON.stringify(value)] as const))];
  const members = rest.filter(([name]) => name !== keyColumn);
  const only = members.length === 1 ? members[0] : undefined;
  const isWhole = written && only?.[0] === "columns" && only[1].startsWith("{");
  const columns = isWhole
    ? only[1]
    : `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
  return `{"key":${named},"columns":${columns}}`;
}

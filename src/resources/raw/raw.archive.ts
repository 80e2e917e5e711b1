// Raw databases, tables and rows in an archive: the columns of a row as the JSON text that was sent.
import { type ArchiveLine, id, list, object, optional, string, time } from "../../archive/checks.ts";
import { untilDeleted } from "../../archive/deleted.ts";
import { JsonLines } from "../../archive/json-lines.ts";
import type { ArchivePart, Exporting, LinesSection } from "../../archive/section.ts";
import type { Connection } from "../../client/connection.ts";
import { parseJson } from "../../lib/json.ts";
import { elementsIn, membersIn } from "../../lib/json-text.ts";
import { limits } from "../../limits.ts";

const raw: LinesSection = {
  ...{ kind: "lines", name: "raw", linesMax: limits.itemsPerWriteMax },
  check: (value, field) => {
    object({
      ...{ dbName: string, tableName: optional(string), key: optional(string), assetIds: optional(list(id)) },
    })(value, field);
    if ((value as ArchiveLine)["key"] !== undefined)
      object({ tableName: string, columns: string, lastUpdatedTime: time })(value, field);
  },
  together: ({ dbName, tableName, key }) => JSON.stringify([dbName, tableName, key === undefined]),
  restore: async (lines, { connection, references }) => {
    const { dbName, tableName, key, assetIds } = lines[0]!;
    const database = encodeURIComponent(String(dbName));
    const post = (path: string, body: string) =>
      connection.json("POST", connection.pathOf(path, "0.6"), { body });
    if (tableName === undefined) await post("raw/create", JSON.stringify({ items: [{ dbName }] }));
    else if (key === undefined)
      await post(
        `raw/${database}/create?ensureParent=true`,
        JSON.stringify({ items: [{ tableName, assetIds: references.ids("assets", assetIds) }] }),
      );
    else {
      const rows = lines.map(
        ({ key, columns, lastUpdatedTime }) =>
          `{"key":${JSON.stringify(key)},"columns":${columns},"lastUpdatedTime":${lastUpdatedTime}}`,
      );
      const path = `restore/raw/${database}/${encodeURIComponent(String(tableName))}`;
      await post(path, `{"items":[${rows.join(",")}]}`);
    }
    return {};
  },
};

export const rawArchive: ArchivePart = {
  sections: [raw],
  lists: ["raw"],
  tables: ["raw_databases", "raw_tables", "raw_rows"],
  export: exportRaw,
};

interface ListedTable {
  readonly tableName: string;
  readonly assetIds?: readonly number[];
}

/** Databases, tables and rows: each table after its database, each row after its table. */
async function exportRaw(exporting: Exporting): Promise<void> {
  const { connection } = exporting;
  const lines = new JsonLines(exporting, raw.name);
  const names = <Name>(path: string) =>
    connection.pages<Name>(connection.pathOf(path), { limit: String(limits.rawNamesMax) });
  for await (const databases of names<{ dbName: string }>("raw"))
    for (const { dbName } of databases) {
      await lines.add(JSON.stringify({ dbName }));
      const inDatabase = `raw/${encodeURIComponent(dbName)}`;
      for await (const tables of untilDeleted(names<ListedTable>(inDatabase)))
        for (const { tableName, assetIds } of tables) {
          const table = JSON.stringify({ dbName, tableName });
          await lines.add(JSON.stringify({ dbName, tableName, assetIds }));
          const path = connection.pathOf(`${inDatabase}/${encodeURIComponent(tableName)}`);
          for await (const row of untilDeleted(rawRows(connection, path)))
            await lines.add(`${table.slice(0, -1)},${row.slice(1)}`);
        }
    }
  await lines.flush();
}

/** Each row as one line: a line break between columns would be a new line, so that they become a string. */
async function* rawRows(connection: Connection, path: string): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const asked = new URLSearchParams({ limit: String(limits.rawRowsMax), ...(cursor && { cursor }) });
    const text = (await connection.bytes("GET", `${path}?${asked}`)).toString();
    const data = membersIn(text, 0).find(({ name }) => name === "data")!;
    const members = membersIn(text, data.valueStart);
    const items = members.find(({ name }) => name === "items")!;
    for (const { start } of elementsIn(text, items.valueStart)) {
      const written = membersIn(text, start).map(({ name, valueStart, end }) => {
        const value = text.slice(valueStart, end);
        return `"${name}":${name === "columns" ? JSON.stringify(value) : value}`;
      });
      yield `{${written.join(",")}}`;
    }
    const next = members.find(({ name }) => name === "nextCursor");
    cursor = next && (parseJson(text.slice(next.valueStart, next.end)) as string);
  } while (cursor !== undefined);
}

// Examines a catalog in PostgreSQL for `millrace doctor`, also while servers use it. It changes nothing.
import type { Client } from "pg";
import { limits } from "../../../../limits.ts";
import type { BlobKey } from "../../../blobs.ts";
import type { AnyTable } from "../../../catalog.ts";
import type { Finding } from "../../../findings.ts";
import { layoutVersion, metaTable } from "../../meta.ts";
import { projectColumn } from "../../tables.ts";
import { connectClient } from "./driver.ts";
import { postgresNameOf } from "./location.ts";
import { secretsTable } from "./schema.ts";

/** All tables, and the one of the projects. */
export interface ExaminedTables {
  readonly all: readonly AnyTable[];
  readonly projects: AnyTable;
}

type SizedBlob = BlobKey & { readonly bytes: number };

/** A connection that reads one catalog and writes nothing. */
export class ExaminedCatalog implements AsyncDisposable {
  readonly #client: Client;
  readonly #url: string;

  private constructor(client: Client, url: string) {
    this.#client = client;
    this.#url = url;
  }

  static async open(url: string): Promise<ExaminedCatalog> {
    const client = await connectClient(url);
    client.on("error", () => undefined);
    await client.query("set default_transaction_read_only = on");
    return new ExaminedCatalog(client, url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }

  /** The findings in the tables; if one is missing, the others are not examined. */
  async findings({ all, projects }: ExaminedTables): Promise<Finding[]> {
    const wrong = await this.#wrongSchema(all);
    if (wrong.length > 0) return wrong;
    const tables = all.filter(({ belongsTo }) => belongsTo === "project");
    const found = [...(await this.#invalidIndexes())];
    for (const table of tables) {
      found.push(...(await this.#withoutProject(table, projects)));
      for (const { column, to } of table.links ?? [])
        found.push(...(await this.#dangling(table, { column, to, ids: this.#idsOf(table, column) })));
      const path = table.tree?.path;
      if (path === undefined) continue;
      const ids = `string_to_array(trim(both '/' from t."${path}"), '/')::bigint[]`;
      found.push(...(await this.#dangling(table, { column: path, to: table.name, ids })));
    }
    return found;
  }

  /** The secret of the installation; undefined if no server has stored one. */
  async secret(): Promise<Uint8Array | undefined> {
    const text = `select value from ${secretsTable} where name = 'installation'`;
    const [row] = await this.#rows<{ value: string }>(text);
    return row && Buffer.from(row.value, "base64url");
  }

  /** The blobs that the records of these tables name, with their sizes. */
  async *namedBlobs(tables: readonly AnyTable[]): AsyncGenerator<SizedBlob> {
    for (const { name } of tables) {
      let after = -1;
      for (;;) {
        const rows = await this.#rows<SizedBlob>(
          `select ${projectColumn} as project, content as id, "contentBytes" as bytes from "${name}"
            where content > $1 order by content limit $2`,
          [after, limits.doctorRecordsAtOnce],
        );
        yield* rows;
        if (rows.length === 0) break;
        after = rows.at(-1)!.id;
      }
    }
  }

  /** Those of these ids that no record of any of the tables has. */
  async missingIds(tables: readonly AnyTable[], ids: readonly number[]): Promise<number[]> {
    const exists = tables.map(({ name }) => `exists (select from "${name}" t where t.id = one.id)`);
    const rows = await this.#rows<{ id: number }>(
      `select one.id from unnest($1::bigint[]) one(id) where not (${exists.join(" or ")})`,
      [ids],
    );
    return rows.map(({ id }) => id);
  }

  async #wrongSchema(all: readonly AnyTable[]): Promise<Finding[]> {
    const rows = await this.#rows<{ table: string; column: string }>(
      `select table_name as table, column_name as column from information_schema.columns
        where table_schema = current_schema()`,
    );
    const present = new Set(rows.map(({ table, column }) => `${table}.${column}`));
    const expected = [metaTable as AnyTable, ...all].flatMap(({ name, columns }) =>
      Object.keys(columns).map((column) => `${name}.${column}`),
    );
    const missing = expected.filter((name) => !present.has(name));
    if (missing.length > 0) {
      const more = missing.length > 1 ? ` and ${missing.length - 1} more` : "";
      return [this.#finding("the columns of this version", `no ${missing[0]}${more}`)];
    }
    const [layout] = await this.#rows<{ value: number }>(`select value from ${metaTable.name} where id = 1`);
    if (layout?.value === layoutVersion) return [];
    return [this.#finding(`layout ${layoutVersion}`, `layout ${layout?.value ?? "unknown"}`)];
  }

  async #invalidIndexes(): Promise<Finding[]> {
    const rows = await this.#rows<{ name: string }>(
      `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = current_schema() and not (i.indisvalid and i.indisready)`,
    );
    return rows.map(({ name }) => this.#finding(`a valid index ${name}`, "an invalid one (REINDEX)"));
  }

  async #withoutProject({ name }: AnyTable, projects: AnyTable): Promise<Finding[]> {
    const [row] = await this.#rows<{ count: number; first: number }>(
      `select count(*) as count, min(t.${projectColumn}) as first from "${name}" t
        where not exists (select from "${projects.name}" p where p.id = t.${projectColumn})`,
    );
    if (row!.count === 0) return [];
    const found = `${row!.count} records of other projects, such as ${row!.first}`;
    return [this.#finding(`records of existing projects in ${name}`, found)];
  }

  async #dangling(
    { name }: AnyTable,
    { column, to, ids }: { readonly column: string; readonly to: string; readonly ids: string },
  ): Promise<Finding[]> {
    const [row] = await this.#rows<{ count: number; first: number }>(
      `select count(distinct t.id) as count, min(t.id) as first from "${name}" t, unnest(${ids}) one(id)
        where t."${column}" is not null and not exists (
          select from "${to}" r where r.id = one.id and r.${projectColumn} = t.${projectColumn})`,
    );
    if (row!.count === 0) return [];
    const found = `${row!.count} records that refer to missing ones, such as ${row!.first}`;
    return [this.#finding(`references of ${name}.${column} to records of ${to}`, found)];
  }

  /** An array of the ids in a column. */
  #idsOf({ columns }: AnyTable, column: string): string {
    if (columns[column]!.type === "integer") return `array[t."${column}"]`;
    return `array(select value::bigint from json_array_elements_text(t."${column}"::json))`;
  }

  #finding(expected: string, found: string): Finding {
    return { file: `postgres://${postgresNameOf(this.#url)}`, offset: 0, expected, found };
  }

  async #rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(text, values)).rows;
  }
}

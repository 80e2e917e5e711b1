// A database whose driver the user brings: a module with the function `open` (docs/connectors.md).
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { UsageError } from "../../client/command.ts";
import { exactInteger } from "../integers.ts";
import type { SourceTableRow } from "../row-records.ts";
import { type DatabaseOptions, type PlantDatabase, type RowOrder, rowsPerRead } from "./database.ts";

/** A row: its values by the names of the columns. */
type DriverRow = Readonly<Record<string, unknown>>;

/** The object that the module opens. */
interface DriverDatabase {
  read(sql: string, order?: RowOrder): AsyncIterable<DriverRow> | Iterable<DriverRow>;
  close(): Promise<void> | void;
}

interface DriverModule {
  readonly open?: (options: DatabaseOptions) => Promise<DriverDatabase> | DriverDatabase;
}

export async function openByDriver(file: string, options: DatabaseOptions): Promise<PlantDatabase> {
  const { open } = await moduleIn(file);
  if (typeof open !== "function") throw new UsageError(`source.driver: ${file} exports no function open`);
  const database = await open(options);
  return {
    async check(sql) {
      for await (const row of database.read(sql)) {
        tableRow(row);
        return;
      }
    },
    discover: () => {
      throw new UsageError("source.driver: a database of a driver cannot be searched");
    },
    read: (sql, order) => readRows(database.read(sql, order)),
    close: async () => await database.close(),
  };
}

async function moduleIn(file: string): Promise<DriverModule> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as DriverModule;
  } catch (problem) {
    throw new UsageError(`source.driver: ${file} cannot be loaded: ${(problem as Error).message}`);
  }
}

async function* readRows(
  found: AsyncIterable<DriverRow> | Iterable<DriverRow>,
): AsyncGenerator<SourceTableRow[]> {
  let rows: SourceTableRow[] = [];
  for await (const row of found) {
    rows.push(tableRow(row));
    if (rows.length < rowsPerRead) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

function tableRow(row: DriverRow): SourceTableRow {
  const values = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainOf(value)]));
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, textOf(value)]));
  return { texts, values };
}

/** Converts a value for JSON: digits of an integer that is no exact double, ISO 8601, base64. */
function plainOf(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "bigint") {
    const exact = exactInteger(value);
    return typeof exact === "bigint" ? String(exact) : exact;
  }
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

function textOf(value: unknown): string | null {
  if (value === null) return null;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// The lines of a CSV or JSON lines file as records: the string of each member, its line, and why a
// line is no record.

import { UsageError } from "../client/command.ts";
import { parseJson, parsePairs } from "../lib/json.ts";
import { membersIn } from "../lib/json-text.ts";
import { LineTooLong, linesOf } from "../lib/lines.ts";
import { limits } from "../limits.ts";
import { startOfFile } from "./row.ts";
import { type CsvFile, rowsOf } from "./rows.ts";
import { TextFile, UnreadableFile } from "./text-file.ts";

export type Format = "csv" | "jsonl";

export interface FileRecord {
  /** The line of the file on which it ends, from 1. */
  readonly line: number;
  /** The bytes of the file up to and including it. */
  readonly endBytes: number;
  /** The header of CSV, or the members of the line, also those without a value. */
  readonly columns: readonly string[];
  /** By field: a string, or a list or an object of JSON; empty cells are absent. */
  readonly fields: ReadonlyMap<string, unknown>;
  /** The members by field as they are written, when it is JSON. */
  readonly written?: ReadonlyMap<string, string>;
  /** Why it is not a record at all. */
  readonly problem?: string;
}

export interface Reading extends CsvFile {
  readonly format: Format;
  /** The name of a column or member in a record; an empty string leaves it out. */
  readonly map: ReadonlyMap<string, string>;
}

/** The format by the name of the file. */
export function formatOf(file: string, given: string | undefined): Format {
  const word = given ?? /\.(csv|jsonl|ndjson)$/i.exec(file)?.[1]?.toLowerCase();
  if (word === "csv") return "csv";
  if (word === "jsonl" || word === "ndjson") return "jsonl";
  throw new UsageError("Say with --format what the file is: csv or jsonl");
}

/** Every record, in the order of the file; memory does not grow with it. */
export const recordsOf = (reading: Reading): AsyncGenerator<FileRecord> =>
  reading.format === "csv" ? fromCsv(reading) : fromJsonLines(reading);

async function* fromCsv({ map, ...csv }: Reading): AsyncGenerator<FileRecord> {
  let header: readonly string[] | undefined;
  for await (const { cells, line, endBytes } of rowsOf(csv, startOfFile)) {
    if (!header) {
      header = cells.map((name) => map.get(name) ?? name);
      continue;
    }
    const named = header.map((name, at) => [name, cells[at] ?? ""] as const);
    const fields = new Map(named.filter(([name, cell]) => name !== "" && cell !== ""));
    const problem = cells.length > header.length ? "more cells than the header has" : undefined;
    yield { line, endBytes, columns: header, fields, ...(problem && { problem }) };
  }
}

async function* fromJsonLines({ file, encoding, map }: Reading): AsyncGenerator<FileRecord> {
  const source = new TextFile(file, encoding);
  try {
    for await (const { text, line, endBytes } of linesOf(source.chunks(), limits.importLineBytesMax)) {
      const trimmed = text.replace(/^\ufeff/, "").trim();
      if (trimmed === "") continue;
      yield { line, endBytes: source.offsetOf(endBytes), ...fieldsIn(trimmed, map) };
    }
  } catch (problem) {
    if (!(problem instanceof LineTooLong)) throw problem;
    throw new UnreadableFile(`${file} cannot be read: ${problem.message}`);
  } finally {
    source.close();
  }
}

function fieldsIn(text: string, map: Reading["map"]): Omit<FileRecord, "line" | "endBytes"> {
  try {
    const value = parseJson(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("no object");
    const members = membersIn(text, 0).map(
      ({ name, valueStart, end }) => [map.get(name) ?? name, text.slice(valueStart, end)] as const,
    );
    const written = members.filter(([name, value]) => name !== "" && value !== "null");
    return {
      columns: members.map(([name]) => name),
      fields: new Map(written.map(([name, value]) => [name, fieldOf(name, value)])),
      written: new Map(written),
    };
  } catch (problem) {
    return { columns: [], fields: new Map(), problem: `not a JSON object: ${(problem as Error).message}` };
  }
}

/** Numbers and booleans become strings of their JSON text, in metadata too. */
const fieldOf = (name: string, written: string): unknown =>
  name === "metadata" ? parsePairs(written) : /^["[{]/.test(written) ? parseJson(written) : written;

// The mapping file: the series of each column of the data, read from JSON or CSV.
import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { UsageError } from "../client/command.ts";
import { parseJson, parseJsonWithPairs } from "../lib/json.ts";
import { membersIn } from "../lib/json-text.ts";
import { notUtf8At } from "../lib/utf8.ts";
import { type CommonMembers, commonMembers, commonNames, Refused } from "./record-items.ts";

/** The series of a column; absent members have their defaults. */
export interface Mapped extends CommonMembers {
  readonly name?: string;
  readonly unit?: string;
  readonly description?: string;
  readonly externalId?: string;
  /** The asset's id, or the names from its root to itself, joined by slashes. */
  readonly asset?: string;
  readonly isString?: boolean;
  readonly isStep?: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** By column header; `"skip"` leaves the column out. */
export type Mapping = ReadonlyMap<string, Mapped | "skip">;

export const noMapping: ReadonlyMap<string, Mapped | "skip"> = new Map();

/** Reads a mapping file; throws a UsageError that names the mistake in it. */
export function readMapping(file: string): Mapping {
  const text = contentOf(file);
  const entries = /^\s*\{/.test(text) ? fromJson(file, text) : fromCsv(file, text);
  return new Map(
    entries.map(([column, given]) => [column, isSkipped(given) ? "skip" : mappedOf(file, column, given)]),
  );
}

function contentOf(file: string): string {
  const bytes = bytesOf(file);
  const at = notUtf8At(bytes);
  if (at !== undefined) throw new UsageError(`The mapping ${file} is not utf-8 at byte ${at} (from 0)`);
  return bytes.toString().replace(/^\ufeff/, "");
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (problem) {
    throw new UsageError(`The mapping ${file} cannot be read: ${(problem as Error).message}`);
  }
}

type Given = Readonly<Record<string, unknown>> | null;

/** `{"column": {"name": ..., "unit": ..., "metadata": {...}}, "unwanted": null}` */
function fromJson(file: string, text: string): [string, Given][] {
  try {
    parseJson(text);
    return membersIn(text, text.indexOf("{")).map(({ name, valueStart, end }) => [
      name,
      parseJsonWithPairs(text.slice(valueStart, end), ["metadata"]) as Given,
    ]);
  } catch (problem) {
    throw new UsageError(`The mapping ${file} is not valid JSON: ${(problem as Error).message}`);
  }
}

/**
 * A header `column,name,unit,...`; `tag` is another name of `column`, `metadata.key` makes a metadata entry.
 */
function fromCsv(file: string, text: string): [string, Given][] {
  try {
    const rows = parse(text, { columns: true, skip_empty_lines: true, trim: true });
    return (rows as Record<string, string>[]).map((row) => {
      const column = row["column"] ?? row["tag"];
      if (!column) throw new Error("it needs a column named `column` (or `tag`) with a value on each line");
      const { column: _, tag: __, ...rest } = row;
      return [column, withMetadata(rest)];
    });
  } catch (problem) {
    throw new UsageError(`The mapping ${file} cannot be read as CSV: ${(problem as Error).message}`);
  }
}

function withMetadata(row: Readonly<Record<string, string>>): Record<string, unknown> {
  const filled = Object.entries(row).filter(([, value]) => value !== "");
  const metadata = filled.flatMap(([key, value]) =>
    key.startsWith("metadata.") ? [[key.slice("metadata.".length), value]] : [],
  );
  const plain = Object.fromEntries(filled.filter(([key]) => !key.startsWith("metadata.")));
  return metadata.length === 0 ? plain : { ...plain, metadata: Object.fromEntries(metadata) };
}

const isSkipped = (given: Given): given is null => given === null || truth(given["skip"]) === true;

const textMembers = ["name", "unit", "description", "asset", "externalId"] as const;
const flagMembers = ["isString", "isStep"] as const;

function mappedOf(file: string, column: string, given: Given): Mapped {
  const wrong = (what: string) => new UsageError(`The mapping ${file}, column ${column}: ${what}`);
  if (typeof given !== "object" || given === null) throw wrong("expected an object, or null to skip it");
  const allowed: readonly string[] = [...textMembers, ...flagMembers, ...commonNames, "metadata", "skip"];
  const stranger = Object.keys(given).find((member) => !allowed.includes(member));
  if (stranger) throw wrong(`${stranger} is not one of ${allowed.join(", ")}`);
  const mapped: Record<string, unknown> = { ...commonIn(given, wrong) };
  for (const member of textMembers) {
    const value = given[member];
    if (value !== undefined && value !== null) mapped[member] = String(value);
  }
  for (const member of flagMembers) {
    const value = truth(given[member]);
    if (value === "neither") throw wrong(`${member} is true or false, not ${String(given[member])}`);
    if (value !== undefined) mapped[member] = value;
  }
  const { metadata } = given;
  if (
    metadata !== undefined &&
    (typeof metadata !== "object" || metadata === null || Array.isArray(metadata))
  )
    throw wrong("metadata is an object of strings");
  if (metadata) {
    const nested = Object.entries(metadata).find(([, value]) => typeof value !== "string");
    if (nested) throw wrong(`metadata.${nested[0]} is an object or a list; metadata has single values`);
    mapped["metadata"] = metadata;
  }
  return mapped as Mapped;
}

function commonIn(given: object, wrong: (what: string) => UsageError): CommonMembers {
  const filled = Object.entries(given).filter(([, value]) => value !== null);
  try {
    return commonMembers(new Map(filled));
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    throw wrong(`${problem.field} is ${String(problem.value)}, ${problem.message}`);
  }
}

function truth(value: unknown): boolean | "neither" | undefined {
  if (value === undefined || value === null || typeof value === "boolean") return value ?? undefined;
  const word = String(value).toLowerCase();
  if (word === "true" || word === "1" || word === "yes") return true;
  return word === "false" || word === "0" || word === "no" || word === "" ? false : "neither";
}

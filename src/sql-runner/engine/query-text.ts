// The text of a query: table functions and `is_new` in it are replaced by SQL that SQLite has.
import { SqlFailure, type SqlTableName, type SqlValue } from "../sql-runner.ts";
import { type SqlToken, sameName, tokensOf } from "../tokens.ts";

/** The schema of the tables of records. */
export const recordsSchema = "millrace";

export const commitColumn = "commitNumber";

export interface QueryText {
  /** The query for SQLite. */
  readonly text: string;
  /** The tokens of the query as it was given. */
  readonly tokens: readonly SqlToken[];
  /** The table functions of the query, by their name in the schema of records. */
  readonly tableFunctions: ReadonlyMap<string, SqlTableName>;
  /** The names in `is_new(name)`. */
  readonly markNames: readonly string[];
}

interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const isWord = (token: SqlToken | undefined, word: string): boolean =>
  token?.kind === "word" && token.value.toUpperCase() === word;

export const isSymbol = (token: SqlToken | undefined, symbol: string): boolean =>
  token?.kind === "symbol" && token.value === symbol;

/** Refuses several statements, parameters, and arguments that are not literals. */
export function readQuery(sql: string): QueryText {
  const tokens = tokensOf(sql);
  refuseForeign(tokens);
  const replacements: Replacement[] = [];
  const tableFunctions = new Map<string, SqlTableName>();
  const markNames = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    if (!isSymbol(tokens[at + 1], "(") || token.kind === "string") continue;
    if (sameName(token.value, "is_new")) {
      const call = argumentsFrom(tokens, at + 1);
      markNames.add(nameOfMark(tokens, at));
      if (call?.length === 1)
        replacements.push({ start: call[0]!.end, end: call[0]!.end, text: `, ${commitColumn}` });
      continue;
    }
    const found = tableFunctionAt(tokens, at);
    if (!found) continue;
    tableFunctions.set(found.alias, found.name);
    replacements.push({
      ...{ start: found.start, end: found.end },
      text: `${recordsSchema}.${quoted(found.alias)}`,
    });
  }
  return { text: replaced(sql, replacements), tokens, tableFunctions, markNames: [...markNames] };
}

function refuseForeign(tokens: readonly SqlToken[]): void {
  if (!["SELECT", "WITH", "VALUES"].some((word) => isWord(tokens[0], word)))
    throw syntax("A query begins with SELECT, WITH or VALUES", 0);
  for (const [at, { kind, value, start }] of tokens.entries()) {
    if (kind !== "symbol") continue;
    if (value === ";" && at < tokens.length - 1) throw syntax("A query is one statement", start);
    if (["?", ":", "@", "$"].includes(value)) throw syntax("A query has no parameters", start);
  }
}

function nameOfMark(tokens: readonly SqlToken[], at: number): string {
  const name = tokens[at + 2];
  if (name?.kind === "string") return name.value;
  throw syntax("is_new takes its name as a string: is_new('orders')", tokens[at]!.start);
}

interface TableFunction {
  readonly alias: string;
  readonly name: SqlTableName;
  readonly start: number;
  readonly end: number;
}

/** A table function whose name is at this place. */
function tableFunctionAt(tokens: readonly SqlToken[], at: number): TableFunction | undefined {
  const isOfRecords = isSymbol(tokens[at - 1], ".") && sameName(tokens[at - 2]?.value ?? "", recordsSchema);
  const { value, start } = tokens[at]!;
  const isRawRows = !isSymbol(tokens[at - 1], ".") && sameName(value, "raw_rows");
  if (!isOfRecords && !isRawRows) return undefined;
  const literals = argumentsFrom(tokens, at + 1);
  if (!literals) throw syntax(`${value} takes strings, numbers and NULL, and no expressions`, start);
  const args = literals.map((token) => literalOf(token));
  const close = tokens.findIndex((token, index) => index > at && isSymbol(token, ")"));
  const alias = `${value}(${args.map((one) => JSON.stringify(one)).join(",")})`;
  const from = isOfRecords ? tokens[at - 2]!.start : start;
  const place = { alias, start: from, end: tokens[close]!.end };
  if (!isRawRows) return { ...place, name: { kind: "records", name: value.toLowerCase(), args } };
  const [database, table] = args;
  if (args.length !== 2 || typeof database !== "string" || typeof table !== "string")
    throw syntax("raw_rows takes the names of a database and a table: raw_rows('erp', 'orders')", start);
  return { ...place, name: { kind: "rows", database, table } };
}

const isLiteral = (token: SqlToken | undefined): boolean =>
  token?.kind === "string" || token?.kind === "number" || isWord(token, "NULL");

/** The literals in parentheses; undefined if there is anything else. */
function argumentsFrom(tokens: readonly SqlToken[], open: number): SqlToken[] | undefined {
  const found: SqlToken[] = [];
  if (isSymbol(tokens[open + 1], ")")) return found;
  for (let at = open + 1; ; at += 2) {
    const token = tokens[at];
    if (!isLiteral(token)) return undefined;
    found.push(token!);
    if (isSymbol(tokens[at + 1], ")")) return found;
    if (!isSymbol(tokens[at + 1], ",")) return undefined;
  }
}

const literalOf = ({ kind, value }: SqlToken): SqlValue =>
  kind === "number" ? Number(value) : kind === "word" ? null : value;

function replaced(sql: string, replacements: readonly Replacement[]): string {
  let text = "";
  let from = 0;
  for (const { start, end, text: by } of replacements) {
    text += sql.slice(from, start) + by;
    from = end;
  }
  return text + sql.slice(from);
}

export const syntax = (message: string, offset?: number): SqlFailure =>
  new SqlFailure({ kind: "syntax", message, ...(offset !== undefined && { offset }) });

// Allows a query to read staged tables and to call named functions, and nothing else.
import { constants } from "node:sqlite";
import { folded } from "../tokens.ts";

/** Functions of SQLite that depend on their arguments alone, and use memory in proportion to their result. */
const builtIn = `
  abs char coalesce concat concat_ws format glob hex ifnull iif if instr length like lower ltrim max min
  nullif octet_length printf quote replace round rtrim sign substr substring trim typeof unhex unicode
  unistr upper zeroblob likelihood likely unlikely soundex
  date time datetime julianday strftime unixepoch timediff current_date current_time current_timestamp
  acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi
  pow power radians sin sinh sqrt tan tanh trunc
  avg count group_concat string_agg sum total median percentile percentile_cont percentile_disc
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
  json json_array json_array_length json_error_position json_extract json_insert json_object json_patch
  json_pretty json_quote json_remove json_replace json_set json_type json_valid json_group_array
  json_group_object json_each json_tree -> ->>`;

const tableFunctions = ["json_each", "json_tree"] as const;

/** The columns of a table that the query reads. */
export interface TableUse {
  readonly schema: string;
  readonly table: string;
  readonly columns: Set<string>;
}

/** Notes the tables and functions that a query uses while it is prepared. */
export class Authorizer {
  readonly #allowed: ReadonlySet<string>;
  #isQuery = false;
  /** By schema and table. */
  tables = new Map<string, TableUse>();
  functions = new Set<string>();

  constructor(ownFunctions: Iterable<string>) {
    this.#allowed = new Set([...builtIn.trim().split(/\s+/), ...ownFunctions]);
  }

  /** Prepares the query; other statements are those of the engine itself. */
  prepare<Result>(prepare: () => Result): Result {
    this.#isQuery = true;
    this.tables = new Map();
    this.functions = new Set();
    try {
      return prepare();
    } finally {
      this.#isQuery = false;
    }
  }

  /** From now on all statements are those of the query. */
  lock(): void {
    this.#isQuery = true;
  }

  readonly decide = (
    action: number,
    first: string | null,
    second: string | null,
    schema: string | null,
  ): number => {
    if (!this.#isQuery) return constants.SQLITE_OK;
    const isAllowed = this.#allows(action, first, second, schema);
    return isAllowed ? constants.SQLITE_OK : constants.SQLITE_DENY;
  };

  #allows(action: number, first: string | null, second: string | null, schema: string | null): boolean {
    switch (action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return true;
      case constants.SQLITE_FUNCTION:
        return this.#allowsFunction(folded(second!));
      case constants.SQLITE_READ:
        return this.#allowsRead(first!, second!, schema);
      default:
        return false;
    }
  }

  #allowsFunction(name: string): boolean {
    this.functions.add(name);
    return this.#allowed.has(name);
  }

  /** A subquery has no schema. */
  #allowsRead(table: string, column: string, schema: string | null): boolean {
    if (schema === null || tableFunctions.some((name) => name === table)) return true;
    if (/^(sqlite|pragma)_/i.test(table)) return false;
    const key = JSON.stringify([folded(schema), folded(table)]);
    const use = this.tables.get(key) ?? { schema, table, columns: new Set() };
    this.tables.set(key, use);
    if (column !== "") use.columns.add(column);
    return true;
  }
}

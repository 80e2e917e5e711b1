// Errors of SQLite and of functions as problems of a query.
import { TimeFormatRefusal } from "../../lib/zone-clock.ts";
import type { QueryTask } from "../frames.ts";
import { type SqlBound, SqlFailure, type SqlProblem } from "../sql-runner.ts";
import { folded, tokensOf } from "../tokens.ts";

/** A function refuses its argument. */
export class FunctionRefusal extends Error {}

/** The result codes of SQLite that mean something here. */
const codes = { error: 1, memory: 7, disk: 13, tooBig: 18, forbidden: 23, io: 10 } as const;

export function problemOf(error: unknown, { sql, limits }: QueryTask): SqlProblem {
  if (error instanceof SqlFailure) return error.problem;
  const { message } = error as Error;
  if (error instanceof FunctionRefusal || error instanceof TimeFormatRefusal)
    return { kind: "value", message };
  const bound = (name: SqlBound, text: string): SqlProblem => ({
    ...{ kind: "bound", bound: name, limit: limits[name] },
    message: `${text} (limit: ${limits[name]} bytes)`,
  });
  // The low byte of an extended code is the code.
  switch (((error as { readonly errcode?: number }).errcode ?? 0) & 0xff) {
    case codes.memory:
      return bound("memoryBytes", "The query needs too much memory");
    case codes.disk:
    case codes.io:
      return bound("diskBytes", "The query needs too much space for temporary files");
    case codes.tooBig:
      return bound("valueBytes", "The query makes a string that is too long");
    case codes.forbidden:
      return { kind: "forbidden", message: `${message}: a query may only read its tables` };
    case codes.error:
      return { kind: isSyntax(message) ? "syntax" : "value", message, ...offsetOf(sql, message) };
  }
  if (/out of memory|Invalid string length|allocation/i.test(message))
    return bound("memoryBytes", "The query needs too much memory");
  return { kind: "value", message };
}

/** Errors of a prepared statement have other messages. */
const isSyntax = (message: string): boolean =>
  !/^(malformed JSON|bad JSON|JSON |integer overflow|LIKE or GLOB|unknown format)/i.test(message);

/** The place of the name in a message, if the query has it once. */
export function offsetOf(sql: string, message: string): { readonly offset?: number } {
  const name = /near "(.*)": syntax error$/s.exec(message)?.[1] ?? /: (?:.*\.)?([^.]+)$/s.exec(message)?.[1];
  if (name === undefined) return {};
  const found = tokensOf(sql).filter(({ value }) => folded(value) === folded(name));
  return found.length === 1 ? { offset: found[0]!.start } : {};
}

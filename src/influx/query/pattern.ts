// Regular expressions of queries, in the syntax of RE2 as in InfluxDB. A match takes time linear in the text.
import { RE2JS } from "re2js";
import { limits } from "../../limits.ts";
import type { NamePattern } from "./ast.ts";
import { queryProblem } from "./problems.ts";

export interface Matcher {
  readonly matches: (text: string) => boolean;
  /** The only strings that match; undefined if others can. */
  readonly only: readonly string[] | undefined;
}

export const matcherOf = (pattern: NamePattern): Matcher =>
  "name" in pattern
    ? { matches: (text) => text === pattern.name, only: [pattern.name] }
    : regexMatcher(pattern.source);

/** Refuses (400) a source that is not a regular expression. */
export function regexMatcher(source: string): Matcher {
  const only = stringsOf(source);
  if (only) {
    const all = new Set(only);
    return { matches: (text) => all.has(text), only };
  }
  const regex = compiled(source);
  return { matches: (text) => regex.matcher(text).find(), only: undefined };
}

/** The time of a match grows with the length of the text and with this size. */
function compiled(source: string): RE2JS {
  const counts = [...source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, from, to]) => Number(to || from) || 1);
  const size = source.length * counts.reduce((product, count) => product * count, 1);
  if (size > limits.influxqlRegexSizeMax)
    throw queryProblem(
      `a regular expression has a size of ${size}; at most ${limits.influxqlRegexSizeMax} is possible`,
    );
  try {
    return RE2JS.compile(source);
  } catch (problem) {
    throw queryProblem((problem as Error).message);
  }
}

/** One or more characters that stand for themselves, or `\` before one that would not. */
const plain = /^(?:[^\\.*+?()[\]{}|^$]|\\[^\w\s])+$/;

/** The strings of `^a$` and `^(a|b)$`, the form of variables with several values. */
function stringsOf(source: string): readonly string[] | undefined {
  const [, inner] = /^\^(.*)\$$/s.exec(source) ?? [];
  if (inner === undefined) return undefined;
  const [, listed] = /^\((?:\?:)?(.*)\)$/s.exec(inner) ?? [];
  const parts = listed === undefined ? [inner] : listed.split(/(?<!\\)\|/);
  return parts.every((part) => plain.test(part))
    ? parts.map((part) => part.replaceAll(/\\(.)/g, "$1"))
    : undefined;
}

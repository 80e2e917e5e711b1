// `regexp_extract` and `regexp_replace`, in the syntax of RE2: a match takes time linear in the text.
import { RE2JS } from "re2js";
import { LruCache } from "../../lib/lru-cache.ts";
import { FunctionRefusal } from "./problems.ts";
import type { Argument } from "./values.ts";

/** A query has few patterns, unless it makes them from rows. */
const patternsMax = 100;
const patternLengthMax = 1_000;

/** The group of the first match; group 0 is the whole match. Null if nothing matches. */
export const regexpExtract = withPatterns((compiled, text, group = 1) => {
  const matcher = compiled.matcher(text);
  if (!Number.isInteger(group) || Number(group) < 0 || Number(group) > matcher.groupCount())
    throw new FunctionRefusal(
      `The pattern of regexp_extract has the groups 0 to ${matcher.groupCount()}, and not ${group}`,
    );
  return matcher.find() ? matcher.group(Number(group)) : null;
});

/** Replaces all matches; `$1` is the first group. */
export const regexpReplace = withPatterns((compiled, text, by) => {
  if (by === null) return null;
  try {
    return compiled.matcher(text).replaceAll(String(by));
  } catch (problem) {
    throw new FunctionRefusal(`regexp_replace: ${(problem as Error).message}`);
  }
});

function withPatterns(apply: (compiled: RE2JS, text: string, last: Argument | undefined) => Argument) {
  const known = new LruCache<string, RE2JS>(patternsMax);
  const compile = (source: string): RE2JS => {
    const found = known.get(source);
    if (found) return found;
    if (source.length > patternLengthMax)
      throw new FunctionRefusal(`A regular expression has at most ${patternLengthMax} characters`);
    try {
      const compiled = RE2JS.compile(source);
      known.set(source, compiled);
      return compiled;
    } catch (problem) {
      throw new FunctionRefusal(`${(problem as Error).message}`);
    }
  };
  return (text: Argument = null, pattern: Argument = null, last?: Argument): Argument =>
    text === null || pattern === null ? null : apply(compile(String(pattern)), String(text), last);
}

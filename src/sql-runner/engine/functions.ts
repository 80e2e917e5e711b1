// The functions of queries beside those of SQLite (docs/transformations-sql.md#functions).
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { fromTimestamp, toTimestamp } from "../../lib/timestamp-format.ts";
import { plainForm } from "../../query/tags/similarity.ts";
import { getJsonObject, toMetadata } from "./json-functions.ts";
import { idFinder, type Names, tagMatcher } from "./name-functions.ts";
import { FunctionRefusal } from "./problems.ts";
import { regexpExtract, regexpReplace } from "./regexp-functions.ts";
import { tryCast } from "./try-cast.ts";
import type { Argument, Result } from "./values.ts";

interface Environment {
  readonly names: Names;
  readonly isNew: (name: string, commit: number | null) => boolean;
}

type Implementation = (...values: readonly Argument[]) => Result;

/** The least and the greatest number of arguments. */
interface Definition {
  readonly takes: readonly [number, number];
  readonly call: (environment: Environment) => Implementation;
}

const pure = (least: number, most: number, implementation: Implementation): Definition => ({
  takes: [least, most],
  call: () => implementation,
});

const argumentsMax = 100;

const definitions: Readonly<Record<string, Definition>> = {
  to_metadata: pure(1, argumentsMax, toMetadata),
  get_json_object: pure(2, 2, getJsonObject),
  try_cast: pure(2, 3, tryCast),
  to_timestamp: pure(1, 3, toTimestamp),
  from_timestamp: pure(2, 3, fromTimestamp),
  regexp_extract: pure(2, 3, regexpExtract),
  regexp_replace: pure(3, 3, regexpReplace),
  split: pure(2, 3, split),
  sha256: pure(1, 1, (text) =>
    text === null ? null : createHash("sha256").update(String(text)).digest("hex"),
  ),
  normalise_tag: pure(1, 1, (tag) => (tag === null ? null : plainForm(String(tag)))),
  asset_id: { takes: [1, 1], call: ({ names }) => idFinder(names.assets) },
  series_id: { takes: [1, 1], call: ({ names }) => idFinder(names.series) },
  match_tag: { takes: [1, 2], call: ({ names }) => tagMatcher(names.assets) },
  is_new: {
    takes: [2, 2],
    call:
      ({ isNew }) =>
      (name, commit) =>
        isNew(String(name), typeof commit === "number" ? commit : null) ? 1n : 0n,
  },
};

export const functionNames = Object.keys(definitions);

export function defineFunctions(db: DatabaseSync, environment: Environment): void {
  for (const [name, { takes, call }] of Object.entries(definitions)) {
    const [least, most] = takes;
    const implementation = call(environment);
    const checked = (...values: readonly unknown[]) => {
      if (values.length < least || values.length > most)
        throw new FunctionRefusal(
          `${name} takes ${least === most ? least : `${least} to ${most}`} arguments, not ${values.length}`,
        );
      const binary = values.findIndex((value) => value instanceof Uint8Array);
      if (binary >= 0) throw new FunctionRefusal(`Argument ${binary + 1} of ${name} is binary`);
      return implementation(...(values as Argument[]));
    };
    db.function(name, { deterministic: true, varargs: true }, checked);
  }
}

/** A JSON array of the parts, or the part of a number: 1 is the first, -1 the last. */
function split(text: Argument, separator: Argument, part?: Argument): Argument {
  if (text === null || separator === null || part === null) return null;
  if (separator === "") throw new FunctionRefusal("The separator of split is empty");
  const parts = String(text).split(String(separator));
  if (part === undefined) return JSON.stringify(parts);
  if (!Number.isInteger(part) || part === 0)
    throw new FunctionRefusal(`split takes the number of a part, from 1 or from -1, and not ${part}`);
  return parts.at(Number(part) > 0 ? Number(part) - 1 : Number(part)) ?? null;
}

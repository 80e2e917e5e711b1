// Decodes JSON bodies: from bytes to a value that conforms to its schema, or a refusal that names the field.
//
// `http/rest-routes.ts` makes a decoder for each route. For each body the decoder goes through these steps,
// and lets other requests run between slices of 10 ms:
//
// 1. `readJson` refuses bytes that are not UTF-8 (400). `lib/json-reader.ts` parses them within bounds (413),
//    omits null, and makes strings of all values in free-form pairs such as metadata (`pairs-paths.ts`).
// 2. In a PATCH, `patch.ts` replaces each new value by a change.
// 3. `body-check.ts` checks the value against the schema, one list element at a time. It removes members that
//    the schema does not name (`remove-unknown.ts`). `refusal.ts` names the wrong field (400).
//
// `parameters.ts` decodes paths and queries.
import type { TSchema } from "typebox";
import { type Failure, fail } from "../errors.ts";
import type { KeptNulls, PairsPath } from "../lib/json-members.ts";
import { type JsonBounds, JsonMalformed, JsonReader, JsonTooLarge } from "../lib/json-reader.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import { limits } from "../limits.ts";
import { bodyCheck } from "./body-check.ts";
import { keptNullsOf } from "./kept-nulls.ts";
import { pairsPathsOf } from "./pairs-paths.ts";
import { changesOfPatch } from "./patch.ts";
import type { BodyWork, JsonBody } from "./route.ts";
import { requireUtf8 } from "./text-body.ts";

interface BodyReading {
  /** "absent", the default, removes members that are `null`, except `keptNulls`. */
  readonly nulls?: "absent" | "kept" | undefined;
  /** These are options of `JsonReader`. */
  readonly keptText?: readonly string[];
  readonly refusedKey?: string;
  readonly keptNulls?: KeptNulls;
  readonly pairsPaths?: readonly PairsPath[];
  readonly work?: BodyWork | undefined;
}

export type BodyDecoder<Value = unknown> = (
  bytes: Buffer,
  options?: { readonly work?: BodyWork },
) => Promise<Value>;

/**
 * Creates the decoder of a JSON body. Numbers and booleans in metadata become strings of their JSON text; no
 * other value is coerced. Members that the schema does not name are removed. Members that are `null` count as
 * absent, unless their schema permits null or `nulls` is "kept"; no body counts as `{}`
 * (docs/reference/common.md#request-bodies).
 * `keptText` and `changes` are described at `JsonBody`.
 */
export function jsonDecoder<Value>(
  schema: TSchema,
  { nulls, keptText, changes }: Pick<JsonBody<TSchema>, "nulls" | "keptText" | "changes"> = {},
): BodyDecoder<Value> {
  const check = bodyCheck(changes ?? schema);
  let paths: { readonly pairsPaths: readonly PairsPath[]; readonly keptNulls: KeptNulls } | undefined;
  // A member `__proto__` could reach a prototype.
  const reading = { nulls, refusedKey: "__proto__", ...(keptText && { keptText }) };
  return async (bytes, { work } = {}) => {
    // Like the check, at the first request: a start has the decoders of all routes to make.
    paths ??= { pairsPaths: pairsPathsOf(schema), keptNulls: keptNullsOf(schema) };
    const value = await readJson(bytes, { ...reading, ...paths, work });
    const slice = new TimeSlice(limits.timeSliceMs);
    const checking = check(changes ? changesOfPatch(value) : value);
    let step = checking.next();
    for (; !step.done; step = checking.next()) if (slice.isOver()) await slice.next(work?.signal);
    return step.value as Value;
  };
}

/** Decoders by their body. The versions of a route share one, with the checks that it has compiled. */
export class JsonDecoders {
  readonly #known = new WeakMap<JsonBody<TSchema>, BodyDecoder>();

  of<Value>(body: JsonBody<TSchema>): BodyDecoder<Value> {
    const known = this.#known.get(body);
    if (known) return known as BodyDecoder<Value>;
    const decoder = jsonDecoder<Value>(body.schema, body);
    this.#known.set(body, decoder);
    return decoder;
  }
}

/**
 * Parses a body; an empty one counts as `{}`. Refuses a body that is not UTF-8 or not JSON (400), or has too
 * many values (413). Other requests run while a large body is parsed.
 */
export async function readJson(
  bytes: Buffer,
  { nulls = "absent", work, ...reading }: BodyReading,
): Promise<unknown> {
  if (bytes.length === 0) return {};
  requireUtf8(bytes);
  const reader = new JsonReader(bytes, { ...bodyBounds, ...reading, dropsNulls: nulls === "absent" });
  const slice = new TimeSlice(limits.timeSliceMs);
  try {
    while (!reader.read(limits.jsonStepBytes)) {
      await work?.reserve(reader.at + reader.count * limits.jsonValueBytes);
      if (slice.isOver()) await slice.next(work?.signal);
    }
  } catch (problem) {
    throw refusalOfJson(problem);
  }
  return reader.value;
}

const bodyBounds: JsonBounds = {
  values: limits.jsonValuesMax,
  levels: limits.jsonDepthMax,
  members: limits.jsonMembersMax,
  stringBytes: limits.jsonStringBytesMax,
  textBytes: limits.jsonTextBytesMax,
};

/** The names of the bounds in refusals. */
const units = {
  values: "values",
  members: "members in one object",
  stringBytes: "bytes in one string",
  textBytes: "bytes in one object of open data",
} as const;

function refusalOfJson(problem: unknown): Failure | unknown {
  if (problem instanceof JsonMalformed) return fail("body-not-json", { problem: problem.message });
  if (!(problem instanceof JsonTooLarge)) return problem;
  const { what } = problem;
  if (what === "levels")
    return fail("body-not-json", { problem: `it is nested deeper than ${bodyBounds.levels} levels` });
  return fail("json-too-large", { limit: bodyBounds[what], what: units[what] });
}

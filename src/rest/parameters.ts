// Decodes query and path parameters in every spelling of published clients
// (docs/reference/common.md#query-parameters).
import { type TSchema, Type } from "typebox";
import { fail } from "../errors.ts";
import { parseJson, parsePairs } from "../lib/json.ts";
import { shortened } from "../lib/text.ts";
import { limits } from "../limits.ts";

export interface Parameter<Value> {
  readonly schema: TSchema;
  readonly description: string;
  readonly required: boolean;
  /** `values` has each occurrence of the parameter, percent-decoded; empty if it is absent. */
  readonly decode: (values: readonly string[], field: string) => Value;
}

/** The decoded values of a set of parameters; optional ones may be absent. */
export type ParameterValues<Set extends Readonly<Record<string, Parameter<unknown>>>> = {
  readonly [Name in keyof Set]: Set[Name] extends Parameter<infer Value> ? Value : never;
};

type Optional<Value> = Parameter<Value | undefined>;

const optional = <Value>(
  description: string,
  schema: TSchema,
  decode: (raw: string, field: string) => Value,
): Optional<Value> => ({
  schema,
  description,
  required: false,
  decode: (values, field) => {
    const last = values.at(-1);
    return last === undefined || last === "" ? undefined : decode(last, field);
  },
});

/** The same parameter, refused when absent. */
export const required = <Value>(parameter: Optional<Value>): Parameter<Value> => ({
  ...parameter,
  required: true,
  decode: (values, field) => {
    const value = parameter.decode(values, field);
    if (value === undefined) throw fail("fields-missing", { fields: [field] });
    return value;
  },
});

export const text = (description: string): Optional<string> =>
  optional(description, Type.String(), (raw) => raw);

/** Digits, also with the fraction that Python adds to whole floats. */
const decimal = /^[+-]?\d+(\.0*)?$/;

/** A whole number within inclusive bounds; `3.0` counts as 3. */
export function integer(description: string, bounds: { min?: number; max?: number } = {}): Optional<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = bounds;
  const expected =
    bounds.max !== undefined
      ? `an integer from ${min} to ${max}`
      : bounds.min !== undefined
        ? `an integer of at least ${min}`
        : "an integer";
  return optional(
    description,
    Type.Integer({ ...(bounds.min !== undefined && { minimum: min }) }),
    (raw, field) => {
      const value = Number(raw);
      if (!decimal.test(raw) || !Number.isSafeInteger(value) || value < min || value > max)
        throw fail("field-invalid", {
          field,
          expected: bounds.max === undefined && value > max ? `an integer of at most ${max}` : expected,
          got: raw,
        });
      return value;
    },
  );
}

/** A page size. Larger ones are lowered to the maximum, because published clients send 100,000. */
export function pageSize(bounds: { byDefault: number; max: number }): Parameter<number> {
  const inner = integer(`Items in the response; ${bounds.byDefault} when absent, at most ${bounds.max}`, {
    min: 0,
  });
  return {
    ...inner,
    schema: Type.Integer({ minimum: 0, default: bounds.byDefault }),
    decode: (values, field) =>
      values.length === 0
        ? bounds.byDefault
        : Math.min(inner.decode(values, field) ?? bounds.byDefault, bounds.max),
  };
}

/** `true` and `false` in any capitalisation (Python sends `True`). */
export const boolean = (description: string): Optional<boolean> =>
  optional(description, Type.Boolean(), (raw, field) => {
    const word = raw.toLowerCase();
    if (word !== "true" && word !== "false")
      throw fail("field-invalid", { field, expected: "true or false", got: raw });
    return word === "true";
  });

/** One of several words in any capitalisation; the value has the declared spelling. */
export const oneOfWords = <Word extends string>(
  description: string,
  allowed: readonly Word[],
): Optional<Word> =>
  optional(description, Type.Enum([...allowed]), (raw, field) => {
    const word = allowed.find((each) => each.toLowerCase() === raw.toLowerCase());
    if (!word) throw fail("field-invalid", { field, expected: `one of ${allowed.join(", ")}`, got: raw });
    return word;
  });

/** A record's id in a path. */
export const id = (description: string): Parameter<number> => required(integer(description, { min: 1 }));

/** Ids as `[1,2]`, `[1, 2]`, `["1"]`, repeated parameters or a bare number; an empty list is no condition. */
export function idList(description: string): Optional<readonly number[]> {
  return {
    schema: Type.String({ examples: ["[123,456]"] }),
    description: `${description}; a JSON array, repeated parameters or one id`,
    required: false,
    decode: (values, field) => {
      const ids = values.filter((value) => value !== "").flatMap((value) => idsIn(value, field));
      return ids.length === 0 ? undefined : ids;
    },
  };
}

function idsIn(raw: string, field: string): number[] {
  const wrong = () => fail("field-invalid", { field, expected: "ids such as [123,456]", got: raw });
  const parsed = jsonOrNothing(raw);
  const list = Array.isArray(parsed) ? parsed : [parsed];
  return list.map((item) => {
    const isIdLike = typeof item === "number" || (typeof item === "string" && item !== "");
    const id = isIdLike ? Number(item) : Number.NaN;
    if (!Number.isSafeInteger(id)) throw wrong();
    return id;
  });
}

/**
 * Strings as a JSON array, as repeated parameters, or one plain string; an empty list is no condition.
 * Refuses more than `max`.
 */
export function textList(description: string, max: number): Optional<readonly string[]> {
  return {
    schema: Type.String({ examples: ['["a","b"]'] }),
    description: `${description}; a JSON array, repeated parameters or one string`,
    required: false,
    decode: (values, field) => {
      const strings = values.filter((value) => value !== "").flatMap((value) => stringsIn(value, field));
      if (strings.length > max) throw fail("too-many", { field, limit: max, got: strings.length });
      return strings.length === 0 ? undefined : strings;
    },
  };
}

function stringsIn(raw: string, field: string): readonly string[] {
  const parsed = jsonOrNothing(raw);
  if (!Array.isArray(parsed)) return [raw];
  const isString = (item: unknown): item is string => typeof item === "string";
  if (parsed.every(isString)) return parsed;
  throw fail("field-invalid", { field, expected: 'strings such as ["a","b"]', got: raw });
}

function jsonOrNothing(raw: string, parse: (text: string) => unknown = parseJson): unknown {
  try {
    return parse(raw);
  } catch {
    return undefined;
  }
}

/**
 * Pairs as JSON or as a printed Python dict; otherwise `"unreadable"`. Numbers and booleans become their JSON
 * text, as in the metadata of records, and null counts as absent. Refuses nested values, and more pairs than
 * a record can have.
 */
export const metadata = (description: string): Optional<Readonly<Record<string, string>> | "unreadable"> =>
  optional(description, Type.String({ examples: ['{"key":"value"}'] }), (raw, field) => {
    const parsed = jsonOrNothing(raw, parsePairs) ?? jsonOrNothing(pythonDictAsJson(raw), parsePairs);
    if (raw.trim() === "null") return undefined;
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return "unreadable";
    const pairs = Object.entries(parsed);
    if (pairs.length > limits.metadataPairsMax)
      throw fail("too-many", { field, limit: limits.metadataPairsMax, got: pairs.length });
    const nested = pairs.find(([, value]) => typeof value !== "string");
    if (nested) {
      const got = Array.isArray(nested[1]) ? "array" : "object";
      throw fail("field-invalid", { field: `${field}.${shortened(nested[0])}`, expected: "string", got });
    }
    return Object.fromEntries(pairs);
  });

/** Python quotes a string that contains `'` with `"`, others with `'`; it has more escapes than JSON. */
function pythonDictAsJson(raw: string): string {
  return raw.replace(
    /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\b(?:True|False|None)\b/gs,
    (token, double: string | undefined, single: string | undefined) =>
      pythonWords.get(token) ??
      `"${(double ?? single!).replace(/\\x(..)|\\'|(?<!\\)"|\\./gs, asJsonEscape)}"`,
  );
}

const pythonWords: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
]);

function asJsonEscape(pythonEscape: string, hex: string | undefined): string {
  if (hex !== undefined) return `\\u00${hex}`;
  if (pythonEscape === "\\'") return "'";
  return pythonEscape === '"' ? '\\"' : pythonEscape;
}

/** Decodes each declared parameter; ignores unknown ones, because published clients send some. */
export function parametersDecoder(declared: Readonly<Record<string, Parameter<unknown>>>) {
  const parameters = Object.entries(declared);
  return (raw: Readonly<Record<string, string | readonly string[] | undefined>>): Record<string, unknown> => {
    const values: Record<string, unknown> = {};
    for (const [name, parameter] of parameters) {
      const value = raw[name];
      const occurrences = value === undefined ? [] : typeof value === "string" ? [value] : value;
      if (occurrences.length === 0 && parameter.required) throw fail("fields-missing", { fields: [name] });
      values[name] = parameter.decode(occurrences, name);
    }
    return values;
  };
}

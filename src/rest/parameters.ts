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
  /** `sent` holds each occurrence of the parameter, percent-decoded; empty when it is absent. */
  readonly decode: (sent: readonly string[], field: string) => Value;
}

/** The decoded values of a set of parameters; optional ones may be absent. */
export type ParameterValues<Set extends Readonly<Record<string, Parameter<unknown>>>> = {
  readonly [Name in keyof Set]: Set[Name] extends Parameter<infer Value> ? Value : never;
};

type Optional<Value> = Parameter<Value | undefined>;

const optional = <Value>(
  description: string,
  schema: TSchema,
  decode: (sent: string, field: string) => Value,
): Optional<Value> => ({
  schema,
  description,
  required: false,
  decode: (sent, field) => {
    const last = sent.at(-1);
    return last === undefined || last === "" ? undefined : decode(last, field);
  },
});

/** The same parameter, refused when absent. */
export const required = <Value>(parameter: Optional<Value>): Parameter<Value> => ({
  ...parameter,
  required: true,
  decode: (sent, field) => {
    const value = parameter.decode(sent, field);
    if (value === undefined) throw fail("fields-missing", { fields: [field] });
    return value;
  },
});

export const text = (description: string): Optional<string> =>
  optional(description, Type.String(), (sent) => sent);

/** Digits; also as Python prints a whole float. */
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
    (sent, field) => {
      const value = Number(sent);
      if (!decimal.test(sent) || !Number.isSafeInteger(value) || value < min || value > max)
        throw fail("field-invalid", {
          field,
          expected: bounds.max === undefined && value > max ? `an integer of at most ${max}` : expected,
          got: sent,
        });
      return value;
    },
  );
}

/** A page size; a larger one is lowered to the maximum, because published clients send 100,000. */
export function pageSize(bounds: { byDefault: number; max: number }): Parameter<number> {
  const inner = integer(`Items in the answer; ${bounds.byDefault} when absent, at most ${bounds.max}`, {
    min: 0,
  });
  return {
    ...inner,
    schema: Type.Integer({ minimum: 0, default: bounds.byDefault }),
    decode: (sent, field) =>
      sent.length === 0
        ? bounds.byDefault
        : Math.min(inner.decode(sent, field) ?? bounds.byDefault, bounds.max),
  };
}

/** `true` and `false` in any capitalisation (Python sends `True`). */
export const boolean = (description: string): Optional<boolean> =>
  optional(description, Type.Boolean(), (sent, field) => {
    const word = sent.toLowerCase();
    if (word !== "true" && word !== "false")
      throw fail("field-invalid", { field, expected: "true or false", got: sent });
    return word === "true";
  });

/** One of some words in any capitalisation, answered in the spelling declared here. */
export const oneOfWords = <Word extends string>(
  description: string,
  allowed: readonly Word[],
): Optional<Word> =>
  optional(description, Type.Enum([...allowed]), (sent, field) => {
    const found = allowed.find((word) => word.toLowerCase() === sent.toLowerCase());
    if (!found) throw fail("field-invalid", { field, expected: `one of ${allowed.join(", ")}`, got: sent });
    return found;
  });

/** A record's id in a path. */
export const id = (description: string): Parameter<number> => required(integer(description, { min: 1 }));

/** Ids as `[1,2]`, `[1, 2]`, `["1"]`, repeated parameters or a bare number; an empty list is no condition. */
export function idList(description: string): Optional<readonly number[]> {
  return {
    schema: Type.String({ examples: ["[123,456]"] }),
    description: `${description}; a JSON array, repeated parameters or one id`,
    required: false,
    decode: (sent, field) => {
      const ids = sent.filter((one) => one !== "").flatMap((one) => idsIn(one, field));
      return ids.length === 0 ? undefined : ids;
    },
  };
}

function idsIn(sent: string, field: string): number[] {
  const wrong = () => fail("field-invalid", { field, expected: "ids such as [123,456]", got: sent });
  const parsed = jsonOrNothing(sent);
  const list = Array.isArray(parsed) ? parsed : [parsed];
  return list.map((one) => {
    const value =
      typeof one === "number" || (typeof one === "string" && one !== "") ? Number(one) : Number.NaN;
    if (!Number.isSafeInteger(value)) throw wrong();
    return value;
  });
}

/**
 * Strings as a JSON array, as repeated parameters, or one as it is; an empty list is no condition. Refuses
 * more than `max`.
 */
export function textList(description: string, max: number): Optional<readonly string[]> {
  return {
    schema: Type.String({ examples: ['["a","b"]'] }),
    description: `${description}; a JSON array, repeated parameters or one string`,
    required: false,
    decode: (sent, field) => {
      const texts = sent.filter((one) => one !== "").flatMap((one) => textsIn(one, field));
      if (texts.length > max) throw fail("too-many", { field, limit: max, got: texts.length });
      return texts.length === 0 ? undefined : texts;
    },
  };
}

function textsIn(sent: string, field: string): readonly string[] {
  const parsed = jsonOrNothing(sent);
  if (!Array.isArray(parsed)) return [sent];
  const isText = (one: unknown): one is string => typeof one === "string";
  if (parsed.every(isText)) return parsed;
  throw fail("field-invalid", { field, expected: 'strings such as ["a","b"]', got: sent });
}

function jsonOrNothing(sent: string, parse: (text: string) => unknown = parseJson): unknown {
  try {
    return parse(sent);
  } catch {
    return undefined;
  }
}

/**
 * Pairs as JSON, or as Python prints a dict; `"unreadable"` when neither. Numbers and booleans become their
 * JSON text, as in the metadata of records, and null is absent. Refuses nested values, and more pairs than a
 * record can have.
 */
export const metadata = (description: string): Optional<Readonly<Record<string, string>> | "unreadable"> =>
  optional(description, Type.String({ examples: ['{"key":"value"}'] }), (sent, field) => {
    const parsed = jsonOrNothing(sent, parsePairs) ?? jsonOrNothing(pythonDictAsJson(sent), parsePairs);
    if (sent.trim() === "null") return undefined;
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

/** Python quotes a text with `"` when it holds `'`, else with `'`; its escapes are those of JSON and more. */
function pythonDictAsJson(sent: string): string {
  return sent.replace(
    /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\b(?:True|False|None)\b/gs,
    (found, double: string | undefined, single: string | undefined) =>
      pythonWords.get(found) ??
      `"${(double ?? single!).replace(/\\x(..)|\\'|(?<!\\)"|\\./gs, asJsonEscape)}"`,
  );
}

const pythonWords: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
]);

function asJsonEscape(found: string, hex: string | undefined): string {
  if (hex !== undefined) return `\\u00${hex}`;
  if (found === "\\'") return "'";
  return found === '"' ? '\\"' : found;
}

/** Decodes each declared parameter; ignores unknown ones, because published clients send some. */
export function parametersDecoder(declared: Readonly<Record<string, Parameter<unknown>>>) {
  const parameters = Object.entries(declared);
  return (
    sent: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): Record<string, unknown> => {
    const values: Record<string, unknown> = {};
    for (const [name, parameter] of parameters) {
      const found = sent[name];
      const occurrences = found === undefined ? [] : typeof found === "string" ? [found] : found;
      if (occurrences.length === 0 && parameter.required) throw fail("fields-missing", { fields: [name] });
      values[name] = parameter.decode(occurrences, name);
    }
    return values;
  };
}

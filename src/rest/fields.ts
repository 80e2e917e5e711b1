// The members that request bodies of several resources share: texts, metadata, ids, and changes to a member.
import { type TSchema, Type } from "typebox";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

/** Stores hold neither U+0000 nor half a surrogate pair, so neither comes in. */
export const storable = "^[^\\u0000\\ud800-\\udfff]*$";

/** An id as a string of digits; some clients send them so. */
export const idDigits = "^[1-9][0-9]{0,15}$";

export const rowNumberDigits = "^[0-9]{1,19}$";

/** A Python package, by its import name or its distribution name. */
export const packageName = "^[A-Za-z_][A-Za-z0-9_-]*$";

export const seriesAlias = "^[a-z]([a-z0-9_]{0,48}[a-z0-9])?$";

/** Callers of the older form of a data spec choose any name that a file can have. */
export const fileAlias = "^[\\w-][\\w .-]{0,127}$";

/** The words for each pattern of a body: a refusal shows no regular expression. */
export const patternWords: Readonly<Record<string, string>> = {
  [storable]: "text without U+0000 and halves of characters",
  [idDigits]: "an id in digits, not above 9007199254740991",
  [rowNumberDigits]: "an integer of 0 to 9223372036854775807 in digits",
  [packageName]: "ASCII letters, digits, _ and -, with a letter or _ first",
  [seriesAlias]: "1 to 50 lower-case letters, digits and _, with a letter first and no _ last",
  [fileAlias]: "1 to 128 letters, digits, blanks and the characters _ . -, without a blank or dot first",
};

/** A text as long as a description may be. */
export const textField = (description: string, bounds: { min?: number; max?: number } = {}) =>
  Type.String({
    description,
    pattern: storable,
    maxLength: bounds.max ?? limits.textLengthMax,
    ...(bounds.min !== undefined && { minLength: bounds.min }),
  });

export const nameField = (description: string) =>
  textField(description, { min: 1, max: limits.nameLengthMax });

export const idField = (description: string) =>
  Type.Integer({ description, minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** A time that a record has. */
export const timeField = (description: string) =>
  Type.Integer({
    description: `${description}, in ms since 1970`,
    minimum: limits.timeMsMin,
    maximum: limits.timeMsMax,
  });

type Metadata = Readonly<Record<string, string>>;

/**
 * Strings by string keys. The decoder of a body makes strings of numbers and booleans (`text-places.ts`).
 * `Type.Record` would let keys with line breaks pass unchecked.
 */
export const metadataField = (description: string) =>
  Type.Refine(
    Type.Unsafe<Metadata>({
      description: `${description}; at most ${limits.metadataLengthMax} characters in all`,
      type: "object",
      maxProperties: limits.metadataPairsMax,
      propertyNames: { type: "string", pattern: storable, maxLength: limits.metadataKeyLengthMax },
      additionalProperties: textField("A value; of a number or a boolean, its JSON text", {
        max: limits.metadataLengthMax,
      }),
    }),
    (metadata) => lengthOf(metadata) <= limits.metadataLengthMax,
    () => `holds at most ${limits.metadataLengthMax} characters in its keys and values together`,
  );

/** So that a page of records always fits into memory. */
const lengthOf = (metadata: Metadata): number =>
  Object.entries(metadata).reduce((sum, [key, value]) => sum + key.length + value.length, 0);

/** `{"items":[...]}`, as nearly every body is. */
export const itemsBody = <Item extends TSchema>(item: Item, bounds: { min?: number; max?: number } = {}) =>
  Type.Object({
    items: Type.Array(item, {
      maxItems: bounds.max ?? limits.itemsPerWriteMax,
      minItems: bounds.min ?? 0,
    }),
  });

/** A JSON body whose nulls count as absent. */
export const json = <Schema>(schema: Schema, size: { readonly bytesMax?: number } = {}) =>
  ({ kind: "json", schema, ...size }) as const;

/** The body of an operation that writes many records, rows or points. */
export const bulk = { bytesMax: limits.bulkBodyBytesMax } as const;

/** The body of operations on records that it names by their ids. */
export const idsBody = (which: string, bounds: { max?: number } = {}) =>
  json(itemsBody(idField(which), { min: 1, ...bounds }));

/** An object of an update: an unknown member is refused, because it would change nothing without a sign. */
export const changeObject = <Members extends Record<string, TSchema>>(
  members: Members,
  options: { readonly title?: string; readonly description?: string } = {},
) => Type.Object(members, { ...options, additionalProperties: false });

/** Refuses (400) the id in a body that is not the id in the path. */
export function requireIdOfPath(sent: number | undefined, inPath: number): void {
  if (sent !== undefined && sent !== inPath)
    throw fail("field-invalid", { field: "id", expected: `${inPath} as in the path`, got: `${sent}` });
}

const orNull = <Value extends TSchema>(value: Value) => Type.Optional(Type.Union([value, Type.Null()]));

/**
 * A member of a change object: `{"set":value}` or `{"setNull":true}` (docs/reference/common.md#changes).
 * Clients send both members at once, and nulls without meaning; routes that use this keep nulls for
 * `changeOfIds`.
 */
export const change = <Value extends TSchema>(value: Value) =>
  orNull(changeObject({ set: orNull(value), setNull: orNull(Type.Boolean()) }));

/** A change of a member that every record has: `{"set":value}`. */
export const changeOfRequired = <Value extends TSchema>(value: Value) =>
  orNull(changeObject({ set: orNull(value), setNull: orNull(Type.Literal(false)) }));

/** A change of a list of ids; `{"set":null}` clears it (docs/reference/common.md#changes). */
export const changeOfIds = (description: string, max: number) => {
  const ids = Type.Array(Type.Integer(), { description, maxItems: max });
  return orNull(changeObject({ set: orNull(ids), add: orNull(ids), remove: orNull(ids) }));
};

/** A change of a list: other elements or none, then elements to add, then elements to remove. */
export const changeOfList = <List extends TSchema>(list: List) =>
  orNull(
    changeObject({
      set: orNull(list),
      setNull: orNull(Type.Boolean()),
      add: orNull(list),
      remove: orNull(list),
    }),
  );

/** A change of metadata: other pairs or none, then pairs to add, then keys to take away. */
export const changeOfPairs = (description: string) => {
  const pairs = metadataField(description);
  const keys = Type.Array(Type.String(), { maxItems: limits.metadataPairsMax });
  return orNull(
    changeObject({
      set: orNull(pairs),
      setNull: orNull(Type.Boolean()),
      add: orNull(pairs),
      remove: orNull(keys),
    }),
  );
};

/** What a sent change asks for: a value, `null` to clear, or `undefined` to leave the member as it is. */
export function changed<Value>(
  sent: { readonly set?: Value | null; readonly setNull?: boolean | null } | null | undefined,
): Value | null | undefined {
  if (sent?.setNull) return null;
  return sent?.set ?? undefined;
}

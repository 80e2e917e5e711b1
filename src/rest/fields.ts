// Schemas that request bodies of several resources share: strings, metadata, ids and changes.
import { type TSchema, Type } from "typebox";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

/** Stores accept neither U+0000 nor unpaired surrogates. */
export const storable = "^[^\\u0000\\ud800-\\udfff]*$";

/** An id as a string of digits; `idInDigits` also bounds it. */
export const idDigits = "^[1-9][0-9]{0,15}$";

export const rowNumberDigits = "^[0-9]{1,19}$";

/** A Python package, by its import name or its distribution name. */
export const packageName = "^[A-Za-z_][A-Za-z0-9_-]*$";

export const seriesAlias = "^[a-z]([a-z0-9_]{0,48}[a-z0-9])?$";

/** The older form of a data spec permits any file name. */
export const fileAlias = "^[\\w-][\\w .-]{0,127}$";

/** A SHA-256 digest. */
export const sha256Digits = "^[0-9a-f]{64}$";

/** Describes each pattern for refusals, which show no regular expressions. */
export const patternWords: Readonly<Record<string, string>> = {
  [storable]: "text without U+0000 and halves of characters",
  [idDigits]: "an id in digits, not above 9007199254740991",
  [rowNumberDigits]: "an integer of 0 to 9223372036854775807 in digits",
  [sha256Digits]: "64 digits of 0 to 9 and a to f",
  [packageName]: "ASCII letters, digits, _ and -, with a letter or _ first",
  [seriesAlias]: "1 to 50 lower-case letters, digits and _, with a letter first and no _ last",
  [fileAlias]: "1 to 128 letters, digits, blanks and the characters _ . -, without a blank or dot first",
};

/** A string, by default up to the length of a description. */
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

/** An id as a string of digits; some clients send strings. */
export const idInDigits = Type.Refine(
  Type.String({ pattern: idDigits }),
  (digits) => Number.isSafeInteger(Number(digits)),
  () => `is ${patternWords[idDigits]}`,
);

/** The time of a record. */
export const timeField = (description: string) =>
  Type.Integer({
    description: `${description}, in ms since 1970`,
    minimum: limits.timeMsMin,
    maximum: limits.timeMsMax,
  });

type Metadata = Readonly<Record<string, string>>;

/**
 * Pairs of strings. The decoder of a body converts numbers and booleans to strings (`pairs-paths.ts`).
 * `Type.Record` would not check keys with line breaks.
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

/** Bounded, so that a page of records always fits into memory. */
const lengthOf = (metadata: Metadata): number =>
  Object.entries(metadata).reduce((sum, [key, value]) => sum + key.length + value.length, 0);

/** `{"items":[...]}`, the form of most bodies. */
export const itemsBody = <Item extends TSchema>(item: Item, bounds: { min?: number; max?: number } = {}) =>
  Type.Object({
    items: Type.Array(item, {
      maxItems: bounds.max ?? limits.itemsPerWriteMax,
      minItems: bounds.min ?? 0,
    }),
  });

/** A JSON body whose null members count as absent. */
export const json = <Schema>(
  schema: Schema,
  options: { readonly bytesMax?: number; readonly keptText?: readonly string[] } = {},
) => ({ kind: "json", schema, ...options }) as const;

/** The body of an operation that writes many records, rows or points. */
export const bulk = { bytesMax: limits.bulkBodyBytesMax } as const;

/** The body of operations on records with the given ids. */
export const idsBody = (which: string, bounds: { max?: number } = {}) =>
  json(itemsBody(idField(which), { min: 1, ...bounds }));

/**
 * An object of an update. Unknown members are refused: ignoring them would hide a mistake. So is a value to
 * set beside `"setNull":true`, of which only one could be done.
 */
export const changeObject = <Members extends Record<string, TSchema>>(
  members: Members,
  options: { readonly title?: string; readonly description?: string } = {},
) =>
  Type.Refine(
    Type.Object(members, { ...options, additionalProperties: false }),
    ({ set, setNull }: { readonly set?: unknown; readonly setNull?: unknown }) =>
      setNull !== true || set === undefined || set === null,
    () => "has either set or setNull, not both",
  );

/** Refuses (400) a body whose id differs from the id in the path. */
export function requireIdOfPath(inBody: number | undefined, inPath: number): void {
  if (inBody !== undefined && inBody !== inPath)
    throw fail("field-invalid", { field: "id", expected: `${inPath} as in the path`, got: `${inBody}` });
}

const orNull = <Value extends TSchema>(value: Value) => Type.Optional(Type.Union([value, Type.Null()]));

/**
 * A member of a change object: `{"set":value}` or `{"setNull":true}` (docs/reference/common.md#changes).
 * Clients send both members at once, and nulls without meaning. Routes that use this decode with
 * `nulls: "kept"`, for `changeOfIds`.
 */
export const change = <Value extends TSchema>(value: Value) =>
  orNull(changeObject({ set: orNull(value), setNull: orNull(Type.Boolean()) }));

/** A change of a required member: `{"set":value}`. */
export const changeOfRequired = <Value extends TSchema>(value: Value) =>
  orNull(changeObject({ set: orNull(value), setNull: orNull(Type.Literal(false)) }));

/** A change of a list of ids; `{"set":null}` clears it (docs/reference/common.md#changes). */
export const changeOfIds = (description: string, max: number) => {
  const ids = Type.Array(Type.Integer(), { description, maxItems: max });
  return orNull(changeObject({ set: orNull(ids), add: orNull(ids), remove: orNull(ids) }));
};

/** A change of a list: replaces or clears it, then adds elements, then removes elements. */
export const listChange = <List extends TSchema>(list: List) =>
  changeObject({
    set: orNull(list),
    setNull: orNull(Type.Boolean()),
    add: orNull(list),
    remove: orNull(list),
  });

/** `listChange` or null. */
export const changeOfList = <List extends TSchema>(list: List) => orNull(listChange(list));

/** A change of metadata: replaces or clears it, then adds pairs, then removes keys. */
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

/** The new value of a change, `null` to clear the member, or `undefined` to keep it. */
export function changed<Value>(
  change: { readonly set?: Value | null; readonly setNull?: boolean | null } | null | undefined,
): Value | null | undefined {
  if (change?.setNull) return null;
  return change?.set ?? undefined;
}

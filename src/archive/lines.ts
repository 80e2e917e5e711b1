// Decodes one line of an archive: checks the ids, references, times and lists that the restore itself reads.
//
// The server checks all other members when they are sent to it.
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { BadArchive, type SectionName } from "./format.ts";

export type Line = Readonly<Record<string, unknown>>;

/** Throws a BadArchive when the value of `field` is not as it must be. */
type Check = (value: unknown, field: string) => void;

/** The value of the line with this number of a section; refuses what the restore cannot use. */
export function checkedLine(section: SectionName, value: unknown, number: number): Line {
  checks[section]?.(value, `${section}[${number}]`);
  return value as Line;
}

const whole =
  (min: number, max: number): Check =>
  (value, field) => {
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max)
      throw refusal(field, `an integer from ${min} to ${max}`, value);
  };

const id = whole(1, Number.MAX_SAFE_INTEGER);
const time = whole(limits.timeMsMin, limits.timeMsMax);

const text: Check = (value, field) => {
  if (typeof value !== "string") throw refusal(field, "a string", value);
};

const optional =
  (check: Check): Check =>
  (value, field) => {
    if (value !== undefined) check(value, field);
  };

const list =
  (check: Check): Check =>
  (value, field) => {
    if (!Array.isArray(value)) throw refusal(field, "an array", value);
    for (const [index, one] of value.entries()) check(one, `${field}[${index}]`);
  };

const object =
  (members: Readonly<Record<string, Check>>): Check =>
  (value, field) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw refusal(field, "an object", value);
    for (const [name, check] of Object.entries(members)) check((value as Line)[name], `${field}.${name}`);
  };

const times = { createdTime: time, lastUpdatedTime: time };
const withId = object({ id });

/** The members of each section that `restore-sections.ts` reads. */
const checks: Readonly<Partial<Record<SectionName, Check>>> = {
  assettypes: object({ id, fields: list(withId) }),
  assets: object({
    id,
    ...times,
    parentId: optional(id),
    types: optional(list(object({ id, fields: list(withId) }))),
  }),
  securitycategories: withId,
  timeseries: object({ id, ...times, assetId: optional(id), securityCategories: optional(list(id)) }),
  eventtransformers: withId,
  semantictypes: withId,
  events: object({
    id,
    ...times,
    assetIds: optional(list(id)),
    eventTransformerId: optional(id),
    semanticPhrases: optional(list(object({ semanticTypeId: id }))),
  }),
  files: object({ id, ...times, assetIds: optional(list(id)), uploadedAt: optional(time) }),
  raw: rawLine,
  sequences: object({ id, ...times, assetId: optional(id), columns: list(object({ id, ...times })) }),
  "sequence-rows": object({ sequenceId: id, values: list(object({ columnId: id })) }),
  relationships: object({ id, ...times }),
};

/** A database, a table, or a row, whose columns are the text of a JSON object. */
function rawLine(value: unknown, field: string): void {
  object({ dbName: text, tableName: optional(text), key: optional(text), assetIds: optional(list(id)) })(
    value,
    field,
  );
  if ((value as Line)["key"] !== undefined)
    object({ tableName: text, columns: text, lastUpdatedTime: time })(value, field);
}

/** How much of a wrong value a message repeats. */
const shownCharacters = 100;

function refusal(field: string, expected: string, value: unknown): BadArchive {
  const got = (typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing")).slice(
    0,
    shownCharacters,
  );
  return new BadArchive(fail("field-invalid", { field, expected, got }).message);
}

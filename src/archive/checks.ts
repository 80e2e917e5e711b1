// Checks one line of an archive: the ids, references, times and lists that the restore itself reads.
//
// The server checks all other members when they are sent to it.
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { BadArchive } from "./format.ts";

export type ArchiveLine = Readonly<Record<string, unknown>>;

/** A record as the API lists it. */
export type Item = ArchiveLine & { readonly id: number };

/** Throws a BadArchive when the value of `field` is invalid. */
export type Check = (value: unknown, field: string) => void;

const integer =
  (min: number, max: number): Check =>
  (value, field) => {
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max)
      throw invalid(field, `an integer from ${min} to ${max}`, value);
  };

export const id = integer(1, Number.MAX_SAFE_INTEGER);
export const time = integer(limits.timeMsMin, limits.timeMsMax);

export const string: Check = (value, field) => {
  if (typeof value !== "string") throw invalid(field, "a string", value);
};

export const optional =
  (check: Check): Check =>
  (value, field) => {
    if (value !== undefined) check(value, field);
  };

export const list =
  (check: Check): Check =>
  (value, field) => {
    if (!Array.isArray(value)) throw invalid(field, "an array", value);
    for (const [index, one] of value.entries()) check(one, `${field}[${index}]`);
  };

export const object =
  (members: Readonly<Record<string, Check>>): Check =>
  (value, field) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw invalid(field, "an object", value);
    for (const [name, check] of Object.entries(members))
      check((value as ArchiveLine)[name], `${field}.${name}`);
  };

export const times = { createdTime: time, lastUpdatedTime: time };

/** How much of an invalid value a message repeats. */
const shownCharacters = 100;

function invalid(field: string, expected: string, value: unknown): BadArchive {
  const got = (typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing")).slice(
    0,
    shownCharacters,
  );
  return new BadArchive(fail("field-invalid", { field, expected, got }).message);
}

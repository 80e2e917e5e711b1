// JSON bodies: from bytes to a value that is known to fit its schema, or a refusal that names the field.
import type { TSchema } from "typebox";
import { Compile } from "typebox/schema";
import { fail } from "../errors.ts";
import { parseJson } from "../lib/json.ts";
import { isDeeperThan } from "../lib/json-text.ts";
import { limits } from "../limits.ts";
import { type KnownMembers, knownMembersOf } from "./known-members.ts";
import { refusalOf } from "./refusal.ts";

export type BodyDecoder = (bytes: Buffer) => unknown;

/**
 * Makes the decoder of a JSON body. No value is coerced, members that the schema does not name are removed,
 * and members that are `null` count as absent unless `nulls` is "kept" (client-endpoints 1.3.4); no body at
 * all counts as `{}`.
 */
export function jsonDecoder(schema: TSchema, nulls: "absent" | "kept" = "absent"): BodyDecoder {
  const checked = jsonChecker(schema, nulls);
  return (bytes) => checked(readJson(bytes));
}

/** As `jsonDecoder`, for a value that has been read already. */
export function jsonChecker<Value>(schema: TSchema, nulls: "absent" | "kept" = "absent") {
  // Not before it is needed: the schemas of all routes together take a tenth of a second of every start.
  let made: { validator: ReturnType<typeof Compile>; knownOf: KnownMembers | undefined } | undefined;
  return (value: unknown): Value => {
    tidy(value, nulls === "absent", 1);
    made ??= { validator: Compile(schema), knownOf: knownMembersOf(schema) };
    const { validator, knownOf } = made;
    if (!validator.Check(value)) throw refusalOf(value, validator.Errors(value)[1]);
    return (knownOf ? knownOf(value) : value) as Value;
  };
}

/** No body at all counts as `{}`; refuses (400) what is not JSON. */
export const readJson = (bytes: Buffer): unknown => parsed(textOf(bytes));

/** As `readJson`, the text itself, for what has to stay as it was written. Refuses deep nesting as well. */
export function readJsonText(bytes: Buffer): string {
  const text = textOf(bytes);
  parsed(text);
  if (isDeeperThan(text, limits.jsonDepthMax)) throw tooDeep();
  return text;
}

function textOf(bytes: Buffer): string {
  if (bytes.length === 0) return "{}";
  const text = bytes.toString();
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (problem) {
    throw fail("body-not-json", { problem: (problem as Error).message });
  }
}

const tooDeep = () =>
  fail("body-not-json", { problem: `it is nested deeper than ${limits.jsonDepthMax} levels` });

/** Bounds the depth, drops nulls, and refuses `__proto__`, which could reach a prototype. */
function tidy(value: unknown, dropNulls: boolean, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > limits.jsonDepthMax) throw tooDeep();
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") tidy(item, dropNulls, depth + 1);
    return;
  }
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (member === null) dropNulls && delete members[name];
    else if (name === "__proto__") throw fail("body-not-json", { problem: "a member is named __proto__" });
    else if (typeof member === "object") tidy(member, dropNulls, depth + 1);
  }
}

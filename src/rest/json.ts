// JSON bodies: from bytes to a value that is known to fit its schema, or a refusal that names the field.
import type { TSchema } from "typebox";
import { Compile } from "typebox/schema";
import { fail } from "../errors.ts";
import { parseJson } from "../lib/json.ts";
import { limits } from "../limits.ts";
import { refusalOf } from "./refusal.ts";

export type BodyDecoder = (bytes: Buffer) => unknown;

/**
 * Makes the decoder of a JSON body. No value is coerced, unknown members are ignored, and members that are
 * `null` count as absent unless `nulls` is "kept" (client-endpoints 1.3.4); no body at all counts as `{}`.
 */
export function jsonDecoder(schema: TSchema, nulls: "absent" | "kept" = "absent"): BodyDecoder {
  const validator = Compile(schema);
  return (bytes) => {
    const value = readJson(bytes);
    tidy(value, nulls === "absent", 1);
    if (!validator.Check(value)) throw refusalOf(value, validator.Errors(value)[1]);
    return value;
  };
}

/** No body at all counts as `{}`; refuses (400) what is not JSON. */
export function readJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  const text = bytes.toString();
  try {
    return parseJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (problem) {
    throw fail("body-not-json", { problem: (problem as Error).message });
  }
}

/** Bounds the depth, drops nulls, and refuses `__proto__`, which could reach a prototype. */
function tidy(value: unknown, dropNulls: boolean, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > limits.jsonDepthMax)
    throw fail("body-not-json", { problem: `it is nested deeper than ${limits.jsonDepthMax} levels` });
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

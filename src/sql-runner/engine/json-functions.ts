// Functions of JSON: `to_metadata` and `get_json_object`.

import { parseJson } from "../../lib/json.ts";
import { stringMembersIn } from "../../lib/json-text.ts";
import { FunctionRefusal } from "./problems.ts";
import type { Argument } from "./values.ts";

/**
 * An object with strings for all values: strings as they are, others as the JSON that was written. Members
 * that are null or named in the other arguments are left out. Of a repeated name, the last one counts.
 */
export function toMetadata(json: Argument = null, ...except: readonly Argument[]): Argument {
  if (json === null) return null;
  const text = String(json).trim();
  if (!(parsed(text) instanceof Object) || !text.startsWith("{"))
    throw new FunctionRefusal("to_metadata takes a JSON object");
  const pairs = stringMembersIn(text, 0);
  for (const name of except) if (typeof name === "string") delete pairs[name];
  return JSON.stringify(pairs);
}

/**
 * The value at a path such as `$.pump.rpm[0]` or `$['odd name']`: a string as it is, others as JSON. Null if
 * there is none, or the text is not JSON.
 */
export function getJsonObject(json: Argument = null, path: Argument = null): Argument {
  if (json === null || path === null) return null;
  let value = parsed(String(json));
  for (const step of stepsOf(String(path))) {
    if (!(value instanceof Object) || !Object.hasOwn(value, step)) return null;
    value = (value as Record<string | number, unknown>)[step];
  }
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  const pattern = /\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/y;
  let at = path.startsWith("$") ? 1 : -1;
  while (at >= 0 && at < path.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(path);
    if (match) steps.push(match[1] ?? match[3] ?? Number(match[2]));
    at = match ? pattern.lastIndex : -1;
  }
  if (at < 0) throw new FunctionRefusal(`${JSON.stringify(path)} is not a path such as $.a.b[0]`);
  return steps;
}

/** Parses JSON; undefined if the text is none. */
function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

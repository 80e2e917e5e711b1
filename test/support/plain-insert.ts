// A naive reader of inserts in JSON (docs/reference/datapoints.md#writing-datapoints), with `JSON.parse`.
// Tests compare the scanner of bodies with it.
import { isUtf8 } from "node:buffer";
import { limits } from "../../src/limits.ts";

interface Point {
  readonly timestamp: number;
  readonly value: number | string;
}

export interface Run {
  readonly key: string | number;
  /** Numbers before strings, each in the order of the request. */
  readonly points: readonly Point[];
  /** The positions of the first number and the first string in the request, when there are both. */
  readonly mixed?: { readonly number: number; readonly string: number };
}

class Refused extends Error {}

function need(holds: boolean, refusal: string): void {
  if (!holds) throw new Refused(refusal);
}

/**
 * The runs of a body for the series `key`, or for many; the name of the refusal where it is to be refused.
 */
export function plainInsert(body: Buffer, key?: string | number): Run[] | string {
  try {
    const items = listIn(membersOf(parsed(body)), "items");
    const runs = key === undefined ? items.map(runOf) : [{ key, ...pointsOf(items) }];
    const points = runs.reduce((sum, run) => sum + run.points.length, 0);
    need(Math.max(points, runs.length) <= limits.pointsPerWriteMax, "too-many");
    return runs;
  } catch (why) {
    if (why instanceof Refused) return why.message;
    throw why;
  }
}

/** No body at all counts as `{}`, and a byte order mark for nothing. */
function parsed(body: Buffer): unknown {
  need(isUtf8(body), "body-not-utf8");
  const text = body.toString("utf8");
  let value: unknown = {};
  try {
    if (text !== "") value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    throw new Refused("body-not-json");
  }
  need(depthOf(value) <= limits.jsonDepthMax, "body-not-json");
  return value;
}

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((depth, inner) => Math.max(depth, 1 + depthOf(inner)), 1)
    : 0;

type Members = Readonly<Record<string, unknown>>;

function runOf(item: unknown): Run {
  const members = membersOf(item);
  const points = listIn(members, "datapoints");
  const key = ["name", "tagId", "id"].find((one) => members[one] !== undefined && members[one] !== null);
  need(key !== undefined, "fields-missing");
  const [name, tagId, id] = ["name", "tagId", "id"].map((one) => members[one] ?? undefined);
  for (const text of [name, tagId]) need(text === undefined || typeof text === "string", "field-invalid");
  need(id === undefined || Number.isSafeInteger(id), "field-invalid");
  need(name === undefined || tagId === undefined || name === tagId, "field-invalid");
  return { key: members[key!] as string | number, ...pointsOf(points) };
}

function pointsOf(items: readonly unknown[]): Omit<Run, "key"> {
  const points = items.map(pointOf);
  const isNumber = ({ value }: Point) => typeof value === "number";
  const isString = ({ value }: Point) => typeof value === "string";
  const mixed = { number: points.findIndex(isNumber), string: points.findIndex(isString) };
  return {
    points: [...points.filter(isNumber), ...points.filter(isString)],
    ...(mixed.number >= 0 && mixed.string >= 0 && { mixed }),
  };
}

function pointOf(item: unknown): Point {
  const { timestamp, value } = membersOf(item);
  need(timestamp !== undefined && timestamp !== null, "fields-missing");
  need(Number.isInteger(timestamp), "field-invalid");
  const timeMs = timestamp as number;
  need(timeMs >= limits.timeMsMin && timeMs <= limits.timeMsMax, "field-invalid");
  need(value !== undefined, "fields-missing");
  if (typeof value === "string")
    need(value.length <= limits.stringValueLengthMax && value.isWellFormed(), "field-invalid");
  else need(Number.isFinite(value), "field-invalid");
  // A time is never minus zero, a value may be.
  return { timestamp: timeMs + 0, value: value as number | string };
}

function listIn(members: Members, name: string): readonly unknown[] {
  const list = members[name];
  need(list !== undefined && list !== null, "fields-missing");
  need(Array.isArray(list), "field-invalid");
  return list as readonly unknown[];
}

function membersOf(value: unknown): Members {
  need(typeof value === "object" && value !== null && !Array.isArray(value), "field-invalid");
  return value as Members;
}

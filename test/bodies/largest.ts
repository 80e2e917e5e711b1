// The largest requests of each route: as many items, as long strings, as wide and as deep JSON as its
// limits permit, and unknown members.
import { limits } from "../../src/limits.ts";
import { bodyBytesMax, type Route } from "../../src/rest/route.ts";
import { addressOf } from "./address.ts";
import type { Ids } from "./project.ts";
import { type Size, sampleBody } from "./sample.ts";

/** The body for a route; made for each use, because names of records that it creates are unique. */
export interface Largest {
  readonly name: string;
  /** Below the project. */
  readonly path: string;
  readonly body?: () => string;
}

export interface Making {
  readonly route: Route;
  readonly ids: Ids;
  readonly unique: () => number;
  /** Of a body; that of the route when absent. */
  readonly bytesMax?: number;
}

/** As many as are sent of a list without a bound of its own. */
const unbounded = 100_000;

const outermost: Size["items"] = (max = unbounded, depth) => (depth === 0 ? max : 1);
const one = () => 1;
const short = () => 0;

const sizes: Readonly<Record<string, Size>> = {
  "most items": { hasOptional: false, items: outermost, characters: short, pairs: one },
  "longest strings": {
    hasOptional: true,
    items: outermost,
    characters: (max = limits.textLengthMax) => Math.min(max, limits.textLengthMax),
    pairs: one,
  },
  "most pairs": { hasOptional: true, items: outermost, characters: short, pairs: (max = unbounded) => max },
  "longest lists": { hasOptional: true, items: (max = unbounded) => max, characters: short, pairs: one },
};

export function largestRequests(making: Making): Largest[] {
  const path = addressOf(making.route, making.ids);
  const bodies = making.route.body ? largestBodies(making) : [];
  return [...bodies.map((one) => ({ ...one, path })), ...largestQueries(making, path)];
}

function largestBodies(making: Making): Omit<Largest, "path">[] {
  const bytesMax = making.bytesMax ?? bodyBytesMax(making.route.body);
  const valid = Object.entries(sizes).map(([name, size]) => ({ name, body: fitted(making, size, bytesMax) }));
  return [...valid, ...hostileBodies(bytesMax)];
}

/** Makes bodies of this size, with fewer items where all would be longer than the limits for JSON. */
function fitted({ route, ids, unique }: Making, size: Size, bytesMax: number): () => string {
  const sampling = { route: `${route.method} ${route.path}`, ids, unique };
  const withItems = (outer: number, inner: number) => {
    const items: Size["items"] = (max, depth) =>
      Math.min(size.items(max, depth), depth === 0 ? outer : inner);
    return sampleBody(route.body!.schema, { ...sampling, size: { ...size, items } });
  };
  const fits = (body: unknown, share: number) =>
    JSON.stringify(body).length < bytesMax / share && valuesIn(body) < limits.jsonValuesMax / share;
  let found: readonly [outer: number, inner: number] | undefined;
  const find = () => {
    // Lists within lists grow together until four of the outer ones fill the body.
    let inner = 1;
    while (inner < unbounded && fits(withItems(1, inner * 2), 4)) inner *= 2;
    const item = withItems(1, inner);
    const byLength = bytesMax / (JSON.stringify(item).length + 8);
    const outer = Math.max(1, Math.floor(Math.min(byLength, limits.jsonValuesMax / (valuesIn(item) + 1))));
    return [outer, inner] as const;
  };
  return () => {
    found ??= find();
    return JSON.stringify(withItems(...found));
  };
}

/** Elements and members, as `jsonValuesMax` counts them. */
function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, inner) => sum + 1 + valuesIn(inner), 0);
}

function hostileBodies(bytesMax: number): Omit<Largest, "path">[] {
  const filled = (start: string, unit: string, end: string) => () =>
    start + unit.repeat(Math.floor((bytesMax - start.length - end.length) / unit.length)) + end;
  return [
    { name: "wrong items", body: () => `{"items":[${"{},".repeat(limits.itemsPerWriteMax - 1)}{}]}` },
    { name: "too many items", body: filled('{"items":[', "{},", "{}]}") },
    { name: "an unknown list", body: filled('{"unknown":[', "0,", "0]}") },
    { name: "an unknown string", body: filled('{"unknown":"', "a", '"}') },
    { name: "an escaped key", body: filled('{"\\u0061":[', "{},", "{}]}") },
    { name: "deep", body: () => "[".repeat(bytesMax / 2) + "]".repeat(bytesMax / 2) },
    { name: "no JSON", body: filled("", "x", "") },
  ];
}

/** Longer than any query can be with all of its parameters, each percent-encoded. */
const queryLengthMax = 24 * 2 ** 10;

function largestQueries({ route, ids }: Making, path: string): Largest[] {
  const names = Object.keys(route.query);
  if (names.length === 0) return route.method === "GET" ? [{ name: "plain", path }] : [];
  const limit = names.includes("limit") ? "&limit=1000000" : "";
  const idList = encodeURIComponent(JSON.stringify(ids.asset.slice(0, 1_000)));
  const pairs = Array.from({ length: limits.metadataPairsMax }, (_, i) => [`k${i}`, "v"]);
  const metadata = encodeURIComponent(JSON.stringify(Object.fromEntries(pairs)));
  const words = encodeURIComponent("pump ".repeat(1_000));
  const values: Readonly<Record<string, string>> = {
    ...{ path: idList, assetSubtrees: idList, assetIds: idList, metadata },
    ...{ query: words, name: words, description: words, fuzziness: "100" },
  };
  const filters = names.filter((name) => Object.hasOwn(values, name));
  return [
    { name: "largest page", path: `${path}${limit}` },
    ...filters
      .map((name) => ({ name: `long ${name}`, path: `${path}${limit}&${name}=${values[name]}` }))
      .filter((one) => one.path.length < queryLengthMax),
  ];
}

// Members and parameters that no schema names reach no handler. Two equal servers get the same requests, one
// of them with such members added everywhere, and give the same responses.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { realSystem, type System } from "../../src/lib/system.ts";
import { routes, tables } from "../../src/resources.ts";
import { type ApiVersion, bodyBytesMax, type Route } from "../../src/rest/route.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { addressOf } from "./address.ts";
import { fillProject, type Ids } from "./project.ts";
import { type Schema, sampleBody, small } from "./sample.ts";

/** The same times and the same "random" bytes on each server, so that all ids and keys are the same. */
function sameSystem(): System {
  let bytes = 0;
  return {
    ...realSystem,
    nowMs: () => Date.UTC(2024, 5, 1),
    randomBytes: (count) => Uint8Array.from({ length: count }, () => (bytes = (bytes + 7) % 251)),
  };
}

let plain: TestServer;
let extended: TestServer;
let ids: Ids;

const counts = { assets: 40, series: 40, events: 40, rawRows: 40, others: 40, models: 40, points: 40 };
const sendTo = (server: TestServer) => (version: ApiVersion, methodAndPath: string, body?: object) =>
  ({ "0.4": server.ask.v04, "0.5": server.ask.v05, "0.6": server.ask.v06 })[version](methodAndPath, body);

before(async () => {
  // Audit records have the ids of requests, which differ.
  const same = { baseUrl: "http://plant.example", hostsModels: true, audit: { mode: "off" } } as const;
  plain = await startTestServer({ system: sameSystem(), ...same });
  extended = await startTestServer({ system: sameSystem(), ...same });
  ids = await fillProject(sendTo(plain), counts);
  assert.deepEqual(await fillProject(sendTo(extended), counts), ids);
});
after(() => Promise.all([plain.close(), extended.close()]));

/** Every name that means something anywhere: members of bodies, parameters, and columns of tables. */
const names = new Set([...tables.flatMap(({ columns }) => Object.keys(columns)), "constructor", "toString"]);
for (const { body, query } of routes) {
  for (const name of Object.keys(query)) names.add(name);
  if (body) addNames(body.schema as Schema);
}

function addNames({ properties = {}, items, anyOf = [], additionalProperties }: Schema): void {
  for (const name of Object.keys(properties)) names.add(name);
  const inner = [...Object.values(properties), ...anyOf, items, additionalProperties];
  for (const schema of inner) if (typeof schema === "object") addNames(schema);
}

const strange: readonly unknown[] = [
  ...["x", "", 7, -1.5, true, false, null, ["x"], [], [[{}]], {}, { set: "x" }, { in: [1], "": null }],
  ...[Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, "v"]))],
];

/** An unknown member of a name, with some value. */
interface Unknown {
  readonly names: readonly string[];
  readonly draw: () => unknown;
}

/**
 * The body with unknown members of every name, or of as many as its limit permits: others in each round.
 */
function withUnknown(
  body: object,
  route: Route,
  { round, draw }: { round: number; draw: () => unknown },
): object {
  const { body: expected } = route;
  for (let share = 1; ; share++) {
    const some = [...names].filter((_, i) => i % share === round % share);
    const found = extend(body, expected!.schema as Schema, { names: some, draw }) as object;
    if (JSON.stringify(found).length < bodyBytesMax(expected)) return found;
  }
}

/** The value with these members in each object whose schema is not open. */
function extend(value: unknown, schema: Schema, unknown: Unknown): unknown {
  if (schema.anyOf) {
    const type = Array.isArray(value) ? "array" : typeof value;
    const choice = schema.anyOf.find((one) => one.type === type);
    return choice ? extend(value, choice, unknown) : value;
  }
  if (Array.isArray(value)) return value.map((one) => extend(one, schema.items ?? {}, unknown));
  if (schema.type !== "object") return value;
  const { properties = {}, additionalProperties } = schema;
  const members = Object.entries(value as object).map(([name, member]) => [
    name,
    extend(member, properties[name] ?? (additionalProperties as Schema), unknown),
  ]);
  if (additionalProperties !== undefined) return Object.fromEntries(members);
  const added = unknown.names.filter((name) => !Object.hasOwn(properties, name));
  return Object.fromEntries([...added.map((name) => [name, unknown.draw()]), ...members]);
}

const unknownQuery = ({ query }: Route) =>
  [...names]
    .filter((name) => !Object.hasOwn(query, name))
    .flatMap((name) => [`${name}=x`, `${name}=7`, `${name}[in]=1`])
    .join("&");

const isRemoval = ({ method, path }: Route) => method === "DELETE" || /(delete|remove)$/.test(path);
const partsOf = ({ path }: Route) => path.split("/").length;

/** It starts a run, and later responses depend on whether that has ended. */
const startsRun = ({ path }: Route) => path.endsWith("/run");

/** Deletions go last, and a deletion of a part goes before that of the whole. */
const inOrder = [
  ...routes.filter((route) => !isRemoval(route) && !startsRun(route)),
  ...routes.filter(isRemoval).sort((one, other) => partsOf(other) - partsOf(one)),
];

test("members and parameters that no schema names change no response", async () => {
  let made = 0;
  let drawn = 0;
  const draw = () => strange[drawn++ % strange.length];
  let succeeded = 0;
  for (const route of inOrder) {
    const version = route.versions.at(-1)!;
    const name = `${route.method} ${route.path}`;
    for (let round = 1; round <= 2; round++) {
      // Each deletion takes away another record, and none that later requests are about.
      const path = addressOf(route, ids, route.method === "DELETE" ? -round : 0);
      const sampling = { ids, size: small, route: name, unique: () => ++made };
      const body = route.body && (sampleBody(route.body.schema, sampling) as object);
      const response = await sendTo(plain)(version, `${route.method} ${path}`, body);
      const further = body && withUnknown(body, route, { round, draw });
      const sent = `${route.method} ${path}&${unknownQuery(route)}`.slice(0, 12_000);
      const other = await sendTo(extended)(version, sent, further);
      const said = `${route.method} ${path} ${JSON.stringify(body)}: ${response.text.slice(0, 300)}`;
      assert.ok(other.status !== 500, `${said}, but with more members ${other.text.slice(0, 300)}`);
      assert.deepEqual([other.status, other.text], [response.status, response.text], said);
      if (response.status < 300) succeeded++;
    }
  }
  // The others name records deleted in the round before or by another route, or runs of models, which there
  // are none of.
  assert.ok(succeeded > 1.4 * routes.length, `${succeeded} of ${2 * routes.length} requests succeeded`);
});

test("a search by metadata has at most as many pairs as a record", async () => {
  const metadata = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`k${i}`, ""]));
  const many = encodeURIComponent(JSON.stringify(metadata));
  const lists = routes.filter(({ query }) => "metadata" in query);
  assert.ok(lists.length >= 5);
  for (const { path } of lists) {
    const { error } = await plain.ask(`GET ${path}?metadata=${many}`);
    assert.equal(error?.message, "metadata may hold at most 256 items but holds 257", path);
  }
  const { error } = await plain.ask.v06("POST /assets/search", { filter: { metadata } });
  assert.equal(error?.message, "Invalid field - filter.metadata - expected at most 256 members but got 257");
});

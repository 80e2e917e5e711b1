// Updates refuse unknown members over every route: ignoring them would hide a mistake.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { routes } from "../resources.ts";
import { pathOf, type Route } from "./route.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ hostsModels: true });
});
after(() => server.close());

/** The keywords by which the members of a body are found. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly required?: readonly string[];
}

const setterIn = (schema: Shape): Shape | undefined =>
  schema.properties && "set" in schema.properties ? schema : schema.anyOf?.map(setterIn).find((one) => one);

/** Routes by name, and those whose members have a `set`; in 0.5 `POST /events/update` takes whole events. */
const updates = routes.flatMap((route: Route) => {
  const { properties } = (route.body as { readonly schema?: Shape } | undefined)?.schema ?? {};
  if (!properties) return [];
  const isMany = "items" in properties;
  const members = properties["items"]?.items ?? { properties };
  const hasSetters = Object.values(members.properties ?? {}).some((one) => setterIn(one));
  const isNamed = /\/update$/.test(route.path) || route.method === "PATCH";
  const isWhole = route.path === "/events/update" && !route.versions.includes("0.6");
  if (isWhole || !(isNamed || hasSetters)) return [];
  return route.versions.map((version) => ({ route, version, members, isMany }));
});

async function refuses(update: (typeof updates)[number], change: object, name: string) {
  const { route, version, isMany, members } = update;
  const path = pathOf(route, version)
    .replace("{project}", "demo")
    .replaceAll(/\{\w+\}/g, "1");
  const identified = members.required?.includes("id") ? { id: 1, ...change } : change;
  const body = isMany ? { items: [identified] } : identified;
  const { status, error } = await server.ask.root(`${route.method} ${path}`, body);
  const place = isMany ? `items[0].${name}` : name;
  const expected = [400, `Unknown field - ${place} - nothing is changed`];
  assert.deepEqual([status, error?.message], expected, `${route.method} ${path} ${JSON.stringify(body)}`);
}

test("every update refuses an unknown member, and an unknown member of a change", async () => {
  const areas = new Set(updates.map(({ route }) => route.path.split("/")[1]));
  assert.deepEqual([...areas].sort(), [
    "analytics",
    "assets",
    "events",
    "files",
    "groups",
    "retentionrules",
    "sequences",
    "timeseries",
    "transformations",
    "trends",
  ]);
  for (const update of updates) {
    await refuses(update, { nme: { set: "x" } }, "nme");
    for (const [name, schema] of Object.entries(update.members.properties!))
      if (setterIn(schema) && !isFree(schema)) await refuses(update, { [name]: { sett: 1 } }, `${name}.sett`);
  }
});

/** Takes any object as its plain value as well. */
const isFree = ({ anyOf = [] }: Shape): boolean =>
  anyOf.some((one) => "additionalProperties" in one && !setterIn(one));

test("nothing of an update with an unknown member is changed, and all unknown ones are named", async () => {
  const { items } = await server.ask("POST /assets", { items: [{ name: "pump", metadata: { a: "1" } }] });
  const [{ id } = { id: 0 }] = items;
  const update = { id, description: { set: "new" }, "n/m~e": 1, metadata: { add: { b: "2" } } };
  const { error } = await server.ask("POST /assets/update", { items: [update] });
  const unknown = "items[0].n/m~e, items[0].metadata.add";
  assert.equal(error?.message, `Unknown fields - ${unknown} - nothing is changed`);
  assert.deepEqual((await server.ask(`GET /assets/${id}`)).items, items);
});

test("a change that sets a value and clears it is refused, and nothing is changed", async () => {
  const [asset] = (await server.ask("POST /assets", { items: [{ name: "both", labels: ["a"] }] })).items;
  const id = asset!["id"];
  const refused = async (request: string, body: object, place: string) => {
    const { status, error } = await server.ask.v06(request, body);
    const expected = "expected a value that has either set or setNull, not both but got object";
    assert.deepEqual([status, error?.message], [400, `Invalid field - ${place} - ${expected}`], request);
  };
  const changes = { description: { set: "x" }, labels: { set: ["b"] }, metadata: { set: { a: "1" } } };
  for (const [name, change] of Object.entries(changes)) {
    const both = { [name]: { ...change, setNull: true } };
    await refused("POST /assets/update", { items: [{ id, ...both }] }, `items[0].${name}`);
    await refused(`POST /assets/${id}/update`, both, name);
  }
  for (const resource of ["assets", "timeseries", "events", "files", "sequences"])
    await refused(`PATCH /${resource}/1`, { externalId: { set: "x", setNull: true } }, "externalId");
  assert.deepEqual((await server.ask(`GET /assets/${id}`)).items, [asset]);
});

test("members that published clients send in updates pass", async () => {
  const [asset] = (await server.ask("POST /assets", { items: [{ name: "sent" }] })).items;
  const assetId = asset!["id"];
  const both = { id: assetId, description: { set: "new", setNull: false } };
  assert.equal((await server.ask(`POST /assets/${assetId}/update`, both)).status, 200);
  await server.ask("POST /timeseries", { items: [{ name: "sent" }] });
  const [series] = (await server.ask("GET /timeseries?q=sent")).items;
  const id = series!["id"] as number;
  const change = { id, isStep: { set: true }, isString: { set: true }, unit: { set: "bar" } };
  const one = await server.ask(`POST /timeseries/${id}/update`, change);
  assert.equal(one.status, 200, one.text);
  assert.deepEqual([one.items[0]?.["isStep"], one.items[0]?.["unit"]], [false, "bar"]);
  const other = await server.ask(`POST /timeseries/${id}/update`, { id: id + 1 });
  assert.equal(other.error?.message, `Invalid field - id - expected ${id} as in the path but got ${id + 1}`);
  const whole = { id: assetId, name: "whole", depth: 0, path: [assetId], createdTime: 1, nme: 1 };
  const overwritten = await server.ask("PUT /assets", { items: [whole] });
  assert.equal(overwritten.status, 200, "a whole record is no update object");
});

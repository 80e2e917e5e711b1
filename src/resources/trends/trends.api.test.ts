// Saved trends over REST: stored exactly, found again, changed, restored, and refused where they must be.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());
beforeEach(async () => {
  const items = idsOf(await server.ask.v06("GET /trends?limit=1000"));
  if (items.length > 0) await server.ask.v06("POST /trends/delete", { items });
});

const create = (...items: object[]) => server.ask.v06("POST /trends", { items });
const names = async (query: string) =>
  (await server.ask.v06(`GET /trends?${query}`)).items.map(({ name }) => name);
const trend = (name: string, more: object = {}) => ({ name, definition: { series: [name] }, ...more });

/** A key of a new account with these capabilities. */
async function keyWith(uniqueName: string, actions: readonly string[]): Promise<string> {
  const made = async (path: string, item: object) =>
    (await server.ask.v06(`POST ${path}`, { items: [item] })).items[0]!;
  const capabilities = [{ trendsAcl: { actions, scope: { all: {} } } }];
  const { id } = await made("/groups", { name: uniqueName, capabilities });
  const user = await made("/users", { uniqueName, groups: [id] });
  return (await made("/apikeys", { userId: user["id"] }))["value"] as string;
}

test("a trend comes back as it was created, with its owner, also after a restart", async () => {
  const { status, items } = await create(trend("b", { description: "boiler" }), trend("a"));
  assert.equal(status, 200);
  const [b, a] = items as [(typeof items)[0], (typeof items)[0]];
  const owner = { owner: "administrator", ownerId: a["ownerId"] };
  const times = { createdTime: a["createdTime"], lastUpdatedTime: a["createdTime"] };
  assert.deepEqual(b, { id: b["id"], ...trend("b", { description: "boiler" }), ...owner, ...times });
  assert.deepEqual(a, { id: a["id"], ...trend("a"), ...owner, ...times });
  const users = await server.ask.v06("GET /users");
  assert.deepEqual(idsOf(users), [a["ownerId"]]);
  await server.restart();
  assert.deepEqual((await server.ask.v06("GET /trends")).items, [b, a]);
  assert.deepEqual((await server.ask.v06(`GET /trends/${a["id"]}`)).items, [a]);
});

test("definitions are returned byte for byte, by every operation", async () => {
  const definition = '{ "null":null,\n"10":1.0,"2":-1e-7,"__proto__":{"a":[null]},"\\u00fc\\u0000":"ü" }';
  const created = await server.ask.v06("POST /trends", `{"items":[{"name":"t","definition":${definition}}]}`);
  const id = created.items[0]!["id"];
  const changed = definition.replace("1.0", "2.50");
  const change = `{"items":[{"id":${id},"definition":{"set":${changed}}}]}`;
  const responses = [
    [created, definition],
    [await server.ask.v06("GET /trends"), definition],
    [await server.ask.v06(`GET /trends/${id}`), definition],
    [await server.ask.v06("POST /trends/update", change), changed],
    [await server.ask.v06(`GET /trends/${id}`), changed],
  ] as const;
  for (const [response, text] of responses) {
    assert.equal(response.status, 200, response.text);
    assert.ok(response.text.includes(`"definition":${text}`), response.text);
  }
});

test("lists have pages, filters, and definitions only if they are wanted", async () => {
  await create(trend("pump north"), trend("pump south", { description: "feeds boiler 2" }), trend("tank"));
  const other = await keyWith("operator", ["READ", "WRITE"]);
  const headers = { "api-key": other };
  await server.ask.v06("POST /trends", { items: [trend("boiler")] }, headers);
  assert.deepEqual(await names("name=pump"), []);
  assert.deepEqual(await names("name=tank"), ["tank"]);
  assert.deepEqual(await names("query=pum"), ["pump north", "pump south"]);
  assert.deepEqual(await names("query=BOIL"), ["pump south", "boiler"]);
  assert.deepEqual(await names("owner=operator"), ["boiler"]);
  assert.deepEqual(await names("owner=oper"), []);
  const first = await server.ask.v06("GET /trends?limit=3&includeDefinition=false");
  assert.deepEqual(
    first.items.map((item) => "definition" in item),
    [false, false, false],
  );
  const next = await server.ask.v06(`GET /trends?limit=3&cursor=${first.nextCursor}`);
  assert.deepEqual(
    next.items.map(({ name, definition }) => [name, definition]),
    [["boiler", { series: ["boiler"] }]],
  );
  assert.equal(next.nextCursor, undefined);
  assert.equal((await server.ask.v06(`GET /trends?query=a&cursor=${first.nextCursor}`)).status, 400);
});

test("a page of large definitions ends early, and the next pages have the rest", async () => {
  const large = { text: "x".repeat(limits.trendDefinitionBytesMax - 20) };
  const items = Array.from({ length: 700 }, (_, i) => ({ name: `large ${i}`, definition: large }));
  assert.equal((await create(...items)).status, 200);
  const found: unknown[] = [];
  let pages = 0;
  for (let cursor: string | undefined = ""; cursor !== undefined; pages += 1) {
    const page = await server.ask.v06(`GET /trends?limit=1000${cursor && `&cursor=${cursor}`}`);
    found.push(...page.items.map(({ name }) => name));
    cursor = page.nextCursor;
  }
  assert.deepEqual(
    found,
    items.map(({ name }) => name),
  );
  assert.ok(pages > 1);
});

test("an update changes what it names, and nothing if one item is refused", async () => {
  const [one, two] = idsOf(await create(trend("one", { description: "d" }), trend("two")));
  const update = (...items: object[]) => server.ask.v06("POST /trends/update", { items });
  const changed = await update(
    { id: two, definition: { set: { a: null } } },
    { id: one, name: { set: "1" }, description: { setNull: true } },
  );
  const shown = changed.items.map(({ name, description, definition }) => [name, description, definition]);
  assert.deepEqual(shown, [
    ["two", undefined, { a: null }],
    ["1", undefined, { series: ["one"] }],
  ]);
  const before = (await server.ask.v06("GET /trends")).items;
  const refusals = [
    [await update({ id: one, description: { set: "x" } }, { id: 12345 }), 400, "No such ids: 12345"],
    [await update({ id: one }, { id: one }), 400, `items names the same id more than once: ${one}`],
    [await update({ id: one, name: { set: "two" } }), 409, "A trend has this name already: two"],
    [
      await update({ id: one, title: { set: "x" } }),
      400,
      "Unknown field - items[0].title - nothing is changed",
    ],
    [await update({ id: one, name: { setNull: true } }), 400, undefined],
  ] as const;
  for (const [response, status, message] of refusals) {
    assert.equal(response.status, status, response.text);
    if (message !== undefined) assert.equal(response.error?.message, message);
  }
  assert.deepEqual((await server.ask.v06("GET /trends")).items, before);
});

test("names are unique in the project, also within a request", async () => {
  await create(trend("taken"));
  const taken = await create(trend("free"), trend("taken"));
  assert.deepEqual([taken.status, taken.error?.["duplicates"]], [409, [{ name: "taken" }]]);
  const twice = await create(trend("twin"), trend("twin"));
  assert.deepEqual([twice.status, twice.error?.["duplicates"]], [409, [{ name: "twin" }]]);
  assert.deepEqual(await names(""), ["taken"]);
});

test("definitions that are no object, too long, or that JavaScript would change are refused", async () => {
  const max = limits.trendDefinitionBytesMax;
  const sized = (bytes: number) => JSON.stringify({ a: "é".repeat(10), b: "x".repeat(bytes - 35) });
  assert.equal(Buffer.byteLength(sized(max)), max);
  const inexact = "items[0].definition - expected numbers that JavaScript can represent but got";
  const refused: readonly (readonly [definition: string, message: string])[] = [
    ["[1]", "items[0].definition - expected an object but got array"],
    ['"{}"', "items[0].definition - expected an object but got string"],
    ["null", "Missing required field - items[0].definition"],
    [sized(max + 1), `items[0].definition - expected at most ${max} bytes of JSON but got ${max + 1}`],
    ['{"a":12345678901234567890}', `${inexact} 12345678901234567890`],
    ['{"a":[-1e400]}', `${inexact} -1e400`],
  ];
  for (const [definition, message] of refused) {
    const response = await server.ask.v06(
      "POST /trends",
      `{"items":[{"name":"t","definition":${definition}}]}`,
    );
    assert.equal(response.status, 400, definition.slice(0, 50));
    assert.ok(response.error!.message.includes(message), response.error!.message);
  }
  assert.deepEqual(await names(""), []);
  const good = `{"items":[{"name":"t","definition":${sized(max)}},
    {"name":"u","definition":{"a":"12345678901234567890 \\\\\\" 1e999","b":9007199254740991}}]}`;
  assert.equal((await server.ask.v06("POST /trends", good)).status, 200);
});

test("readers open trends and change none; others see none", async () => {
  const [id] = idsOf(await create(trend("t")));
  const reader = { "api-key": await keyWith("reader", ["READ"]) };
  const stranger = { "api-key": await keyWith("stranger", ["WRITE"]) };
  assert.deepEqual(idsOf(await server.ask.v06("GET /trends", undefined, reader)), [id]);
  const change = { items: [{ id, name: { set: "x" } }] };
  const denied = await server.ask.v06("POST /trends/update", change, reader);
  const message = (action: string) => `This needs the capability trendsAcl with the action ${action}`;
  assert.deepEqual([denied.status, denied.error?.message], [403, message("WRITE")]);
  assert.equal((await server.ask.v06(`DELETE /trends/${id}`, undefined, reader)).status, 403);
  const unread = await server.ask.v06(`GET /trends/${id}`, undefined, stranger);
  assert.deepEqual([unread.status, unread.error?.message], [403, message("READ")]);
  assert.equal((await server.ask.v06("POST /trends/update", change, stranger)).status, 200);
});

test("a trend grants nothing on its series", async () => {
  const [series] = idsOf(await server.ask.v06("POST /timeseries", { items: [{ name: "secret" }] }));
  const [id] = idsOf(await create({ name: "t", definition: { series: [series] } }));
  const viewer = { "api-key": await keyWith("viewer", ["READ"]) };
  assert.equal((await server.ask.v06(`GET /trends/${id}`, undefined, viewer)).status, 200);
  assert.equal((await server.ask.v06(`GET /timeseries/${series}`, undefined, viewer)).status, 403);
});

test("older versions do not serve trends", async () => {
  for (const version of ["0.4", "0.5"])
    assert.equal((await server.ask.root(`GET /api/${version}/projects/demo/trends`)).status, 404);
});

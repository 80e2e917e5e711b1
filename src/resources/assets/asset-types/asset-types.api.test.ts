// Asset types over the API: types and fields, their values in assets, and every refusal.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { contextWith } from "../../../../test/support/context.ts";
import { refusal } from "../../../../test/support/refusal.ts";
import {
  items,
  type RefusedRequest,
  refusing,
  repeated,
  unknown,
} from "../../../../test/support/refused-requests.ts";
import { type Item, idsOf, startTestServer, type TestServer } from "../../../../test/support/server.ts";
import { limits } from "../../../limits.ts";
import { createAssetTypes, deleteFields, listAssetTypes } from "./asset-types.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const ask = async (methodAndPath: string, body?: unknown): Promise<Item[]> => {
  const response = await server.ask.v06(methodAndPath, body);
  assert.ok(response.status < 300, `${methodAndPath} answered ${response.text}`);
  return [...response.items];
};

interface Type extends Item {
  readonly id: number;
  readonly fields: readonly { readonly id: number; readonly name: string }[];
}

/** A type with one field of each kind of value; `ids` are those of its fields by name. */
async function pumpType(name = "Pump"): Promise<{ type: Type; ids: Record<string, number> }> {
  const fields = ["String", "Long", "Double", "Boolean"].map((valueType) => ({
    name: valueType.toLowerCase(),
    valueType,
  }));
  const [type] = (await ask("POST /assets/types", items({ name, description: "Moves", fields }))) as Type[];
  return { type: type!, ids: Object.fromEntries(type!.fields.map((field) => [field.name, field.id])) };
}

async function assetWith(types: unknown, name = "p"): Promise<Item & { readonly id: number }> {
  const [asset] = await ask("POST /assets", items({ name, types }));
  return asset as Item & { readonly id: number };
}

test("types and fields get ids, are listed by pages, read, changed and deleted", async () => {
  const { type, ids } = await pumpType();
  assert.equal(new Set([type.id, ...Object.values(ids)]).size, 5);
  assert.deepEqual(type, {
    id: type.id,
    name: "Pump",
    description: "Moves",
    fields: [
      { id: ids["string"], name: "string", valueType: "String" },
      { id: ids["long"], name: "long", valueType: "Long" },
      { id: ids["double"], name: "double", valueType: "Double" },
      { id: ids["boolean"], name: "boolean", valueType: "Boolean" },
    ],
  });
  const [bare] = (await ask("POST /assets/types", items({ name: "Pump" }))) as Type[];
  assert.deepEqual(bare, { id: bare!.id, name: "Pump", fields: [] });
  assert.deepEqual(await ask(`GET /assets/types/${type.id}`), [type]);
  assert.deepEqual(await ask("POST /assets/types/byids", items(bare!.id, type.id)), [bare, type]);
  const first = await server.ask.v06("GET /assets/types?limit=1");
  const second = await server.ask.v06(`GET /assets/types?limit=1&cursor=${first.nextCursor}`);
  assert.deepEqual([...first.items, ...second.items], [type, bare]);

  const changes = { name: { set: "Valve" }, description: { set: "Closes", setNull: false } };
  const [changed, same] = await ask(
    "POST /assets/types/update",
    items({ id: bare!.id, ...changes }, { id: type.id, description: { setNull: true } }),
  );
  assert.deepEqual(changed, { ...bare, name: "Valve", description: "Closes" });
  const { description, ...others } = type;
  assert.deepEqual([same, description], [others, "Moves"]);
  assert.deepEqual(await ask("POST /assets/types/delete", items(bare!.id)), []);
  assert.deepEqual(await ask("GET /assets/types"), [same]);
});

test("fields of one type may share a name; they are added, changed and deleted one by one", async () => {
  const { type, ids } = await pumpType();
  const at = `/assets/types/${type.id}/fields`;
  const [more] = (await ask(
    `POST ${at}`,
    items({ name: "long", valueType: "String", description: "How long" }),
  )) as Type[];
  const added = more!.fields.at(-1)!;
  assert.deepEqual(more, { ...type, fields: [...type.fields, added] });
  assert.deepEqual(added, { id: added.id, name: "long", valueType: "String", description: "How long" });
  const [changed] = (await ask(
    `POST ${at}/update`,
    items({ id: ids["double"], name: { set: "flow" } }, { id: added.id, description: { setNull: true } }),
  )) as Type[];
  assert.deepEqual(changed!.fields.slice(2), [
    { id: ids["double"], name: "flow", valueType: "Double" },
    { id: ids["boolean"], name: "boolean", valueType: "Boolean" },
    { id: added.id, name: "long", valueType: "String" },
  ]);
  await ask(`POST ${at}/delete`, items(ids["boolean"], ids["string"]));
  const [left] = (await ask(`GET /assets/types/${type.id}`)) as Type[];
  assert.deepEqual(
    left!.fields.map(({ id }) => id),
    [ids["long"], ids["double"], added.id],
  );
});

test("an asset shows its types with names and typed values, in 0.6 alone", async () => {
  const { type, ids } = await pumpType();
  const { type: other } = await pumpType("Motor");
  const values = { double: 0.5, string: "é\n", boolean: false, long: -7 };
  const fields = Object.entries(values).map(([name, value]) => ({ id: ids[name], value }));
  const asset = await assetWith([{ id: other.id }, { id: type.id, fields }]);
  const field = (name: string, valueType: string) => {
    return { id: ids[name], name, valueType, value: values[name as keyof typeof values] };
  };
  assert.deepEqual(asset["types"], [
    { id: other.id, name: "Motor", fields: [] },
    {
      id: type.id,
      name: "Pump",
      fields: [
        field("string", "String"),
        field("long", "Long"),
        field("double", "Double"),
        field("boolean", "Boolean"),
      ],
    },
  ]);
  for (const question of [`GET /assets/${asset.id}`, "GET /assets?name=p"])
    assert.deepEqual(await ask(question), [asset]);
  const { metadata: _, ...withoutMetadata } = asset;
  assert.deepEqual(await ask(`GET /assets/${asset.id}/subtree`), [withoutMetadata]);
  assert.deepEqual(await ask("POST /assets/byids", items(asset.id)), [asset]);
  const older = (await server.ask(`GET /assets/${asset.id}`)).items[0]!;
  assert.equal("types" in older, false);
  await server.ask("POST /assets/update", items({ id: asset.id, source: { set: "s" } }));
  await server.ask("PUT /assets", items({ id: asset.id, name: "p" }));
  assert.deepEqual((await ask(`GET /assets/${asset.id}`))[0]!["types"], asset["types"]);
  await ask("POST /assets/delete", items(asset.id));
});

test("0.4 and 0.5 take types as well, and do not show them", async () => {
  const { type } = await pumpType();
  const types = [{ id: type.id }];
  const typeIdsOf = async (id: unknown) => {
    const [asset] = await ask(`GET /assets/${id}`);
    return (asset!["types"] as { readonly id: unknown }[]).map((stored) => stored.id);
  };
  for (const older of [server.ask.v04, server.ask.v05]) {
    const [made] = (await older("POST /assets", items({ name: "q", types }))).items;
    const id = made!["id"];
    assert.equal("types" in made!, false);
    assert.deepEqual(await typeIdsOf(id), [type.id]);
    await older("POST /assets/update", items({ id, types: { remove: [type.id] } }));
    assert.deepEqual(await typeIdsOf(id), []);
    await older("PUT /assets", items({ id, name: "q", types }));
    assert.deepEqual(await typeIdsOf(id), [type.id]);
    await older("PUT /assets", items({ id, name: "q" }));
    assert.deepEqual(await typeIdsOf(id), [type.id]);
    const unknown = await older("POST /assets", items({ name: "r", types: [{ id: 1 }] }));
    assert.equal(unknown.status, 400);
    await ask("POST /assets/delete", items(id));
  }
});

test("an update sets, removes, adds and edits types, in this order", async () => {
  const { type: pump, ids } = await pumpType();
  const { type: motor, ids: motorIds } = await pumpType("Motor");
  const asset = await assetWith([{ id: pump.id, fields: [{ id: ids["long"], value: 1 }] }]);
  const update = async (types: unknown) => {
    const [changed] = await ask("POST /assets/update", items({ id: asset.id, types }));
    assert.deepEqual(await ask(`GET /assets/${asset.id}`), [changed]);
    const stored = changed!["types"] as { id: number; fields: { id: number; value: unknown }[] }[];
    return stored.map(({ id, fields }) => [id, ...fields.map((field) => [field.id, field.value])]);
  };
  assert.deepEqual(
    await update({ add: [{ id: motor.id, fields: [{ id: motorIds["string"], value: "m" }] }] }),
    [
      [pump.id, [ids["long"], 1]],
      [motor.id, [motorIds["string"], "m"]],
    ],
  );
  const edit = [
    { id: pump.id, add: [{ id: ids["double"], value: 2.5 }], remove: [ids["long"], ids["string"]] },
    { id: motor.id, set: [{ id: motorIds["boolean"], value: true }] },
  ];
  assert.deepEqual(await update({ edit }), [
    [pump.id, [ids["double"], 2.5]],
    [motor.id, [motorIds["boolean"], true]],
  ]);
  assert.deepEqual(await update({ remove: [pump.id], add: [{ id: pump.id }] }), [
    [motor.id, [motorIds["boolean"], true]],
    [pump.id],
  ]);
  assert.deepEqual(
    await update({
      set: [{ id: motor.id }],
      edit: [{ id: motor.id, add: [{ id: motorIds["long"], value: 3 }] }],
    }),
    [[motor.id, [motorIds["long"], 3]]],
  );
  const [before] = await ask(`GET /assets/${asset.id}`);
  await update({ remove: [pump.id], setNull: false });
  assert.deepEqual(await ask(`GET /assets/${asset.id}`), [before], "nothing new is no update");
  assert.deepEqual(await update({ set: null, setNull: true }), []);
  const added = await update({ add: [{ id: motor.id }] });
  assert.deepEqual(await update({ set: null, setNull: false }), added);
  assert.deepEqual(await update({ set: null }), []);

  const plainly = { types: [{ id: pump.id, fields: [{ id: ids["boolean"], value: false }] }] };
  const [patched] = await ask(`PATCH /assets/${asset.id}`, plainly);
  assert.deepEqual((patched!["types"] as Item[]).length, 1);
  await ask("PUT /assets", items({ id: asset.id, name: "p" }));
  assert.deepEqual((await ask(`GET /assets/${asset.id}`))[0]!["types"], []);
  await ask("POST /assets/delete", items(asset.id));
});

test("a search finds assets by their types and by values", async () => {
  const { type: pump, ids } = await pumpType();
  const { type: motor } = await pumpType("Motor");
  const of = (...values: [name: string, value: unknown][]) => {
    return [{ id: pump.id, fields: values.map(([name, value]) => ({ id: ids[name], value })) }];
  };
  const made = await ask(
    "POST /assets",
    items(
      { name: "a", types: of(["long", 5], ["boolean", false], ["string", "x"]) },
      { name: "b", types: of(["long", 7], ["boolean", true]) },
      { name: "c", types: [...of(), { id: motor.id }] },
      { name: "d" },
    ),
  );
  const found = async (...types: unknown[]) =>
    (await ask("POST /assets/search", { filter: { types } })).map(({ name }) => name).join("");
  const having = (...fields: object[]) => found({ id: pump.id, fields });
  assert.equal(await found({ id: pump.id }), "abc");
  assert.equal(await found({ id: pump.id }, { id: motor.id }), "c");
  assert.equal(await having({ id: ids["long"] }), "ab");
  assert.equal(await having({ id: ids["long"], value: 5 }), "a");
  assert.equal(await having({ id: ids["long"], value: "5" }), "");
  assert.equal(await having({ id: ids["long"], min: 5, max: 6 }), "a");
  assert.equal(await having({ id: ids["long"], min: 6 }), "b");
  assert.equal(await having({ id: ids["boolean"], value: false }), "a");
  assert.equal(await having({ id: ids["boolean"], value: 0 }), "");
  assert.equal(await having({ id: ids["string"], min: "w", max: "x" }, { id: ids["long"], max: 5 }), "a");
  assert.equal(await found({ id: motor.id, fields: [{ id: ids["long"] }] }), "");
  await ask("POST /assets/delete", items(...made.map(({ id }) => id)));
});

test("what an asset has is not deleted, until no asset has it any more", async () => {
  const { type, ids } = await pumpType();
  const { type: free } = await pumpType("Free");
  const asset = await assetWith([{ id: type.id, fields: [{ id: ids["long"], value: 1 }] }]);
  const refuses = async (path: string, body: unknown, inUse: object) => {
    const response = await server.ask.v06(`POST /assets/types/${path}`, body);
    const { name } = inUse as { name: string };
    const message = `Assets have values of ${name}; remove them first`;
    assert.deepEqual(response.error, { code: 409, message, extra: { inUse: [inUse] } });
  };
  await refuses("delete", items(free.id, type.id), { id: type.id, name: "Pump" });
  const long = { id: ids["long"]!, name: "long" };
  await refuses(`${type.id}/fields/delete`, items(ids["string"], ids["long"]), long);
  assert.deepEqual(await ask("POST /assets/types/byids", items(type.id, free.id)), [type, free]);
  await ask(`POST /assets/types/${type.id}/fields/delete`, items(ids["string"]));
  await ask(`POST /assets/${asset.id}/update`, { types: { remove: [type.id] } });
  await ask("POST /assets/types/delete", items(free.id, type.id));
  await ask("POST /assets/delete", items(asset.id));
});

const invalid = (field: string, expected: string) => `Invalid field - ${field} - expected ${expected}`;
const unknownId = unknown(7);
const everything = async () => (await Promise.all([ask("GET /assets"), ask("GET /assets/types")])).flat();

async function refusesAll(table: readonly RefusedRequest[]): Promise<void> {
  const refuses = await refusing({ server, versions: ["0.6"], stored: everything });
  for (const { ask, ...refused } of table) await refuses(ask, refused);
}

test("types and fields that cannot be are refused, and nothing changes", async () => {
  const { type, ids } = await pumpType();
  const at = `POST /assets/types/${type.id}/fields`;
  const most = limits.assetTypeFieldsMax;
  const field = { name: "n", valueType: "Long" };
  const creating = (...all: unknown[]) => ({ ask: "POST /assets/types", body: items(...all) });
  const missing = { members: { missingFields: ["items[1].name"] } };
  const oneOf = "one of String, Long, Double, Boolean but got";
  await refusesAll([
    { ...creating(), message: invalid("items", "at least 1 items but got 0") },
    { ...creating(field, {}), message: "Missing required field - items[1].name", ...missing },
    {
      ...creating({ name: "n", fields: [{ name: "n", valueType: "Text" }] }),
      message: invalid("items[0].fields[0].valueType", `${oneOf} "Text"`),
    },
    {
      ...creating({ name: "n", fields: Array(most + 1).fill(field) }),
      message: `items[0].fields may hold at most ${most} items but holds ${most + 1}`,
    },
    { ask: "GET /assets/types/7", ...unknownId, status: 404 },
    { ask: "GET /assets/types/x", message: invalid("typeId", "an integer of at least 1 but got x") },
    { ask: "GET /assets/types?cursor=x", message: invalid("cursor", "a cursor returned by this same query") },
    ...["byids", "delete"].flatMap((path) => [
      { ask: `POST /assets/types/${path}`, body: items(type.id, 7), ...unknownId },
      {
        ask: `POST /assets/types/${path}`,
        body: items(type.id, type.id),
        ...repeated(type.id),
      },
    ]),
    { ask: "POST /assets/types/update", body: items({ id: 7, name: { set: "x" } }), ...unknownId },
    {
      ask: "POST /assets/types/update",
      body: items({ id: type.id, name: "x" }),
      message: invalid("items[0].name", 'an object or null but got "x"'),
    },
    { ask: at, body: items(), message: invalid("items", "at least 1 items but got 0") },
    { ask: "POST /assets/types/7/fields", body: items(field), ...unknownId, status: 404 },
    {
      ask: at,
      body: items(...Array(most - 3).fill(field)),
      message: `fields may hold at most ${most} items but holds ${most + 1}`,
    },
    { ask: `${at}/update`, body: items({ id: ids["long"], name: { set: "x" } }, { id: 7 }), ...unknownId },
    { ask: `${at}/delete`, body: items(ids["string"], 7), ...unknownId },
  ]);
});

test("new assets with types that cannot be are refused, and nothing changes", async () => {
  const { type, ids } = await pumpType();
  const { type: other } = await pumpType("Other");
  const strings = Array(9).fill({ name: "t", valueType: "String" });
  const [wide] = (await ask("POST /assets/types", items({ name: "W", fields: strings }))) as Type[];
  const creating = (types: unknown, message: string) => {
    return { ask: "POST /assets", body: items({ name: "x" }, { name: "y", types }), message };
  };
  const at = "items[1].types";
  const having = (id: number | undefined, value: unknown, expected: string) =>
    creating(
      [{ id: type.id, fields: [{ id, value }] }],
      invalid(`${at}[0].fields[0].value`, `${expected} but got ${JSON.stringify(value)}`),
    );
  const [foreign] = other.fields;
  const long = wide!.fields.map(({ id }) => ({ id, value: "x".repeat(limits.textLengthMax) }));
  await refusesAll([
    creating([{ id: 7 }], invalid(`${at}[0].id`, "the id of an asset type but got 7")),
    creating(
      [{ id: type.id, fields: [{ id: foreign!.id, value: "x" }] }],
      invalid(`${at}[0].fields[0].id`, `the id of a field of the type ${type.id} but got ${foreign!.id}`),
    ),
    creating(
      [{ id: type.id }, { id: type.id }],
      invalid(`${at}[1].id`, `each id only once but got ${type.id}`),
    ),
    having(ids["string"], 1, "a String"),
    having(ids["long"], 1.5, "a Long"),
    having(ids["long"], "1", "a Long"),
    having(ids["long"], 2 ** 53, "a Long"),
    having(ids["double"], true, "a Double"),
    having(ids["boolean"], 0, "a Boolean"),
    creating([{ id: wide!.id, fields: long }], invalid(at, "at most 65536 characters of values but got ...")),
  ]);
});

test("changes of types that cannot be are refused, and nothing changes", async () => {
  const { type, ids } = await pumpType();
  const { type: other } = await pumpType("Other");
  const asset = await assetWith([{ id: type.id, fields: [{ id: ids["long"], value: 1 }] }]);
  const name = { set: "z" };
  const changing = (types: unknown, field: string, expected: string) => {
    const message = invalid(`items[0].types.${field}`, expected);
    return { ask: "POST /assets/update", body: items({ id: asset.id, name, types }), message };
  };
  const editing = (edit: object, field: string, expected: string) =>
    changing({ edit: [{ id: type.id, ...edit }] }, `edit[0].${field}`, expected);
  const aType = "the id of an asset type but got 7";
  await refusesAll([
    changing({ add: [{ id: 7 }] }, "add[0].id", aType),
    changing({ remove: [7] }, "remove[0]", aType),
    changing(
      { edit: [{ id: other.id }] },
      "edit[0].id",
      `the id of a type that the asset has but got ${other.id}`,
    ),
    editing({ add: [{ id: ids["long"], value: "x" }] }, "add[0].value", 'a Long but got "x"'),
    editing({ set: [] }, "set", "at least 1 items but got 0"),
    editing(
      { add: [{ id: ids["long"], value: 2 }], remove: [], set: [] },
      "set",
      "at least 1 items but got 0",
    ),
    editing({ remove: [7] }, "remove[0]", `the id of a field of the type ${type.id} but got 7`),
    {
      ask: `POST /assets/${asset.id}/update`,
      body: { name, types: { set: [{ id: 7 }] } },
      message: invalid("types.set[0].id", aType),
    },
  ]);
});

test("older versions have no types, and who may only read makes none", async () => {
  for (const version of ["v04", "v05"] as const) {
    assert.equal((await server.ask[version]("GET /assets/types")).status, 400);
    assert.equal((await server.ask[version]("POST /assets/types", items({ name: "x" }))).status, 405);
  }
  const contextOf = (...actions: readonly "READ"[]) =>
    contextWith(server.app.services, [{ acl: "assetsAcl", actions, scope: { kind: "all" } }]);
  const forbidden = refusal("forbidden");
  await assert.rejects(createAssetTypes(contextOf("READ"), []), forbidden);
  await assert.rejects(deleteFields(contextOf("READ"), 1, []), forbidden);
  await assert.rejects(listAssetTypes(contextOf(), { limit: 1 }), forbidden);
  assert.equal(idsOf(await server.ask.v06("GET /assets/types?limit=1")).length, 1);
});

// Tags of events, which in 0.4 are strings or ids of assets, and semantic phrases.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type AskFunction,
  idsOf,
  startTestServer,
  type TestResponse,
  type TestServer,
} from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
let pump: number;
let tank: number;
before(async () => {
  server = await startTestServer();
  const items = [{ name: "pump" }, { name: "tank" }];
  [pump, tank] = idsOf(await server.ask("POST /assets", { items })) as [number, number];
});
after(() => server.close());

async function ok(answering: Promise<TestResponse>): Promise<TestResponse> {
  const response = await answering;
  assert.ok(response.status < 300, response.text);
  return response;
}

const versions = (): readonly AskFunction[] => [server.ask.v04, server.ask.v05, server.ask.v06];
const create = async (item: object, ask: AskFunction = server.ask) =>
  idsOf(await ok(ask("POST /events", { items: [item] })))[0]!;
const one = async (id: number, ask: AskFunction = server.ask) =>
  (await ok(ask(`GET /events/${id}`))).items[0]!;
const tagsOf = async (id: number) => {
  const [old, { assetIds, tagIds }] = [await one(id, server.ask.v04), await one(id)];
  return { old: old["tagIds"], assetIds, tagIds };
};
const listed = async (query: string, ask: AskFunction = server.ask) =>
  idsOf(await ok(ask(`GET /events?limit=1000&${query}`)));

test("strings among the tags are kept, numbers are ids of assets, in every version", async () => {
  for (const ask of versions()) {
    const id = await create({ tagIds: ["21PT1019", pump, "5", "21PT1019"], assetIds: [tank] }, ask);
    const expected = {
      old: [tank, pump, "21PT1019", "5"],
      assetIds: [tank, pump],
      tagIds: ["21PT1019", "5"],
    };
    assert.deepEqual(await tagsOf(id), expected);
  }
  assert.deepEqual(await tagsOf(await create({})), { old: [], assetIds: [], tagIds: undefined });
});

test("lists and searches filter by a tag, a string or the id of an asset", async () => {
  const a = await create({ tagIds: ["P-1", "P-2"] });
  const b = await create({ tagIds: ["P-2"], assetIds: [pump] });
  const c = await create({ tagIds: [`${pump}`] });
  for (const ask of versions())
    for (const [tag, expected] of [
      ["P-1", [a]],
      ["P-2", [a, b]],
      ["P-", []],
      [`${tank}0`, []],
    ] as const) {
      assert.deepEqual(await listed(`tagId=${tag}`, ask), expected);
      const { items } = await ok(ask(`GET /events/search?limit=1000&tagId=${tag}`));
      assert.deepEqual(items.map(({ id }) => id).sort(), expected);
    }
  const found = await listed(`tagId=${pump}`);
  assert.ok(found.includes(b) && found.includes(c) && !found.includes(a));
});

test("a change of tags: 0.4 changes both kinds, newer versions leave links without a number", async () => {
  const made = () => create({ tagIds: ["a", "b"], assetIds: [pump] });
  const after = async (ask: AskFunction, change: object) => {
    const id = await made();
    await ok(ask(`POST /events/${id}/update`, change));
    return tagsOf(id);
  };
  for (const ask of versions()) {
    const added = await after(ask, { tagIds: { add: ["c", tank], remove: ["a"] } });
    assert.deepEqual(added.old, [pump, tank, "b", "c"]);
    const set = await after(ask, { tagIds: { set: [tank, "x"] } });
    assert.deepEqual(set, { old: [tank, "x"], assetIds: [tank], tagIds: ["x"] });
    const both = await after(ask, { tagIds: { add: [tank] }, assetIds: { remove: [pump] } });
    assert.deepEqual(both.old, [tank, "a", "b"]);
    const isOld = ask === server.ask.v04;
    const strings = await after(ask, { tagIds: { set: ["x"] } });
    assert.deepEqual(strings.old, isOld ? ["x"] : [pump, "x"]);
    const none = await after(ask, { tagIds: { setNull: true } });
    assert.deepEqual(none.old, isOld ? [] : [pump]);
  }
  const id = await made();
  await ok(server.ask(`PATCH /events/${id}`, { tagIds: ["p"], labels: ["l"] }));
  const { tagIds, labels } = await one(id);
  assert.deepEqual([tagIds, labels], [["p"], ["l"]]);
});

test("overwriting: 0.4 replaces the tags, 0.5 keeps those it does not send", async () => {
  const id = await create({ tagIds: ["a"], assetIds: [pump] });
  await ok(server.ask.v05("POST /events/update", { items: [{ id, assetIds: [tank] }] }));
  assert.deepEqual((await tagsOf(id)).old, [tank, "a"]);
  await ok(server.ask.v04("POST /events/update", { items: [{ id, tagIds: ["b", pump] }] }));
  assert.deepEqual((await tagsOf(id)).old, [pump, "b"]);
  await ok(server.ask.v04("POST /events/update", { items: [{ id }] }));
  assert.deepEqual((await tagsOf(id)).old, []);
});

test("tags out of bounds and of unknown assets are refused, and nothing is created", async () => {
  const before = await listed("");
  const long = "x".repeat(limits.nameLengthMax + 1);
  const refusals: readonly (readonly [tagIds: unknown, message: RegExp])[] = [
    [[7, "a"], /items\[0\]\.tagIds - expected ids of existing assets but got 7/],
    [[long], /items\[0\]\.tagIds\[0\] - expected/],
    [[true], /items\[0\]\.tagIds\[0\] - expected integer or string but got true/],
    [Array(limits.eventAssetsMax + 1).fill("x"), /items\[0\]\.tagIds may hold at most 1000 items/],
  ];
  for (const [tagIds, message] of refusals) {
    const refused = await server.ask("POST /events", { items: [{ tagIds }] });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.error!.message, message);
  }
  assert.deepEqual(await listed(""), before);
  const id = await create({ assetIds: [pump] });
  for (const [member, body] of [
    ["tagIds", { tagIds: { add: [7] } }],
    ["assetIds", { tagIds: { add: ["7"] }, assetIds: { set: [7] } }],
  ] as const) {
    const refused = await server.ask.v04(`POST /events/${id}/update`, body);
    const expected = `Invalid field - ${member} - expected ids of existing assets but got 7`;
    assert.deepEqual([refused.status, refused.error?.message], [400, expected]);
  }
});

async function semanticType(name: string): Promise<number> {
  return idsOf(await ok(server.ask("POST /semantictypes", { items: [{ name }] })))[0]!;
}

test("semantic phrases are kept in order, shown in every version, changed and filtered by", async () => {
  const [cause, remedy] = [await semanticType("cause"), await semanticType("remedy")];
  const phrases = [
    { text: "seal worn", semanticTypeId: cause },
    { text: "new seal", semanticTypeId: remedy },
  ];
  for (const ask of versions()) {
    const id = await create({ semanticPhrases: phrases }, ask);
    for (const reader of versions()) assert.deepEqual((await one(id, reader))["semanticPhrases"], phrases);
    assert.deepEqual(await listed(`semanticTypeId=${remedy}`), [id]);
    assert.deepEqual(await listed("semanticPhrase=seal%20worn", ask), [id]);
    assert.deepEqual(await listed(`semanticPhrase=seal%20worn&semanticTypeId=${remedy}`), []);
    const { items } = await ok(ask(`GET /events/search?semanticTypeId=${cause}&semanticPhrase=seal%20worn`));
    assert.deepEqual(
      items.map((item) => item["id"]),
      [id],
    );
    const update = async (change: object) =>
      (await ok(ask(`POST /events/${id}/update`, change))).items[0]!["semanticPhrases"];
    assert.deepEqual(await update({ type: { set: "x" } }), phrases);
    assert.deepEqual(await update({ semanticPhrases: { set: phrases.slice(1) } }), phrases.slice(1));
    assert.deepEqual(await update({ semanticPhrases: { setNull: true } }), undefined);
    await ok(ask(`PATCH /events/${id}`, { semanticPhrases: phrases }));
    assert.deepEqual((await one(id))["semanticPhrases"], phrases);
    assert.deepEqual(await update({ semanticPhrases: { set: [] } }), undefined);
    await ok(server.ask("POST /events/delete", { items: [id] }));
  }
});

test("phrases of unknown semantic types are refused by place, and nothing is done", async () => {
  const known = await semanticType("known");
  const id = await create({ description: "as it was" });
  const phrases = [known, 7].map((semanticTypeId) => ({ text: "t", semanticTypeId }));
  const said = (place: string) =>
    `Invalid field - ${place}semanticPhrases[1].semanticTypeId - ` +
    "expected the id of an existing semantic type but got 7";
  const before = await listed("");
  const change = { semanticPhrases: { set: phrases }, description: { set: "changed" } };
  for (const [refused, place] of [
    [await server.ask("POST /events", { items: [{}, { semanticPhrases: phrases }] }), "items[1]."],
    [await server.ask.v06("POST /events/update", { items: [{ id, ...change }] }), "items[0]."],
    [await server.ask(`POST /events/${id}/update`, change), ""],
  ] as const)
    assert.deepEqual([refused.status, refused.error?.message], [400, said(place)]);
  assert.deepEqual(await listed(""), before);
  assert.equal((await one(id))["description"], "as it was");
  const many = Array(limits.eventPhrasesMax + 1).fill({ text: "t", semanticTypeId: known });
  const refused = await server.ask("POST /events", { items: [{ semanticPhrases: many }] });
  assert.equal(refused.error?.message, "items[0].semanticPhrases may hold at most 100 items but holds 101");
});

test("a semantic type is deleted only when no event has a phrase of it", async () => {
  const [used, free] = [await semanticType("used"), await semanticType("free")];
  const id = await create({ semanticPhrases: [{ text: "t", semanticTypeId: used }] });
  const refused = await server.ask("POST /semantictypes/delete", { items: [free, used] });
  assert.deepEqual(
    [refused.status, refused.error?.message, refused.error?.["extra"]],
    [409, "Events have phrases of used; remove these phrases first", { inUse: [{ id: used, name: "used" }] }],
  );
  const { items } = await ok(server.ask("GET /semantictypes?limit=1000"));
  assert.ok([used, free].every((type) => items.some((item) => item["id"] === type)));
  await ok(server.ask("POST /events/delete", { items: [id] }));
  await ok(server.ask("POST /semantictypes/delete", { items: [free, used] }));
});

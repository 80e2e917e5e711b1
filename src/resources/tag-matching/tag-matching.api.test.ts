// Tag matching over the API: requests of the Python clients, and refusals.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { contextWith } from "../../../test/support/context.ts";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";
import { ensureProject } from "../projects/projects.ts";
import { matchTags } from "./tag-matching.ts";

let server: TestServer;
let unit: number;

before(async () => {
  server = await startTestServer();
  const [first] = (
    await server.ask("POST /assets", {
      items: [
        { name: "21-PT-1019", refId: "u", source: "sap", sourceId: "1" },
        { name: "21PT1019", source: "pi", sourceId: "1" },
        { name: "21-PT-1018", parentRefId: "u" },
        { name: "21-pt-01019", source: "sap", sourceId: "2" },
        { name: "21PT1019" },
        { name: "21PT1019" },
        { name: "boiler" },
      ],
    })
  ).items;
  unit = first!["id"] as number;
});
after(() => server.close());

const match = (tagId: string, score: number, platform: string | null) => ({ tagId, score, platform });

test("matches come best first, the same in every version", async () => {
  const exact = [
    match("21-PT-1019", 0, "sap"),
    match("21-pt-01019", 0, "sap"),
    match("21PT1019", 0, null),
    match("21PT1019", 0, "pi"),
  ];
  const tagIds = ["21-PT-1019", "Boilers", "nothing like it", "21-PT-1019"];
  const metadata = { fuzzyThreshold: 1, platform: null };
  const near = { tagId: "21-PT-1019", matches: [...exact, match("21-PT-1018", 1, null)] };
  for (const version of ["v04", "v05", "v06"] as const) {
    const response = await server.ask[version]("POST /tagmatching", { tagIds, metadata });
    assert.equal(response.status, 200);
    assert.deepEqual(response.items, [
      near,
      { tagId: "Boilers", matches: [match("boiler", 1, null)] },
      { tagId: "nothing like it", matches: [] },
      near,
    ]);
  }
  const perfect = await server.ask("POST /tagmatching", { tagIds: ["21 pt 1019", "boilers"] });
  assert.deepEqual(perfect.items, [
    { tagId: "21 pt 1019", matches: exact },
    { tagId: "boilers", matches: [] },
  ]);
  assert.deepEqual((await server.ask("POST /tagmatching", { tagIds: [] })).items, []);
});

test("a platform is the source of an asset", async () => {
  const metadata = { fuzzyThreshold: 100, platform: "pi" };
  const { items } = await server.ask("POST /tagmatching", { tagIds: ["21-PT-1018"], metadata });
  assert.deepEqual(items, [{ tagId: "21-PT-1018", matches: [match("21PT1019", 1, "pi")] }]);
});

test("only what the caller may see is matched", async () => {
  const scope = { kind: "subtrees", assetIds: [unit] } as const;
  const capability = { acl: "assetsAcl", actions: ["READ"], scope } as const;
  const { project } = await ensureProject(server.app.services, server.project);
  const ctx = contextWith(server.app.services, [capability], project.id);
  const [found] = await matchTags(ctx, { tags: ["21-PT-1019"], scoreMax: 1 });
  assert.deepEqual(
    found!.map(({ name }) => name),
    ["21-PT-1019", "21-PT-1018"],
  );
});

test("invalid queries are refused", async () => {
  const most = limits.tagsPerMatchMax;
  const invalid = (field: string) => `Invalid field - ${field} - expected`;
  const table: [body: object, message: string, members?: object][] = [
    [{}, "Missing required field - tagIds", { missingFields: ["tagIds"] }],
    [{ tagIds: ["a", 5] }, `${invalid("tagIds[1]")} string but got number`],
    [{ tagIds: Array(most + 1).fill("a") }, `tagIds may hold at most ${most} items but holds ${most + 1}`],
    [
      { tagIds: ["a"], metadata: { fuzzyThreshold: -1 } },
      `${invalid("metadata.fuzzyThreshold")} a value >= 0 but got -1`,
    ],
    [{ tagIds: ["a"], metadata: { platform: 5 } }, `${invalid("metadata.platform")} string but got number`],
  ];
  for (const [body, message, members = {}] of table) {
    const { status, error } = await server.ask("POST /tagmatching", body);
    assert.deepEqual([status, error], [400, { code: 400, message, ...members }]);
  }
});

// Every refusal of accounts and keys: status, message, members, and nothing changed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  invalid,
  items,
  missing,
  type RefusedRequest,
  refusing,
  repeated,
  unknown,
} from "../../../test/support/refused-requests.ts";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
let user: number;
let groups: number[];
before(async () => {
  server = await startTestServer();
  [user] = idsOf(await server.ask("POST /users", { items: [{ uniqueName: "held" }] })) as [number];
  const many = Array.from({ length: limits.accountGroupsMax + 1 }, (_, at) => ({ name: `group ${at}` }));
  groups = idsOf(await server.ask("POST /groups", { items: many }));
});
after(() => server.close());

const taken = (...names: string[]) => ({
  status: 409,
  message: `A user has this uniqueName already: ${names.join(", ")}`,
  members: { duplicates: names.map((uniqueName) => ({ uniqueName })) },
});

const refusals = (): readonly RefusedRequest[] => [
  { ask: "POST /users", body: {}, ...missing("items") },
  { ask: "POST /users", body: items({}), ...missing("items[0].uniqueName") },
  {
    ask: "POST /users",
    body: items({ uniqueName: "" }),
    message: `${invalid("items[0].uniqueName")} at least 1 characters but got 0`,
  },
  { ask: "POST /users", body: items({ uniqueName: "x" }, { uniqueName: "held" }), ...taken("held") },
  { ask: "POST /users", body: items({ uniqueName: "x" }, { uniqueName: "x" }), ...taken("x") },
  { ask: "POST /users", body: items({ uniqueName: "x", groups: [5] }), ...unknown(5) },
  {
    ask: "POST /users",
    body: items({ uniqueName: "x", groups }),
    message: `items[0].groups may hold at most ${limits.accountGroupsMax} items but holds ${groups.length}`,
  },
  ...["/users/delete", "/apikeys/delete"].flatMap((path) => [
    { ask: `POST ${path}`, body: items(5, 6), ...unknown(5, 6) },
    {
      ask: `POST ${path}`,
      body: items(),
      message: `${invalid("items")} at least 1 items but got 0`,
    },
    {
      ask: `POST ${path}`,
      body: items("5"),
      message: `${invalid("items[0]")} integer but got string`,
    },
  ]),
  {
    ask: "POST /users/delete",
    body: items(user, user),
    ...repeated(user),
  },
  { ask: "POST /apikeys", body: items({}), ...missing("items[0].userId") },
  { ask: "POST /apikeys", body: items({ userId: user }, { userId: 5 }), ...unknown(5) },
  {
    ask: "GET /apikeys?userId=me",
    message: `${invalid("userId")} an integer of at least 1 but got me`,
  },
  ...["/users/5", "/apikeys/5"].map((path) => ({
    ask: `GET ${path}`,
    status: 404,
    ...unknown(5),
  })),
];

const stateOf = async () =>
  JSON.stringify([
    (await server.ask("GET /users?includeDeleted=true")).items,
    (await server.ask("GET /apikeys?all=true&includeDeleted=true")).items.map((key) => key["id"]),
  ]);

test("what cannot be is refused, and nothing changes", async () => {
  const refuses = await refusing({ server, stored: stateOf });
  for (const { ask, ...refused } of refusals()) await refuses(ask, refused);
});

test("a key cannot begin expired", async () => {
  const { status, error } = await server.ask("POST /apikeys", items({ userId: user, expiresTime: 1 }));
  assert.equal(status, 400);
  assert.match(
    error!.message,
    /^Invalid field - items\[0\]\.expiresTime - expected a time after now, \d+, but got 1$/,
  );
});

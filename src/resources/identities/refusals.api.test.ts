// What accounts and keys refuse: status, message, further members, and nothing changed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
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

interface Refused {
  readonly ask: string;
  readonly body: unknown;
  readonly message: string;
  readonly members?: Readonly<Record<string, unknown>>;
  readonly status?: number;
}

const items = (...all: unknown[]) => ({ items: all });
const invalid = (field: string) => `Invalid field - ${field} - expected`;
const missing = (field: string) => ({
  message: `Missing required field - ${field}`,
  members: { missingFields: [field] },
});
const unknown = (...ids: number[]) => ({
  message: `No such ids: ${ids.join(", ")}`,
  members: { notFound: ids },
});
const taken = (...names: string[]) => ({
  status: 409,
  message: `A user has this uniqueName already: ${names.join(", ")}`,
  members: { duplicates: names.map((uniqueName) => ({ uniqueName })) },
});

const refusals = (): readonly Refused[] => [
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
    message: `items names the same id more than once: ${user}`,
    members: { notFound: [user] },
  },
  { ask: "POST /apikeys", body: items({}), ...missing("items[0].userId") },
  { ask: "POST /apikeys", body: items({ userId: user }, { userId: 5 }), ...unknown(5) },
  {
    ask: "GET /apikeys?userId=me",
    body: undefined,
    message: `${invalid("userId")} an integer of at least 1 but got me`,
  },
  ...["/users/5", "/apikeys/5"].map((path) => ({
    ask: `GET ${path}`,
    body: undefined,
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
  const unchanged = await stateOf();
  for (const { ask, body, message, members, status = 400 } of refusals()) {
    const answer = await server.ask(ask, body);
    const what = `${ask} ${JSON.stringify(body)?.slice(0, 500)} answered ${answer.text}`;
    assert.deepEqual([answer.status, answer.error], [status, { code: status, message, ...members }], what);
    assert.equal(await stateOf(), unchanged, `${what} and changed something`);
  }
});

test("a key cannot begin expired", async () => {
  const { status, error } = await server.ask("POST /apikeys", items({ userId: user, expiresTime: 1 }));
  assert.equal(status, 400);
  assert.match(
    error!.message,
    /^Invalid field - items\[0\]\.expiresTime - expected a time after now, \d+, but got 1$/,
  );
});

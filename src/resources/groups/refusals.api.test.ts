// Every refusal of groups, members and security categories: status, message, members, and nothing changed.
import { after, before, test } from "node:test";
import {
  invalid,
  items,
  missing,
  type Refused,
  type RefusedRequest,
  refusing,
  repeated,
  unknown,
} from "../../../test/support/refused-requests.ts";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { aclRules } from "../../access/capabilities.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
let group: number;
let user: number;
before(async () => {
  server = await startTestServer();
  [group] = idsOf(await server.ask("POST /groups", { items: [{ name: "held" }] })) as [number];
  const member = { uniqueName: "held", groups: [group] };
  [user] = idsOf(await server.ask("POST /users", { items: [member] })) as [number];
  await server.ask("POST /securitycategories", { items: [{ name: "held" }] });
});
after(() => server.close());

const acls = Object.keys(aclRules).join(", ");
const all = { all: {} };
const first = "items[0].capabilities[0]";
const creating = (capability: unknown, refused: string | Refused): RefusedRequest => ({
  ask: "POST /groups",
  body: items({ name: "x", capabilities: [capability] }),
  ...(typeof refused === "string" ? { message: refused } : refused),
});

const capabilities: readonly RefusedRequest[] = [
  creating({}, `${invalid(first)} one of ${acls} but got none`),
  creating({ fooAcl: { actions: ["READ"], scope: all } }, `${invalid(first)} one of ${acls} but got fooAcl`),
  creating(
    { constructor: { actions: ["READ"], scope: all } },
    `${invalid(first)} one of ${acls} but got constructor`,
  ),
  creating(
    { assetsAcl: { actions: ["READ", "FLY"], scope: all } },
    `${invalid(`${first}.assetsAcl.actions[1]`)} one of READ, WRITE but got "FLY"`,
  ),
  creating(
    { assetsAcl: { actions: [], scope: all } },
    `${invalid(`${first}.assetsAcl.actions`)} at least 1 items but got 0`,
  ),
  creating({ assetsAcl: { scope: all } }, missing(`${first}.assetsAcl.actions`)),
  creating({ assetsAcl: { actions: ["READ"] } }, missing(`${first}.assetsAcl.scope`)),
  creating(
    { rawAcl: { actions: ["READ"], scope: { assetIdScope: { subtreeIds: ["1"] } } } },
    `${invalid(`${first}.rawAcl.scope`)} all but got assetIdScope`,
  ),
  creating(
    { assetsAcl: { actions: ["READ"], scope: { nowhere: {} } } },
    `${invalid(`${first}.assetsAcl.scope`)} one of all, assetIdScope but got nowhere`,
  ),
  creating(
    { assetsAcl: { actions: ["READ"], scope: { all: {}, currentuserscope: {} } } },
    `${invalid(`${first}.assetsAcl.scope`)} one of all, assetIdScope but got all and currentuserscope`,
  ),
  creating(
    { assetsAcl: { actions: ["READ"], scope: { assetIdScope: {} } } },
    missing(`${first}.assetsAcl.scope.assetIdScope.subtreeIds`),
  ),
  creating(
    { assetsAcl: { actions: ["READ"], scope: { assetIdScope: { subtreeIds: ["1", "1", `${2 ** 53}`] } } } },
    `${invalid(`${first}.assetsAcl.scope.assetIdScope.subtreeIds[2]`)} a value that is an id in digits, ` +
      `not above ${2 ** 53 - 1} but got "${2 ** 53}"`,
  ),
];

const accessTypes = "one of READ, WRITE, ADMIN, RAW_READ";
const rightsThatFit = `at most ${limits.groupRightsLengthMax} characters of rights as JSON`;

const creations: readonly RefusedRequest[] = [
  { ask: "POST /groups", body: items(), message: `${invalid("items")} at least 1 items but got 0` },
  {
    ask: "POST /groups",
    body: items({}),
    ...missing("items[0].name"),
  },
  {
    ask: "POST /groups",
    body: items({ name: "x", permissions: { accessTypes: ["FLY"] } }),
    message: `${invalid("items[0].permissions.accessTypes[0]")} ${accessTypes} but got "FLY"`,
  },
  {
    ask: "POST /groups",
    body: items({
      name: "x",
      permissions: { assetIds: Array.from({ length: 20_000 }, (_, at) => at + 10_000) },
    }),
    message: `${invalid("items[0]")} ${rightsThatFit} but got 120019`,
  },
];

const categories: readonly RefusedRequest[] = [
  {
    ask: "POST /securitycategories",
    body: items({ name: "new" }, { name: "held" }),
    status: 409,
    message: "A security category has this name already: held",
    members: { duplicates: [{ name: "held" }] },
  },
  {
    ask: "POST /securitycategories/delete",
    body: items(5),
    ...unknown(5),
  },
  {
    ask: "GET /securitycategories?sort=UP",
    message: `${invalid("sort")} one of ASC, DESC but got UP`,
  },
];

const others = (): readonly RefusedRequest[] => [
  ...[`GET /groups/5`, `GET /groups/5/users`].map((ask) => ({
    ask,
    status: 404,
    ...unknown(5),
  })),
  ...["users", "users/remove"].map((path) => ({
    ask: `POST /groups/5/${path}`,
    body: items(user),
    status: 404,
    ...unknown(5),
  })),
  ...["users", "users/remove"].map((path) => ({
    ask: `POST /groups/${group}/${path}`,
    body: items(6),
    ...unknown(6),
  })),
  {
    ask: `POST /groups/${group}/users`,
    body: items({ id: user }),
    message: `These are members of the group already: ${user}`,
  },
  {
    ask: "POST /groups/delete",
    body: items(group, 5),
    ...unknown(5),
  },
  {
    ask: "POST /groups/delete",
    body: items(group, group),
    ...repeated(group),
  },
  { ask: "PUT /defaultgroup", body: items(5), ...unknown(5) },
  {
    ask: "PUT /defaultgroup",
    body: items(group, group),
    message: "items may hold at most 1 items but holds 2",
  },
];

const stateOf = async () =>
  JSON.stringify([
    (await server.ask("GET /groups?all=true&includeDeleted=true")).items,
    (await server.ask("GET /users?includeDeleted=true")).items,
    (await server.ask("GET /securitycategories")).items,
    (await server.ask("GET /")).items,
  ]);

test("what cannot be is refused, and nothing changes", async () => {
  const refuses = await refusing({ server, stored: stateOf });
  for (const { ask, ...refused } of [...capabilities, ...creations, ...categories, ...others()])
    await refuses(ask, refused);
});

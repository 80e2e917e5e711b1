// The access methods of @cognite/sdk 1.7.7 from npm, unmodified, against the real server.
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sdk from "@cognite/sdk";
import { recordReturns } from "../support/every-method.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const calls = recordReturns({
  ApiKeys: sdk.ApiKeys,
  Groups: sdk.Groups,
  SecurityCategories: sdk.SecurityCategories,
  Users: sdk.Users,
});
const { ApiKeys, Groups, SecurityCategories, Users } = calls.recorded;
const refused = (status: number) => (error: unknown) => (error as { status?: number }).status === status;

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
  sdk.configure({ baseUrl: server.baseUrl, project: server.project, apiKey: server.key });
});
after(() => server.close());

it("Users: create, list and delete", async () => {
  const [group] = await Groups.create([{ name: "operators" }]);
  const [user] = await Users.create([{ uniqueName: "gateway", groups: [group!.id] }]);
  assert.deepEqual(user, { id: user!.id, uniqueName: "gateway", groups: [group!.id], isDeleted: false });
  assert.ok((await Users.list()).some(({ id }) => id === user!.id));
  await assert.rejects(Users.create([{ uniqueName: "gateway" }]), refused(409));
  await Users.delete([user!.id!]);
  assert.ok(!(await Users.list()).some(({ id }) => id === user!.id));
});

it("ApiKeys: create, list and delete", async () => {
  const [user] = await Users.create([{ uniqueName: "historian" }]);
  const [key, other] = await ApiKeys.create([user!.id!, user!.id!]);
  assert.ok(key!.value && key!.value !== other!.value);
  const ids = (keys: readonly { id: number }[]) => keys.map(({ id }) => id);
  const userId = user!.id!;
  assert.deepEqual(ids(await ApiKeys.list({ userId })), [key!.id, other!.id]);
  assert.equal((await ApiKeys.list()).length, 1, "its own");
  await ApiKeys.delete([key!.id]);
  assert.deepEqual(ids(await ApiKeys.list({ userId })), [other!.id]);
  const kept = await ApiKeys.list({ userId, includeDeleted: true });
  assert.deepEqual(
    kept.map(({ status, value }) => [status, value]),
    [
      ["DELETED", undefined],
      ["ACTIVE", undefined],
    ],
  );
  assert.ok((await ApiKeys.list({ all: true })).length >= 2);
});

it("Groups: create, list, listUsers, addUsers, removeUsers and delete", async () => {
  const scope = { all: {} };
  const both = {
    groupsAcl: { actions: ["LIST" as const], scope: { currentuserscope: {} } },
    assetsAcl: { actions: ["READ" as const, "WRITE" as const], scope },
  };
  const subtrees = { assetIdScope: { subtreeIds: [123] } };
  const [group] = await Groups.create([
    {
      name: "engineers",
      source: "directory",
      sourceId: "eng",
      permissions: { accessTypes: ["READ"], assetIds: [123], securityCategoryIds: [] },
      capabilities: [both, { timeSeriesAcl: { actions: ["READ"], scope: subtrees } }],
    },
  ]);
  assert.equal(group!.capabilities!.length, 3);
  const id = group!.id;
  assert.ok((await Groups.list({ all: true })).some((one) => one.id === id));
  assert.ok(!(await Groups.list()).some((one) => one.id === id));
  const [user] = await Users.create([{ uniqueName: "engineer" }]);
  await Groups.addUsers(id, [user!.id!]);
  await assert.rejects(Groups.addUsers(id, [user!.id!]), refused(400));
  assert.deepEqual(await Groups.listUsers(id), [{ ...user, groups: [id] }]);
  await Groups.removeUsers(id, [user!.id!]);
  assert.deepEqual(await Groups.listUsers(id), []);
  await Groups.delete([id]);
  await assert.rejects(Groups.listUsers(id), refused(404));
});

it("SecurityCategories: create, list and delete", async () => {
  const made = await SecurityCategories.create(["one", "two", "three"]);
  const page = await SecurityCategories.list({ limit: 2, sort: "DESC" });
  assert.deepEqual(
    page.items.map(({ name }) => name),
    ["three", "two"],
  );
  const next = await SecurityCategories.list({ limit: 2, sort: "DESC", cursor: page.nextCursor! });
  assert.deepEqual([next.items, next.nextCursor], [[made[0]], undefined]);
  await SecurityCategories.delete(made.map(({ id }) => id));
  assert.deepEqual((await SecurityCategories.list()).items, []);
});

it("every method has returned", () => calls.assertAllReturned());

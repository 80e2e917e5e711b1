// API keys and administrators without a server: keys of older folders and of settings, misleading names.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestContext } from "../context.ts";
import { ClockIds } from "../lib/ids.ts";
import { realSystem as system } from "../lib/system.ts";
import { openNaiveCatalog } from "../storage/conformance/naive-catalog.ts";
import { adoptKeys } from "./administrators.ts";
import { ApiKeys } from "./api-keys.ts";
import { aclRules, administrator } from "./capabilities.ts";
import { endedSessionTable } from "./ended-sessions.ts";
import { capabilitiesOf } from "./older-permissions.ts";
import { Rights } from "./rights.ts";
import { type Account, type ApiKey, accountTable, apiKeyTable, groupTable } from "./schema.ts";

const demo = { id: 1, urlName: "demo" };

function newApiKeys() {
  const catalog = openNaiveCatalog([apiKeyTable, accountTable, groupTable, endedSessionTable]);
  const rights = new Rights({
    catalog,
    system,
    defaultGroupOf: async () => undefined,
    ancestorsOf: async () => new Map(),
  });
  const ids = new ClockIds(system, 0);
  const keys = new ApiKeys({ catalog, ids, system, secret: new Uint8Array(32), rights });
  return { catalog, ids, keys, system, rights };
}

test("a key of a folder from before there were accounts becomes the administrator's", async () => {
  const { catalog, keys, ...maker } = newApiKeys();
  const { record, key } = keys.draft(demo, { name: "old", accountId: 5 });
  const { accountId: _, ...old } = record;
  await catalog.write("system", (tx) => tx.insert<ApiKey>(apiKeyTable, [old]));
  assert.equal(await keys.callerOf(key), undefined);
  await catalog.write("system", (tx) => adoptKeys(tx, maker));
  const { user, capabilities } = (await keys.callerOf(key))!;
  assert.deepEqual([user, capabilities], ["administrator", administrator]);
});

test("the operator's key replaces the one before, comes back when deleted, serves one project", async () => {
  const { keys } = newApiKeys();
  assert.equal(await keys.ensure(demo, "operator", "first-choice"), true);
  assert.equal(await keys.ensure(demo, "operator", "second-choice"), true);
  assert.equal(await keys.callerOf("first-choice"), undefined);
  const [{ id } = { id: 0 }, ...others] = await keys.list(demo);
  assert.deepEqual(others, []);
  await keys.revoke(id);
  assert.equal(await keys.callerOf("second-choice"), undefined);
  assert.equal(await keys.ensure(demo, "operator", "second-choice"), true);
  assert.equal((await keys.callerOf("second-choice"))?.projectUrlName, "demo");
  assert.equal(await keys.ensure({ id: 2, urlName: "other" }, "operator", "second-choice"), false);
  assert.equal((await keys.callerOf("second-choice"))?.projectUrlName, "demo");
});

test("the limits of the operator's key outlast a start, also when it was deleted", async () => {
  const { keys, rights } = newApiKeys();
  const start = () => keys.ensure(demo, "operator", "first-choice");
  await start();
  const [{ id } = { id: 0 }] = await keys.list(demo);
  const limits = { requestsPerSecond: 5 };
  await rights.change((tx) => tx.setColumns(apiKeyTable, ["limits"], [{ id, limits }]));
  await start();
  await keys.revoke(id);
  await start();
  assert.deepEqual((await keys.list(demo))[0]?.limits, limits);
});

test("a new key returns the administrator to its group, and its other keys count at once", async () => {
  const { keys, rights } = newApiKeys();
  const { key } = await keys.create(demo, "first");
  const { userId: id, capabilities } = (await keys.callerOf(key))!;
  assert.deepEqual(capabilities, administrator);
  await rights.change((tx) => tx.setColumns(accountTable, ["groupIds"], [{ id: id!, groupIds: [] }]));
  assert.deepEqual((await keys.callerOf(key))?.capabilities, []);
  await keys.create(demo, "second");
  assert.deepEqual((await keys.callerOf(key))?.capabilities, administrator);
});

test("a context cannot write system tables, so that cached rights are never out of date", () => {
  const write: RequestContext["catalog"]["write"] = () => Promise.reject(new Error("not called"));
  // @ts-expect-error: only `Rights.change` writes them.
  const forbidden = () => write("system", async () => undefined);
  assert.equal(typeof forbidden, "function");
});

test("an account that only calls itself administrator is not made one", async () => {
  const { catalog, ids, keys } = newApiKeys();
  const impostor: Account = {
    id: ids.next(),
    projectId: demo.id,
    uniqueName: "administrator",
    groupIds: [],
    createdTime: 0,
  };
  await catalog.write("system", (tx) => tx.insert(accountTable, [impostor]));
  const theirs = await keys.create(demo, "theirs", { accountId: impostor.id });
  const { key } = await keys.create(demo, "ours");
  assert.deepEqual((await keys.callerOf(theirs.key))?.capabilities, []);
  const ours = (await keys.callerOf(key))!;
  assert.deepEqual(ours.capabilities, administrator);
  assert.equal(ours.user, `administrator ${ours.userId}`);
});

test("requests that come together look a key up once; what comes after a change sees it", async () => {
  const { keys, rights } = newApiKeys();
  const { id, key } = await keys.create(demo, "busy");
  const [one, other] = await Promise.all([keys.callerOf(key), keys.callerOf(key)]);
  assert.equal(one, other);
  const before = keys.callerOf(key);
  await keys.revoke(id);
  assert.equal(await keys.callerOf(key), undefined);
  assert.ok(await before);
  assert.ok(rights.rightsVersion > 0);
});

test("limited to assets, older permissions grant nothing on records without assets", () => {
  const scope = { kind: "subtrees", assetIds: [7] } as const;
  const limited = capabilitiesOf({ accessTypes: ["READ", "WRITE"], assetIds: [7] });
  const onAssets = ["assetsAcl", "timeSeriesAcl", "eventsAcl", "filesAcl", "sequencesAcl"] as const;
  const actions = ["READ", "WRITE"] as const;
  assert.deepEqual(
    limited,
    onAssets.map((acl) => ({ acl, actions, scope })),
  );
  const raw = { acl: "rawAcl", actions: ["READ", "LIST"], scope: { kind: "all" } };
  assert.deepEqual(capabilitiesOf({ accessTypes: ["RAW_READ"] }), [raw]);
  const member = { acl: "securityCategoriesAcl", actions: ["MEMBEROF"], scope: { kind: "ids", ids: [3] } };
  assert.deepEqual(capabilitiesOf({ securityCategoryIds: [3], assetIds: [7] }), [member]);
  assert.deepEqual(capabilitiesOf({}), []);
});

test("the older permissions READ and WRITE grant every resource with data, and no administration", () => {
  const administration = ["groups", "users", "apikeys", "securityCategories", "audit", "projects"];
  const excluded = administration.map((name) => `${name}Acl`);
  const granted = capabilitiesOf({ accessTypes: ["READ", "WRITE"] });
  assert.deepEqual(
    granted.map(({ acl }) => acl),
    Object.keys(aclRules).filter((acl) => !excluded.includes(acl)),
  );
});

test("a temporary key acts for its account until disposal, expiry, or the end of the account", async () => {
  const { catalog, ids, keys } = newApiKeys();
  const account = { id: ids.next(), projectId: demo.id, uniqueName: "robot", groupIds: [], createdTime: 0 };
  await catalog.write("system", (tx) => tx.insert<Account>(accountTable, [account]));
  const loan = { projectId: demo.id, project: "demo", accountId: account.id, startedWith: undefined };
  const caller = { projectId: demo.id, projectUrlName: "demo" };
  const lent = keys.createTemporary({ ...loan, expiresTime: system.nowMs() + 60_000 });
  assert.equal((await keys.callerOf(lent.key))?.user, "robot");
  assert.deepEqual(await keys.list(demo), []);
  lent[Symbol.dispose]();
  assert.equal(await keys.callerOf(lent.key), undefined);
  using expired = keys.createTemporary({ ...loan, expiresTime: system.nowMs() });
  assert.equal(await keys.callerOf(expired.key), undefined);
  assert.equal((await keys.callerAs(account.id, caller))?.userId, account.id);
  await catalog.write("system", (tx) =>
    tx.setColumns(accountTable, ["deletedTime"], [{ id: account.id, deletedTime: 1 }]),
  );
  using late = keys.createTemporary({ ...loan, expiresTime: system.nowMs() + 60_000 });
  assert.equal(await keys.callerOf(late.key), undefined);
  assert.equal(await keys.callerAs(account.id, caller), undefined);
});

test("a temporary key ends with the credential of the request that started the work", async () => {
  const { keys } = newApiKeys();
  const { id, key } = await keys.create(demo, "starts a run");
  const { credential: startedWith, userId } = (await keys.callerOf(key))!;
  assert.deepEqual(startedWith, { kind: "key", id, madeBy: [] });
  const loan = {
    projectId: demo.id,
    project: "demo",
    accountId: userId!,
    expiresTime: system.nowMs() + 60_000,
  };
  using lent = keys.createTemporary({ ...loan, startedWith });
  const run = (await keys.callerOf(lent.key))!;
  assert.deepEqual([run.userId, run.credential!.kind], [userId, "run"]);
  using nested = keys.createTemporary({ ...loan, startedWith: run.credential });
  assert.ok(await keys.callerOf(nested.key));
  await keys.revoke(id);
  for (const one of [lent, nested]) assert.equal(await keys.callerOf(one.key), undefined);
});

// The rights of a caller with several capabilities: scope filters, visible assets, and memberships.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refusal } from "../../test/support/refusal.ts";
import { equals, everything, hasOnly, nothing, or } from "../query/filter.ts";
import { underAsset } from "./asset-subtree.ts";
import { type Caller, permittedByCategories, permittedRecords, visibleAssets } from "./caller.ts";
import type { Acl, Action, Capability, CapabilityScope } from "./capabilities.ts";

const holding = (...capabilities: readonly Capability[]): Caller => ({
  user: "test",
  groupIds: [],
  projectId: 1,
  projectUrlName: "demo",
  capabilities,
});

const grant = (acl: Acl, action: Action, scope: CapabilityScope): Capability => ({
  acl,
  actions: [action],
  scope,
});

const all = { kind: "all" } as const;
const below = (...assetIds: readonly number[]) => ({ kind: "subtrees", assetIds }) as const;

test("capabilities of one kind are united, and one without bounds outdoes all others", () => {
  const bounded = [
    grant("eventsAcl", "READ", below(7, 8)),
    grant("eventsAcl", "READ", below(8, 9)),
    grant("eventsAcl", "WRITE", all),
    grant("filesAcl", "READ", all),
  ];
  assert.deepEqual(permittedRecords(holding(...bounded), "eventsAcl", "READ"), underAsset([7, 8, 9]));
  assert.equal(
    permittedRecords(holding(...bounded, grant("eventsAcl", "READ", all)), "eventsAcl", "READ"),
    everything,
  );
});

test("a capability for nothing is no refusal; none at all is one", () => {
  assert.equal(permittedRecords(holding(grant("eventsAcl", "READ", below())), "eventsAcl", "READ"), nothing);
  const forbidden = refusal("forbidden");
  const reader = holding(grant("eventsAcl", "READ", all));
  assert.throws(() => permittedRecords(reader, "eventsAcl", "WRITE"), forbidden);
  assert.throws(() => permittedRecords(reader, "filesAcl", "READ"), forbidden);
});

test("assets are known that may be read, and those that a capability spells out", () => {
  const caller = holding(
    grant("assetsAcl", "READ", below(1)),
    grant("eventsAcl", "READ", below(2)),
    grant("eventsAcl", "WRITE", below(3)),
    grant("filesAcl", "READ", all),
  );
  assert.deepEqual(visibleAssets(caller, "eventsAcl", "READ"), underAsset([1, 2]));
  assert.deepEqual(visibleAssets(caller, "eventsAcl", "WRITE"), underAsset([1, 3]));
  assert.deepEqual(visibleAssets(caller, "filesAcl", "READ"), underAsset([1]));
  assert.equal(visibleAssets(holding(grant("filesAcl", "READ", all)), "filesAcl", "READ"), nothing);
});

test("members of all security categories see a series, and everybody one without any", () => {
  const memberOf = (scope: CapabilityScope) => grant("securityCategoriesAcl", "MEMBEROF", scope);
  const without = equals("categories", null);
  assert.deepEqual(permittedByCategories(holding(), "categories"), or(without, hasOnly("categories", [])));
  const some = holding(memberOf({ kind: "ids", ids: [1, 2] }), memberOf({ kind: "ids", ids: [2, 3] }));
  assert.deepEqual(permittedByCategories(some, "categories"), or(without, hasOnly("categories", [1, 2, 3])));
  assert.equal(permittedByCategories(holding(memberOf(all)), "categories"), everything);
});

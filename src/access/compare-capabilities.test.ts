// Whether capabilities cover others: the rule compared with a model that lists every permitted action.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Acl, type Action, aclRules, administrator, type Capability } from "./capabilities.ts";
import { administersGroups, coversCapability } from "./compare-capabilities.ts";
import { capabilitiesOf } from "./older-permissions.ts";

const events = (scope: Capability["scope"], ...actions: Capability["actions"]): Capability => ({
  ...{ acl: "eventsAcl", actions, scope },
});
const everywhere = { kind: "all" } as const;
const below = (...assetIds: number[]) => ({ kind: "subtrees", assetIds }) as const;
/** 1 above 2 above 3; 4 beside them. */
const forest = new Map<number, readonly number[]>([
  [1, []],
  [2, [1]],
  [3, [1, 2]],
  [4, []],
]);
const covers = (granted: readonly Capability[], required: Capability) =>
  coversCapability(granted, required, forest);

test("rights are covered by equal rights, wider ones, several together, and subtrees above", () => {
  const required = events(everywhere, "READ", "WRITE");
  assert.ok(covers([required], required));
  assert.ok(covers(administrator, required));
  assert.ok(covers([events(everywhere, "READ"), events(everywhere, "WRITE")], required));
  assert.ok(covers([events(everywhere, "READ")], events(below(1), "READ")));
  assert.ok(covers([events(below(1), "READ")], events(below(3), "READ")));
  assert.ok(covers([events(below(2), "READ"), events(below(4), "READ")], events(below(3, 4), "READ")));
  assert.ok(covers([events(below(9), "READ")], events(below(9), "READ")), "the very same, deleted since");
});

test("rights are not covered by fewer actions, narrower scopes, other assets, or own records only", () => {
  assert.ok(!covers([events(everywhere, "READ")], events(everywhere, "READ", "WRITE")));
  assert.ok(!covers([events(below(1, 4), "READ")], events(everywhere, "READ")));
  assert.ok(!covers([events(below(2), "READ")], events(below(1), "READ")));
  assert.ok(!covers([events(below(1), "READ")], events(below(1, 4), "READ")));
  assert.ok(!covers([events(below(1), "READ")], events(below(5), "READ")), "an id that is yet to be given");
  assert.ok(!covers([], events(below(), "READ")), "a scope without assets opens the route");
  const own: Capability = { acl: "apikeysAcl", actions: ["LIST"], scope: { kind: "own" } };
  assert.ok(!covers([own], own), "another's own");
  assert.ok(covers([{ ...own, scope: everywhere }], own));
});

test("who administers groups may do everything with all of them", () => {
  const groups = (scope: Capability["scope"], ...actions: Capability["actions"]): Capability => ({
    ...{ acl: "groupsAcl", actions, scope },
  });
  assert.ok(administersGroups(administrator));
  assert.ok(administersGroups(capabilitiesOf({ accessTypes: ["ADMIN"] })));
  assert.ok(
    administersGroups([groups(everywhere, "LIST", "READ", "CREATE"), groups(everywhere, "UPDATE", "DELETE")]),
  );
  for (const missing of aclRules.groupsAcl.actions) {
    const others = aclRules.groupsAcl.actions.filter((one) => one !== missing);
    assert.ok(!administersGroups([groups(everywhere, ...others), groups({ kind: "own" }, missing)]));
  }
});

type Forest = ReadonlyMap<number, readonly number[]>;

/** A random forest of the assets 1 to 8; 9 and 10 do not exist. */
const forests: fc.Arbitrary<Forest> = fc.array(fc.nat(7), { minLength: 8, maxLength: 8 }).map((picks) => {
  const made = new Map<number, readonly number[]>();
  for (const [at, pick] of picks.entries()) {
    const parent = pick % (at + 1);
    made.set(at + 1, parent === 0 ? [] : [...made.get(parent)!, parent]);
  }
  return made;
});

const someIds = fc.uniqueArray(fc.integer({ min: 1, max: 10 }), { maxLength: 4 });
const anyScope = (kind: Capability["scope"]["kind"]): fc.Arbitrary<Capability["scope"]> => {
  if (kind === "subtrees") return someIds.map((assetIds) => ({ kind, assetIds }));
  return kind === "ids" ? someIds.map((ids) => ({ kind, ids })) : fc.constant({ kind });
};
/** Few kinds, so that they meet. */
const acls: readonly Acl[] = ["assetsAcl", "eventsAcl", "securityCategoriesAcl", "groupsAcl", "rawAcl"];
const plain: fc.Arbitrary<Capability> = fc.constantFrom(...acls).chain((acl) =>
  fc.record({
    acl: fc.constant(acl),
    actions: fc.subarray<Action>([...aclRules[acl].actions], { minLength: 1 }),
    scope: fc.constantFrom(...aclRules[acl].scopes).chain(anyScope),
  }),
);
const older = fc
  .record({
    accessTypes: fc.subarray(["READ", "WRITE", "RAW_READ"] as const),
    assetIds: someIds,
    securityCategoryIds: someIds,
  })
  .map(capabilitiesOf);
const rights = fc
  .tuple(fc.array(plain, { maxLength: 6 }), fc.option(older, { nil: [] }))
  .map(([some, others]) => [...some, ...others]);

/**
 * Everything that a capability allows, one by one: an action on one record, or on all that are yet to come.
 */
function deeds({ acl, actions, scope }: Capability, forest: Forest, whose: string): string[] {
  const under = (root: number) => [...forest].filter(([, above]) => above.includes(root)).map(([id]) => id);
  const everyId = Array.from({ length: 10 }, (_, at) => at + 1);
  const records = {
    all: () => ["all", "own of the grantor", "own of another", ...everyId],
    own: () => [`own of ${whose}`],
    subtrees: () => ("assetIds" in scope ? scope.assetIds.flatMap((id) => [id, ...under(id)]) : []),
    ids: () => ("ids" in scope ? scope.ids : []),
  }[scope.kind]();
  return actions.flatMap((action) => ["the route", ...records].map((one) => `${acl} ${action} ${one}`));
}

test("the covered rights equal those of a list of every permitted action", () => {
  const counts = [0, 0];
  const property = fc.property(forests, rights, plain, (forest, granted, required) => {
    const may = new Set(granted.flatMap((one) => deeds(one, forest, "the grantor")));
    const expected = deeds(required, forest, "another").every((deed) => may.has(deed));
    counts[Number(expected)]! += 1;
    assert.equal(coversCapability(granted, required, forest), expected);
  });
  fc.assert(property, { numRuns: 4_000 });
  assert.ok(
    counts.every((count) => count > 200),
    `${counts}`,
  );
});

// Who may lose nothing to the authors of code: whose rights are covered by theirs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { administrator, type Capability } from "../../../access/capabilities.ts";
import { covers } from "./execution.ts";

const events = (scope: Capability["scope"], ...actions: Capability["actions"]): Capability => ({
  ...{ acl: "eventsAcl", actions, scope },
});
const everywhere = { kind: "all" } as const;
const below = (...assetIds: number[]) => ({ kind: "subtrees", assetIds }) as const;

test("rights are covered by the same ones, wider ones, and several together", () => {
  const wanted = [events(everywhere, "READ", "WRITE")];
  assert.ok(covers(wanted, wanted));
  assert.ok(covers(administrator, wanted));
  assert.ok(covers([events(everywhere, "READ"), events(everywhere, "WRITE")], wanted));
  assert.ok(covers([events(everywhere, "READ")], [events(below(1), "READ")]));
  assert.ok(covers([events(below(1), "READ")], [events(below(1), "READ")]));
  assert.ok(covers([], []));
});

test("rights are not covered by fewer actions, narrower scopes, or what is one's own", () => {
  assert.ok(!covers([events(everywhere, "READ")], [events(everywhere, "READ", "WRITE")]));
  assert.ok(!covers([events(below(1), "READ")], [events(everywhere, "READ")]));
  assert.ok(!covers([events(below(1), "READ")], [events(below(1, 2), "READ")]));
  assert.ok(!covers([events(everywhere, "READ")], administrator));
  const own: Capability = { acl: "apikeysAcl", actions: ["LIST"], scope: { kind: "own" } };
  assert.ok(!covers([own], [own]));
});

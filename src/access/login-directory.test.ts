// A failed read of the projects is not kept.
import assert from "node:assert/strict";
import { test } from "node:test";
import { realSystem } from "../lib/system.ts";
import { LoginDirectory } from "./login-directory.ts";

test("after a failed read, the projects are read again at once", async () => {
  let reads = 0;
  const load = async () => {
    reads += 1;
    if (reads === 1) throw new Error("the catalog is away");
    return [];
  };
  const rights = { rightsVersion: 0, isFresh: () => true };
  const fetch = () => assert.fail("there is no provider");
  const directory = new LoginDirectory({ load, rights, system: realSystem, fetch, onProblem: () => {} });
  await assert.rejects(directory.projects(), /is away/);
  for (const _ of [1, 2]) assert.deepEqual(await directory.projects(), []);
  assert.equal(reads, 2);
});

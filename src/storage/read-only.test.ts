// The refusals of a server whose data is being copied.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Catalog } from "./catalog.ts";
import { readOnlyCatalog } from "./read-only.ts";

test("a read-only catalog refuses every kind of write", async () => {
  const refused = { failure: "being-copied" };
  const never = async () => assert.fail("a write begins");
  const catalog = readOnlyCatalog({ write: never, writeBoth: never } as unknown as Catalog);
  await assert.rejects(catalog.write(1, never), refused);
  await assert.rejects(catalog.writeBoth(1, never), refused);
});

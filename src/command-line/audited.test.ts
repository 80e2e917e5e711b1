// Commands in the audit log: refusals and failures have different results.
import assert from "node:assert/strict";
import { test } from "node:test";
import { auditHeadTable, auditIntentTable, auditRecordTable } from "../audit/schema.ts";
import type { Settings } from "../config.ts";
import { fail } from "../errors.ts";
import { realSystem as system } from "../lib/system.ts";
import { everything } from "../query/filter.ts";
import type { Catalog } from "../storage/catalog.ts";
import { openNaiveCatalog } from "../storage/conformance/naive-catalog.ts";
import { audited } from "./audited.ts";

test("a command is recorded as done, refused or failed", async () => {
  const catalog = openNaiveCatalog([auditRecordTable, auditHeadTable, auditIntentTable]) as Catalog;
  const opened = { catalog, system, settings: {} as Settings };
  const operation = { kind: "keys", action: "millrace key create", resource: "apikeys", ids: ["7"] } as const;
  const project = { id: 1, urlName: "demo" };
  const run = (work: () => Promise<void>) => audited(opened, project, operation, work);
  await run(async () => undefined);
  const refused = async () => Promise.reject(fail("provider-administration", {}));
  await assert.rejects(run(refused));
  await assert.rejects(run(async () => Promise.reject(new Error("a fault"))));
  const order = [{ field: "seq", direction: "ascending" }] as const;
  const question = { filter: everything, order, page: { limit: 100 } };
  const records = await catalog.read(1, (tx) => tx.find(auditRecordTable, question));
  assert.deepEqual(
    records.map(({ result, error }) => [result, error]),
    [
      ["done", undefined],
      ["refused", "provider-administration"],
      ["failed", undefined],
    ],
  );
});

// The work on the audit log in the background ends when the server stops, whatever is left to do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { everything } from "../query/filter.ts";
import type { ProjectCatalog } from "../storage/catalog.ts";
import { openNaiveCatalog } from "../storage/conformance/naive-catalog.ts";
import { appendRecords } from "./audit-log.ts";
import { AuditCopies } from "./copies.ts";
import { removeOldRecords } from "./retention.ts";
import { auditCopyTable, auditHeadTable, auditRecordTable, type EndedOperation } from "./schema.ts";

const operation: EndedOperation = {
  ...{ account: "anna", credential: "key", time: 1, address: "::1", result: "done" },
  ...{ kind: "deletion", action: "delete", resource: "assets", ids: [], idsCount: 0 },
};

const openCatalog = () => openNaiveCatalog([auditRecordTable, auditHeadTable, auditCopyTable]);
const append = (catalog: ProjectCatalog, count: number) =>
  catalog.write(1, (tx) => appendRecords(tx, new Array<EndedOperation>(count).fill(operation)));

test("copies end before the next group when the server stops", async () => {
  const catalog = openCatalog();
  await append(catalog, 1);
  let groups = 0;
  const target = {
    ...({ kind: "file", name: "file" } as const),
    /** A log that grows as fast as it is copied. */
    async send() {
      groups += 1;
      if (groups < 5) await append(catalog, 1);
    },
  };
  const copies = new AuditCopies({
    ...{ catalog, targets: [target], projects: async () => [{ id: 1, urlName: "demo" }] },
    continues: async () => groups < 2,
    report: (_, problem) => assert.fail(String(problem)),
  });
  await copies.copy();
  assert.equal(groups, 2);
});

test("the removal of old records ends before the next group when the server stops", async () => {
  const catalog = openCatalog();
  const removal = { beforeMs: 2, nowMs: 3 };
  const count = () => catalog.read(1, (tx) => tx.count(auditRecordTable, everything));
  await append(catalog, 5);
  await removeOldRecords(catalog, 1, { ...removal, continues: () => false });
  assert.equal(await count(), 5);
  await removeOldRecords(catalog, 1, { ...removal, continues: () => true });
  assert.equal(await count(), 1, "the record of the removal");
});

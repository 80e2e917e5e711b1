// The audit log over a catalog that refuses writes: nothing begins unrecorded, and no record is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import { realSystem } from "../lib/system.ts";
import { equals, everything } from "../query/filter.ts";
import { openNaiveCatalog } from "../storage/conformance/naive-catalog.ts";
import { AuditLog, type AuditMode } from "./audit-log.ts";
import {
  type AuditKind,
  auditHeadTable,
  auditIntentTable,
  auditKinds,
  auditRecordTable,
  type BegunOperation,
} from "./schema.ts";

const operation = (action: string): BegunOperation => ({
  ...{ account: "anna", credential: "key", keyId: 7, time: 1, address: "::1" },
  ...{ kind: "deletion", action, resource: "assets", ids: ["1"], idsCount: 1 },
});
const done = { result: "done", status: 200 } as const;

function logOver(mode: AuditMode) {
  const catalog = openNaiveCatalog([auditRecordTable, auditHeadTable, auditIntentTable]);
  const disk = { isFull: false };
  const refusing = {
    ...catalog,
    write: async (...given: Parameters<typeof catalog.write>) => {
      if (disk.isFull) throw new Error("no space");
      return catalog.write(given[0], async (tx) => {
        const result = await given[1](tx);
        const refused = await tx.count(auditRecordTable, equals("action", "unstorable"));
        if (refused > 0) throw new Error("no such value");
        return result;
      });
    },
  } as typeof catalog;
  const reports: unknown[] = [];
  const log = new AuditLog({
    ...{ catalog: refusing, system: realSystem, mode, owner: () => 5, ownProject: "demo" },
    projectNamed: async () => 1,
    report: (problem) => reports.push(problem),
  });
  const actions = async () => {
    const order = [{ field: "seq", direction: "ascending" }] as const;
    const question = { filter: everything, order, page: { limit: 100 } };
    const records = await catalog.read(1, (tx) => tx.find(auditRecordTable, question));
    return records.map(({ seq, action, result }) => [seq, action, result]);
  };
  const intents = () => catalog.read(1, (tx) => tx.count(auditIntentTable, everything));
  return { log, disk, reports, actions, intents };
}

test("an operation does not begin when its intent cannot be stored", async () => {
  const { log, disk, actions, intents } = logOver("changes");
  disk.isFull = true;
  await assert.rejects(log.begin(1, operation("refused")), /no space/);
  await assert.rejects(log.append(1, operation("sign in"), done), /no space/);
  disk.isFull = false;
  await (await log.begin(1, operation("later"))).end(done);
  assert.deepEqual(await actions(), [[1, "later", "done"]]);
  assert.equal(await intents(), 0);
});

test("a record that cannot be stored after its operation is stored later, in its order", async () => {
  const { log, disk, reports, actions, intents } = logOver("changes");
  const one = await log.begin(1, operation("one"));
  disk.isFull = true;
  await one.end(done);
  assert.equal(log.waiting, 1);
  assert.equal(reports.length, 1);
  disk.isFull = false;
  await log.append(1, operation("two"), done);
  assert.deepEqual(await actions(), [
    [1, "one", "done"],
    [2, "two", "done"],
  ]);
  assert.deepEqual([await intents(), log.waiting], [0, 0]);
  await log.close();
});

test("a record that the catalog refuses holds up no other", async () => {
  const { log, reports, actions, intents } = logOver("writes");
  const bad = await log.begin(1, operation("unstorable"));
  await bad.end(done);
  for (const action of ["a", "unstorable", "b"])
    log.collect(1, { ...operation(action), kind: "write" }, done);
  await log.append(1, operation("c"), done);
  await assert.rejects(log.append(1, operation("unstorable"), done), /no such value/);
  assert.deepEqual(await actions(), [
    [1, "a", "done"],
    [2, "b", "done"],
    [3, "c", "done"],
  ]);
  assert.ok(reports.length > 0);
  await log.close();
  assert.deepEqual([await intents(), log.waiting], [1, 2], "the refused ones wait");
});

test("operations of a server that has ended are recorded once, with an unknown result", async () => {
  const { log, actions } = logOver("changes");
  const open = await log.begin(1, operation("one"));
  for (let round = 0; round < 2; round++) await log.recordAbandoned(1, everything);
  assert.deepEqual(await actions(), [[1, "one", "unknown"]]);
  await open.end(done);
  assert.deepEqual((await actions()).at(-1), [2, "one", "done"], "it was alive after all");
});

test("a stop stores the records of the last second", async () => {
  const { log, actions } = logOver("writes");
  for (const action of ["a", "b", "c"]) log.collect(1, operation(action), done);
  assert.equal(log.waiting, 3);
  await log.close();
  assert.deepEqual(await actions(), [
    [1, "a", "done"],
    [2, "b", "done"],
    [3, "c", "done"],
  ]);
});

test("each mode records its kinds", () => {
  const kindsOf = (mode: AuditMode): readonly AuditKind[] => {
    const { log } = logOver(mode);
    return auditKinds.filter((kind) => log.covers(kind));
  };
  const changes = auditKinds.filter((kind) => kind !== "write" && kind !== "read");
  assert.deepEqual(kindsOf("changes"), changes);
  assert.deepEqual(kindsOf("writes"), [...changes, "write"]);
  assert.deepEqual(kindsOf("all"), auditKinds);
  assert.deepEqual(kindsOf("off"), []);
});

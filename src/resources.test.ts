// Every resource is in the registries, and no registry has forgotten a part of one.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { aclOf } from "../test/oracle/plant.ts";
import { samples } from "../test/support/samples.ts";
import { aclRules } from "./access/capabilities.ts";
import { endedSessionTable } from "./access/ended-sessions.ts";
import { accountTable, apiKeyTable, groupTable, sessionTable } from "./access/schema.ts";
import type { ArchivePart } from "./archive/section.ts";
import { model, resources, routes, tables } from "./resources.ts";
import type { AnyTable } from "./storage/catalog.ts";
import { manifestTable } from "./storage/manifest.ts";
import { type ResourceName, resourceNames, type Transfer, transfers } from "./transfers.ts";

const root = join(import.meta.dirname, "resources");

const filesOf = (resource: string): string[] =>
  readdirSync(join(root, resource), { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !/\.(test|samples|compute)\.ts$/.test(file),
  );

/** The exports of the files of a resource. */
async function exportsOf(resource: string): Promise<unknown[]> {
  const modules = await Promise.all(filesOf(resource).map((file) => import(join(root, resource, file))));
  return modules.flatMap((one) => Object.values(one as object));
}

const members = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const isTable = (value: unknown): value is AnyTable =>
  "belongsTo" in members(value) && "columns" in members(value);

const transferOf = (name: ResourceName): Transfer => transfers[name];

test("every folder of src/resources is a resource, and none is missing", () => {
  const folders = readdirSync(root).filter((name) => name !== "common");
  assert.deepEqual(folders.toSorted(), resourceNames.toSorted());
  assert.deepEqual(Object.keys(resources).toSorted(), resourceNames.toSorted());
  assert.deepEqual(Object.keys(samples).toSorted(), resourceNames.toSorted());
});

for (const name of resourceNames) {
  test(`the tables and routes of ${name} are in its entry`, async () => {
    const exported = await exportsOf(name);
    const own = new Set(resources[name].tables);
    for (const one of exported)
      if (isTable(one)) assert.ok(own.has(one), `${one.name} is not in the entry of ${name}`);
    const served = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    for (const list of exported)
      for (const one of Array.isArray(list) ? list.map(members) : [])
        if (typeof one["handle"] === "function" && Array.isArray(one["versions"]))
          assert.ok(served.has(`${one["method"]} ${one["path"]}`), `${one["path"]} is not served`);
  });

  test(`the parts of ${name} for OData, archives and imports are in its entry`, async () => {
    const exported = (await exportsOf(name)).map(members);
    const { archive, import: importing } = transferOf(name);
    const kinds = [
      { entry: resources[name].odata, member: "types", or: "functions" },
      { entry: archive, member: "export", or: "export" },
      { entry: importing, member: "loader", or: "run" },
    ];
    for (const { entry, member, or } of kinds)
      for (const one of exported)
        if (member in one || or in one) assert.equal(one, entry, `${name} exports another ${member}`);
  });

  test(`every table of ${name} is in a section of archives, or the entry says why not`, () => {
    const { archive, notArchived = {} } = transferOf(name);
    const own = resources[name].tables.filter((table) => !administrative.has(table)).map((one) => one.name);
    const archived = "tables" in archive ? archive.tables : [];
    if ("notCovered" in archive) assert.ok(archive.notCovered.length > 10, `${name} gives a reason`);
    else {
      assert.deepEqual([...archived, ...Object.keys(notArchived)].toSorted(), own.toSorted());
      for (const list of (archive as ArchivePart).lists)
        assert.ok(
          routes.some(({ method, path }) => method === "GET" && path === `/${list}`),
          `${list} is a list of the API`,
        );
    }
  });

  test(`${name} has samples if archives hold it, and its search is a route`, () => {
    const { search } = resources[name];
    if (typeof search === "string") assert.ok(routes.some(({ path }) => path === search));
    const sample = samples[name];
    if ("sections" in transferOf(name).archive && name !== "projects") assert.ok("fill" in sample);
    else if ("notCovered" in sample) assert.ok(sample.notCovered.length > 10);
  });
}

/** Whom to let in is up to the target of a restore: groups, accounts, keys and sessions are not archived. */
const administrative: ReadonlySet<unknown> = new Set([
  ...[apiKeyTable, accountTable, groupTable, sessionTable, endedSessionTable],
]);

test("the rights oracle covers every capability that is granted by subtree", () => {
  const bySubtree = Object.entries(aclRules).filter(([, { scopes }]) =>
    scopes.some((one) => one === "subtrees"),
  );
  assert.deepEqual(bySubtree.map(([acl]) => acl).toSorted(), Object.values(aclOf).toSorted());
});

test("each table belongs to one resource, and each entity type to the model", () => {
  const names = tables.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
  assert.ok(names.includes(manifestTable.name));
  for (const { odata } of Object.values(resources))
    for (const type of ("types" in odata && odata.types) || []) assert.ok(model.types.has(type.name));
});

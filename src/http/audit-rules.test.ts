// The class of every route in the audit log: a new route that is recorded by default, or that is not, shows
// here.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { FastifyRequest } from "fastify";
import type { AuditLog, Ending } from "../audit/audit-log.ts";
import { openRoutes, routes } from "../resources.ts";
import { effectOf } from "../rest/route.ts";
import { kindOf, ruleOfOData, segmentsOf } from "./audit-rules.ts";
import { RequestAudit } from "./auditing.ts";
import { ClientGone } from "./request-lifetime.ts";

const routesOf = (kind: string) => [
  ...new Set(routes.filter((route) => kindOf(route) === kind).map(({ method, path }) => `${method} ${path}`)),
];

test("changes of rights and keys, imports and exports are exactly these routes", () => {
  assert.deepEqual(routesOf("rights").sort(), [
    "DELETE /groups/{groupId}",
    "DELETE /securitycategories/{categoryId}",
    "DELETE /users/{userId}",
    "PATCH /groups/{groupId}",
    "POST /groups",
    "POST /groups/delete",
    "POST /groups/{groupId}/users",
    "POST /groups/{groupId}/users/remove",
    "POST /securitycategories",
    "POST /securitycategories/delete",
    "POST /users",
    "POST /users/delete",
    "PUT /defaultgroup",
  ]);
  assert.deepEqual(routesOf("keys").sort(), [
    "DELETE /apikeys/{keyId}",
    "POST /apikeys",
    "POST /apikeys/delete",
    "PUT /apikeys/{keyId}/limits",
  ]);
  assert.deepEqual(routesOf("import").sort(), [
    "POST /restore/raw/{database}/{table}",
    "POST /restore/times/{resource}",
  ]);
  assert.deepEqual(routesOf("export").sort(), [
    "GET /analytics/models/sourcepackages/{sourcePackageId}/code",
    "GET /analytics/models/{modelId}/versions/{versionId}/artifacts/{name}",
    "GET /files/{fileId}/downloadlink",
    "GET /storage/{fileId}",
  ]);
});

test("every deletion is recorded by default, and every other change at least with all writes", () => {
  for (const route of routes) {
    const kind = kindOf(route);
    const name = `${route.method} ${route.path}`;
    const effect = effectOf(route);
    if (effect === "delete") assert.ok(!["write", "read", "export"].includes(kind), `${name} is ${kind}`);
    else if (effect === "write") assert.ok(!["read", "export"].includes(kind), `${name} is ${kind}`);
    else assert.ok(["read", "export"].includes(kind), `${name} is ${kind}`);
  }
  const settings = routesOf("settings");
  assert.ok(settings.length > 20, `${settings.length} routes change settings`);
  assert.ok(!settings.includes("POST /retentionrules/preview"), "it changes nothing");
});

test("of the routes outside of projects, those that begin or end a session are sign-ins", () => {
  const signIns = openRoutes.filter(({ audit }) => audit === "sign-in");
  assert.deepEqual(signIns.map(({ method, path }) => `${method} ${path}`).sort(), [
    "DELETE /session",
    "GET /login/callback",
    "GET /logout",
    "POST /login",
    "POST /logout",
    "POST /session",
  ]);
});

// Front threads forward all requests that are recorded; the main thread records them.
test("no other routes go around the audit log than health, metrics, descriptions and the console", () => {
  const root = join(import.meta.dirname, "..");
  const adds = /\bhttp\.(get|head|post|put|patch|delete|all|route)\(/;
  // A connector may have installed packages of its own.
  const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.includes("node_modules"),
  );
  const files = sources.filter((file) => adds.test(readFileSync(join(root, file), "utf8")));
  assert.deepEqual(files.sort(), [
    "front/front-routes.ts",
    "http/allowed-methods.ts",
    "http/console.ts",
    "http/operations.ts",
    "http/pipeline.ts",
  ]);
});

test("keys of OData paths are found, with quotes and parentheses in them", () => {
  const path = "Raw('a''b)')/Tables('t(1')/Rows(Key='x')/Assets(5)";
  assert.deepEqual(segmentsOf(path), { sets: "Raw/Tables/Rows/Assets", ids: ["a'b)", "t(1"] });
  assert.deepEqual(segmentsOf("Assets('open"), { sets: "Assets", ids: [] });
  assert.deepEqual(segmentsOf("Assets"), { sets: "Assets", ids: [] });
});

test("a path that anyone may send is read once", () => {
  for (const part of ["'", "(", "('", "('a", "'('", "''(", "()", "('')"]) {
    // A search that tries several ways would not end.
    const { sets, ids } = segmentsOf(`Raw(${part.repeat(50_000)}`);
    assert.ok(sets.startsWith("Raw") && ids.length <= 50_000);
  }
});

test("requests over OData for links to the bytes of files are exports, whatever their spelling", () => {
  const kindOfUrl = (url: string, method = "GET") =>
    ruleOfOData({ method, params: { "*": url.split("?")[0] } } as unknown as FastifyRequest, `/${url}`).kind;
  for (const url of [
    "Files('1')/DownloadUrl",
    "Files?$expand=Download%55rl",
    "Files('1')/%24value",
    "Files?$expand=*",
    "Files?expand=*",
    "Files?$Expand=*",
    "Files?%24EXPAND=%2A",
    "Files?$top=1&%65xpand=%2a",
    "Files?$expand=Assets($filter=Name eq '%26'),*",
    "Assets?expand=Files(expand=*)",
    "Assets?expand=Files(expand=DownloadUrl)",
  ])
    assert.equal(kindOfUrl(url), "export", url);
  for (const url of ["Files?$top=1", "Files?$expand=Assets&$filter=Name eq '*'", "Files?$expand=*&expand=*"])
    assert.equal(kindOfUrl(url), "read", url);
  assert.equal(kindOfUrl("Files", "DELETE"), "read", "OData has no deletions: 405");
  assert.equal(kindOfUrl("Assets", "POST"), "write");
});

function recorded() {
  const ended: Ending[] = [];
  const open = { end: async (ending: Ending) => void ended.push(ending) };
  const log = { covers: () => true, nowMs: 0, begin: async () => open, projectOf: async () => 1 };
  const request = { id: "r", ip: "", params: { project: "p" } } as unknown as FastifyRequest;
  const rule = () => ({ kind: "deletion", action: "POST /assets/delete", resource: "assets" }) as const;
  return { audit: new RequestAudit(log as unknown as AuditLog, rule, request), ended };
}

test("the record of an operation whose client went away has the result of the operation", async () => {
  const { audit, ended } = recorded();
  await audit.begin({});
  const work = Promise.withResolvers<object>();
  const followed = audit.follow(work.promise, { statusOf: () => 200, atEnd: (end) => end(true) });
  await audit.failed(new ClientGone());
  assert.deepEqual(ended, []);
  work.resolve({});
  await followed;
  assert.deepEqual(ended, [{ result: "done", status: 200, ids: [] }]);
});

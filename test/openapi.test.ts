// Checks the OpenAPI description of each version: valid, complete, and equal to the golden file.
//
// After a wanted change: GOLDEN=update node --test test/openapi.test.ts
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, routes } from "../src/resources.ts";
import { apiVersions, pathOf } from "../src/rest/route.ts";

const update = process.env["GOLDEN"] === "update";

for (const version of apiVersions) {
  const description = JSON.parse(JSON.stringify(describe(version)));

  test(`the description of ${version} is valid OpenAPI 3.1`, async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(description));
    assert.ok(valid, JSON.stringify(errors, null, 2));
  });

  test(`the description of ${version} is as kept in test/golden`, () => {
    const file = new URL(`./golden/openapi-${version}.json`, import.meta.url);
    const text = `${JSON.stringify(description, null, 1)}\n`;
    if (update) writeFileSync(file, text);
    assert.deepEqual(description, JSON.parse(readFileSync(file, "utf8")), "GOLDEN=update accepts the change");
  });

  test(`each operation of ${version} has a name of its own and documents every refusal`, () => {
    const names = new Set<string>();
    for (const [path, operations] of Object.entries(description.paths))
      for (const [method, operation] of Object.entries(operations as object)) {
        const { operationId, responses } = operation;
        assert.ok(!names.has(operationId), `${operationId} of ${method} ${path} is taken`);
        names.add(operationId);
        for (const status of [400, 401, 403, 404, 405, 413, 500, 503])
          assert.ok(responses[status], `${method} ${path} does not document ${status}`);
      }
  });
}

test("a route has a capability, a summary, and schemas for all that goes in and out", () => {
  for (const route of routes)
    for (const version of route.versions) {
      const name = `${route.method} ${pathOf(route, version)}`;
      const { capability } = route;
      assert.ok(capability === "member" || (capability[0] && capability[1]), `${name} has no capability`);
      assert.ok(route.summary, `${name} has no summary`);
      assert.ok(Object.keys(route.response(version).schema).length > 0, `${name} answers without a schema`);
      if (route.body)
        assert.ok(Object.keys(route.body.schema).length > 0, `${name} takes a body without one`);
      const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      assert.deepEqual(Object.keys(route.parameters).sort(), inPath.sort(), `${name} decodes its path`);
    }
});

test("only preview areas are marked as such", () => {
  const marked = routes.filter((route) => route.preview).map((route) => `${route.method} ${route.path}`);
  const described = JSON.stringify(apiVersions.map(describe)).split('"x-preview":true').length - 1;
  const expected = routes.filter((route) => route.preview).flatMap((route) => route.versions).length;
  assert.equal(described, expected, marked.join(", "));
});

// Checks `$metadata` against the golden files: clients generate code from it, so each change is
// deliberate.
//
// After a wanted change: GOLDEN=update node --test src/odata/metadata.test.ts
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { model } from "../resources.ts";
import { csdlJson } from "./csdl-json.ts";
import { csdlXml } from "./csdl-xml.ts";

const documents = {
  "metadata.xml": csdlXml(model),
  "metadata.json": `${JSON.stringify(csdlJson(model), null, 1)}\n`,
};

for (const [name, text] of Object.entries(documents))
  test(`${name} is as kept in test/golden`, () => {
    const file = new URL(`../../test/golden/${name}`, import.meta.url);
    if (process.env["GOLDEN"] === "update") writeFileSync(file, text);
    assert.equal(text, readFileSync(file, "utf8"), "GOLDEN=update accepts the change");
  });

test("every annotation in use is declared by a vocabulary that is served", async () => {
  const { vocabulary } = await import("./vocabularies.ts");
  const used = new Set([...documents["metadata.xml"].matchAll(/Term="(Org\.OData\.\w+\.V1)\.(\w+)"/g)]);
  assert.ok(used.size > 0);
  for (const [, name, term] of used)
    assert.match(vocabulary(`${name}.xml`) ?? "", new RegExp(`<Term Name="${term}"`), `${name}.${term}`);
});

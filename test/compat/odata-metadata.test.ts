// `$metadata` conforms to the schemas of OASIS, and third-party programs read it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { parse } from "@sap-ux/edmx-parser";
import { Ajv } from "ajv";
import { XmlBufferInputProvider, XmlDocument, XsdValidator, xmlRegisterInputProvider } from "libxml2-wasm";
import { xml2json } from "odata-csdl";
import { odataOf } from "../support/odata.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

let server: TestServer;
let xml: string;
let json: unknown;

before(async () => {
  server = await startTestServer(withFront);
  const ask = odataOf(server);
  xml = (await ask("$metadata")).text;
  json = (await ask("$metadata?$format=json")).json;
});
after(() => server.close());

const schemaText = (name: string) =>
  readFileSync(new URL(`../../node_modules/odata-csdl/schemas/${name}`, import.meta.url), "utf8");

/** Throws on a document that is not as edmx.xsd and edm.xsd say. */
function validateXml(document: string): void {
  xmlRegisterInputProvider(new XmlBufferInputProvider({ "edm.xsd": Buffer.from(schemaText("edm.xsd")) }));
  const schema = XmlDocument.fromString(schemaText("edmx.xsd"), { url: "edmx.xsd" });
  const validator = XsdValidator.fromDoc(schema);
  const parsed = XmlDocument.fromString(document);
  try {
    validator.validate(parsed);
  } finally {
    for (const one of [parsed, validator, schema]) one.dispose();
  }
}

test("the XML is valid by the schemas of OASIS, and a wrong one would not be", () => {
  validateXml(xml);
  assert.throws(() => validateXml(xml.replace('Nullable="false"', 'Nullable="no"')), /Nullable/);
});

test("the JSON is valid by the schema of OASIS, and a wrong one would not be", () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(schemaText("csdl.schema.json")) as object);
  assert.ok(validate(json), JSON.stringify(validate.errors));
  assert.equal(validate({ ...(json as object), $EntityContainer: 1 }), false);
});

test("the converter of OASIS makes of the XML just the JSON", () => {
  assert.deepEqual(xml2json(xml), json);
});

test("another reader finds all entity types, sets and functions", () => {
  const { schema, version } = parse(xml);
  assert.equal(version, "4.0");
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).sort();
  const document = json as Record<string, Record<string, Record<string, unknown>>>;
  const declared = document["DataPlatform.V1"]!;
  const ofKind = (kind: string, members: Record<string, Record<string, unknown>>) =>
    Object.keys(members)
      .filter((name) => members[name]!["$Kind"] === kind)
      .sort();
  assert.deepEqual(names(schema.entityTypes), ofKind("EntityType", declared));
  assert.deepEqual(names(schema.complexTypes), ofKind("ComplexType", declared));
  const container = declared["Container"] as Record<string, Record<string, unknown>>;
  const sets = Object.keys(container).filter((name) => container[name]!["$Collection"] === true);
  assert.deepEqual(names(schema.entitySets), sets.sort());
  for (const { name, keys, entityProperties } of schema.entityTypes) {
    assert.equal(keys.length, 1, name);
    assert.ok(names(entityProperties).includes(keys[0]!.name), name);
  }
});

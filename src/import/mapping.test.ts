// Mapping files in both forms are equivalent, and mistakes in them are reported.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { readMapping } from "./mapping.ts";

const folder = temporaryFolder();

function mappingOf(text: string) {
  const file = join(folder, "mapping");
  writeFileSync(file, text);
  return Object.fromEntries(readMapping(file));
}

test("JSON and CSV say the same", () => {
  const expected = {
    T1: { name: "reactor temperature", unit: "°C", isStep: true, metadata: { line: "A", rack: "7" } },
    S1: { isString: true, asset: "plant/reactor" },
    junk: "skip",
  };
  const json = {
    T1: { name: "reactor temperature", unit: "°C", isStep: true, metadata: { line: "A", rack: 7 } },
    S1: { isString: true, asset: "plant/reactor" },
    junk: null,
  };
  assert.deepEqual(mappingOf(JSON.stringify(json)), expected);
  const csv = [
    "column,name,unit,isStep,isString,asset,metadata.line,metadata.rack,skip",
    "T1,reactor temperature,°C,true,,,A,7,",
    "S1,,,,yes,plant/reactor,,,",
    "junk,,,,,,,,true",
  ];
  assert.deepEqual(mappingOf(csv.join("\r\n")), expected);
});

test("numbers in metadata stay as written, null is absent, and nested values are refused", () => {
  const text = '{ "T1": { "metadata": { "rack": 7.0, "id": 9007199254740993, "on": true, "none": null } } }';
  assert.deepEqual(mappingOf(text), {
    T1: { metadata: { rack: "7.0", id: "9007199254740993", on: "true" } },
  });
  assert.throws(
    () => mappingOf('{"T1":{"metadata":{"a":{"b":1}}}}'),
    /column T1: metadata\.a is an object or a list/,
  );
});

test("fields that all records share are ids, lists and times", () => {
  const expected = {
    T1: {
      ...{ externalId: "7", dataSetId: 12, labels: ["hot", "ö"] },
      ...{ sourceCreatedTime: 5, sourceModifiedTime: Date.UTC(2026, 0, 31) },
    },
  };
  const json = {
    T1: {
      ...{ externalId: 7, dataSetId: 12, labels: ["hot", "ö"], sourceCreatedTime: 5 },
      ...{ sourceModifiedTime: "2026-01-31", unit: null },
    },
  };
  assert.deepEqual(mappingOf(JSON.stringify(json)), expected);
  const csv = [
    "column,externalId,dataSetId,labels,sourceCreatedTime,sourceModifiedTime",
    "T1,7,12,hot; ö,5,2026-01-31",
  ];
  assert.deepEqual(mappingOf(csv.join("\n")), expected);
});

test("a list of tags is a mapping", () => {
  assert.deepEqual(mappingOf("tag,description,unit\nXMEAS1,A Feed,kscmh\n"), {
    XMEAS1: { description: "A Feed", unit: "kscmh" },
  });
});

test("what is wrong is named", () => {
  assert.throws(() => mappingOf('{"T1":{"units":"°C"}}'), /column T1: units is not one of name, unit/);
  assert.throws(
    () => mappingOf('{"T1":{"isStep":"maybe"}}'),
    /column T1: isStep is true or false, not maybe/,
  );
  assert.throws(() => mappingOf('{"T1":{"dataSetId":"x"}}'), /column T1: dataSetId is x, not an id/);
  assert.throws(
    () => mappingOf('{"T1":{"sourceCreatedTime":"soon"}}'),
    /column T1: sourceCreatedTime is soon, neither ISO 8601/,
  );
  assert.throws(() => mappingOf('{"T1":'), /is not valid JSON/);
  assert.throws(() => mappingOf("name,unit\nT1,°C\n"), /it needs a column named `column`/);
  assert.throws(() => readMapping(join(folder, "missing")), /cannot be read: ENOENT/);
});

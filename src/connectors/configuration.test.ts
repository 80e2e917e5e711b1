// Invalid files, and the output of `millrace connect <file> print`.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { printedConfiguration, readConfiguration } from "./configuration.ts";

function printed(url: string, more = ""): string {
  const file = join(temporaryFolder(), "plant.yaml");
  writeFileSync(file, `source: { type: sql, url: "${url}"${more} }\n`);
  return printedConfiguration(file);
}

const variable = `$${"{DB_PASSWORD}"}`;

for (const [url, shown] of [
  ["postgres://reader:hunter2@erp.example.com/erp", "postgres://reader:***@erp.example.com/erp"],
  ["mqtt://:hunter2@127.0.0.1:1883", "mqtt://:***@127.0.0.1:1883"],
  ["postgres://reader:hun/ter@2@erp.example.com/erp", "postgres://reader:***@erp.example.com/erp"],
  [`postgres://reader:hunter2${variable}@host/erp`, "postgres://reader:***@host/erp"],
  [`postgres://reader:${variable}@host/erp`, `postgres://reader:${variable}@host/erp`],
  ["postgres://reader@erp.example.com:5432/erp", "postgres://reader@erp.example.com:5432/erp"],
  ["mqtt://127.0.0.1:1883", "mqtt://127.0.0.1:1883"],
] as const)
  test(`print shows ${url} as ${shown}`, () => {
    const text = printed(url);
    assert.ok(text.includes(`url: ${shown}\n`), text);
    if (!shown.includes("hun")) assert.ok(!text.includes("hun"), text);
  });

for (const [url, shown] of [
  ["oracle:scott/hunter2@db/XE", "oracle:***"],
  ["odbc:Driver=x;Pwd=hunter2", "odbc:***"],
  ["sqlserver://h:1433;user=sa;password=hunter2", "sqlserver:***"],
  [variable, variable],
] as const)
  test(`print shows ${url} of a driver as ${shown}`, () => {
    const text = printed(url, ", driver: x.js");
    assert.ok(text.includes(`url: ${shown}\n`), text);
  });

test("print shows the key of rows, which is a template, and no key of the server", () => {
  const rows = `rows: { database: erp, table: orders, key: "{id}" }`;
  const text = printed("mysql://h/erp", `, queries: [{ ${rows} }], key: hunter2`);
  assert.ok(text.includes('key: "{id}"\n') && !text.includes("hunter2"), text);
});

test("records have an age that they are dropped at, but with wait only if the file has one", () => {
  const file = join(temporaryFolder(), "plant.yaml");
  const read = { topic: "a", format: "value", series: "a" };
  const source = { type: "mqtt", url: "mqtt://h", read: [read] };
  const destination = { server: "http://h", key: "k" };
  const ageOf = (buffer: object) => {
    writeFileSync(file, JSON.stringify({ version: 1, name: "a", source, destination, buffer }));
    return readConfiguration(file, {}).buffer.ageMsMax;
  };
  const dayMs = 86_400_000;
  assert.equal(ageOf({}), 7 * dayMs);
  assert.equal(ageOf({ whenFull: "wait" }), Number.POSITIVE_INFINITY);
  assert.equal(ageOf({ whenFull: "wait", age: "1d" }), dayMs);
});

test("a word or a number that a key does not take is refused with those that it takes", () => {
  const file = join(temporaryFolder(), "plant.yaml");
  const read = { topic: "a", format: "value", series: "a" };
  const source = { type: "mqtt", url: "mqtt://h", qos: 2, read: [read] };
  const destination = { server: "http://h", key: "k" };
  writeFileSync(
    file,
    JSON.stringify({ version: 2, name: "a", source, destination, buffer: { whenFull: "stop" } }),
  );
  assert.throws(() => readConfiguration(file, {}), {
    message: [
      "version must be 1",
      "buffer.whenFull must be one of drop-oldest, wait",
      "source.qos must be one of 0, 1",
    ]
      .map((problem) => `${file}: ${problem}`)
      .join("\n"),
  });
});

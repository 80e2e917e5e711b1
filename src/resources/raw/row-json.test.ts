// Bodies of rows are split into the parts of JSON.parse, and reassembled columns are equal.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Failure } from "../../errors.ts";
import { parseJson } from "../../lib/json.ts";
import { csvResponse, readCsvRows } from "./csv.rest.ts";
import { readRows, rowsJson } from "./row-json.rest.ts";

interface SentRow {
  readonly key: string;
  readonly columns?: object | null;
}

/** The rows of a body, read with JSON.parse. */
const expectedRows = (text: string) =>
  (parseJson(text) as { items: SentRow[] }).items.map(({ key, columns }) => ({
    key,
    columns: columns ?? {},
  }));

const foundRows = async (text: string) =>
  (await readRows(Buffer.from(text))).map(({ key, columns }) => ({ key, columns: parseJson(columns) }));

const name = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom("key", "columns", "items"),
);
const columns = fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true });
const key = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
  .filter((text) => !text.includes("\0"));
/** Members of this name are refused, except within columns. */
const other = fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes("__proto__"));
const row = fc.record({ key, columns: fc.option(columns), other }, { requiredKeys: ["key"] });
const body = fc
  .tuple(fc.array(row, { maxLength: 5 }), fc.constantFrom(undefined, 1, "\t"))
  .map(([items, indent]) => JSON.stringify({ before: [{ columns: 1 }], items, after: "]" }, null, indent));

test("rows are what JSON.parse finds", async () => {
  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      assert.deepEqual(await foundRows(text), expectedRows(text));
    }),
    { numRuns: 500 },
  );
});

test("a body with a byte changed is refused or means what JSON.parse finds", async () => {
  const usual = '{"items":[{"key":"a","columns":{"x":1.5,"y":["b",{}]}},{"columns":{},"key":"b"}]}';
  await fc.assert(
    fc.asyncProperty(fc.nat(usual.length - 1), fc.constantFrom("", ...'0"{}[],:ey \\'), async (at, byte) => {
      const text = usual.slice(0, at) + byte + usual.slice(at + 1);
      let rows: Awaited<ReturnType<typeof foundRows>>;
      try {
        rows = await foundRows(text);
      } catch (refusal) {
        assert.ok(refusal instanceof Failure && refusal.status === 400, `${text}: ${refusal}`);
        return;
      }
      assert.deepEqual(rows, expectedRows(text));
    }),
    { numRuns: 1000 },
  );
});

test("chosen columns are those of all, in their order", () => {
  fc.assert(
    fc.property(columns, fc.array(name, { maxLength: 3 }), (all, names) => {
      const stored = JSON.stringify(all);
      const [text] = rowsJson([{ key: "k", columns: stored, lastUpdatedTime: 1 }], names);
      // Of the stored JSON, because JSON.stringify writes -0 as 0.
      const members = Object.entries(parseJson(stored) as object);
      const expected = Object.fromEntries(members.filter(([one]) => names.includes(one)));
      assert.deepEqual(parseJson(text!), { key: "k", columns: expected, lastUpdatedTime: 1 });
    }),
    { examples: [[{ a: -0 }, ["a"]]] },
  );
});

test("chosen columns keep the spelling of their numbers", () => {
  const columns = '{"a":-0,"b":1.0,"c":1e400}';
  const [text] = rowsJson([{ key: "k", columns, lastUpdatedTime: 1 }], ["a", "c"]);
  assert.equal(text, '{"key":"k","columns":{"a":-0,"c":1e400},"lastUpdatedTime":1}');
});

test("strings survive a CSV export and import", async () => {
  const strings = fc.dictionary(
    fc.string({ unit: "grapheme", maxLength: 5 }).filter((one) => one !== "key"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
    { maxKeys: 4, noNullPrototype: true },
  );
  const rows = fc.uniqueArray(fc.record({ key, columns: strings }), {
    selector: (one) => one.key,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(rows, async (sent) => {
      const stored = sent.map((one) => ({
        ...one,
        columns: JSON.stringify(one.columns),
        lastUpdatedTime: 1,
      }));
      const written = (await csvResponse(stored, undefined)) as { bytes: Buffer };
      const back = await readCsvRows(written.bytes);
      assert.deepEqual(
        back.map((one) => ({ key: one.key, columns: parseJson(one.columns) })),
        sent.map((one) => ({ ...one, columns: one.columns })),
      );
    }),
  );
});

test("other requests have their turn while a large upload is parsed", async () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => `${at},${"x".repeat(1_000)}`);
  let turns = 0;
  const ticking = setInterval(() => {
    turns += 1;
  }, 0);
  const { length } = await readCsvRows(Buffer.from(`key,x\n${rows.join("\n")}`));
  clearInterval(ticking);
  assert.equal(length, 5_000);
  assert.ok(turns >= 10, `${turns} turns`);
});

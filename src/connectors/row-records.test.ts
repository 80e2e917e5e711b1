// Rows of queries and files as records: which rows are refused, and why.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordMaker, type SourceTableRow } from "./row-records.ts";

const rowOf = (texts: Readonly<Record<string, string | null>>): SourceTableRow => ({ texts, values: texts });

/** The reasons for which rows of one point each are refused. */
function refusalsOf(rows: readonly SourceTableRow[]): string[] {
  const refused: string[] = [];
  const points = { series: "{tag}", timestamp: "time", value: "value" };
  const made = recordMaker("lab", { points })(rows, (_row, why) => refused.push(why));
  assert.equal(made.points!.length + refused.length, rows.length);
  return refused;
}

test("a key or a name with a column that the rows lack is refused, as all rows would have one key", () => {
  const rows = [rowOf({ id: "1", tag: "a", time: "1", value: "1" })];
  const refuse = () => assert.fail("the query is refused, not the row");
  const raw = recordMaker("orders", { rows: { database: "d", table: "t", key: "oslo-{nr}" } });
  assert.throws(() => raw(rows, refuse), /There is no column nr/);
  const points = { series: "lab.{tagg}", timestamp: "time", value: "value" };
  assert.throws(() => recordMaker("lab", { points })(rows, refuse), /There is no column tagg/);
});

test("a value of null in a key is an empty text", () => {
  const maker = recordMaker("orders", { rows: { database: "d", table: "t", key: "{plant}-{id}" } });
  const { rows } = maker([rowOf({ plant: null, id: "7" })], () => assert.fail());
  assert.deepEqual(
    rows!.map(({ key }) => key),
    ["-7"],
  );
});

test("a number beyond a double and a time that no datapoint has are refused with their values", () => {
  const texts = { tag: "a", time: "2026-01-01", value: "1" };
  assert.deepEqual(
    refusalsOf([
      rowOf(texts),
      rowOf({ ...texts, value: "1e400" }),
      rowOf({ ...texts, value: "x" }),
      rowOf({ ...texts, time: "1899-12-31" }),
      rowOf({ ...texts, time: "4102444800000" }),
    ]),
    [
      'a: value is "1e400", too large for a number',
      'a: value is "x", no number',
      'a: time is "1899-12-31", not between the years 1900 and 2099',
      'a: time is "4102444800000", not between the years 1900 and 2099',
    ],
  );
});

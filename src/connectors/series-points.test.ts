// The JSON of a request has the points of its entries, those of each series in the order of the entries.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/support/proof.ts";
import { encodeNumbers, encodeStrings } from "./point-columns.ts";
import { insertBody, numbersBySeries, type PointsOfSeries, stringsBySeries } from "./series-points.ts";

type Point<Value> = readonly [series: number, time: number, value: Value];

const entriesOf = <Value>(value: fc.Arbitrary<Value>) =>
  fc.array(
    fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), time, value), { minLength: 1, maxLength: 20 }),
    { minLength: 1, maxLength: 5 },
  );
const time = fc.oneof(
  fc.integer({ min: 1.6e12, max: 1.8e12 }),
  fc.integer({ min: -2e12, max: 4e12 }),
  fc.constant(1_700_000_000_000.25),
);
const number = fc.oneof(
  fc.integer({ min: -1e6, max: 1e6 }).map((whole) => whole / 1_000),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1e21, 5e-324),
);
const string = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom('"', "\\", "é\n", ""));

function expectedOf<Value>(entries: readonly (readonly Point<Value>[])[]) {
  const bySeries = Map.groupBy(entries.flat(), ([series]) => series);
  return [...bySeries]
    .sort(([a], [b]) => a - b)
    .map(([series, points]) => ({
      name: `s"${series}`,
      datapoints: points.map(([, timestamp, value]) => ({ timestamp, value })),
    }));
}

/** The points as the server decodes them. */
function readBack(found: readonly PointsOfSeries[]) {
  const sorted = [...found].sort((a, b) => a.series - b.series);
  const body = insertBody(sorted.map(({ series, ...points }) => ({ name: `s"${series}`, ...points })));
  return (JSON.parse(Buffer.from(body).toString()) as { items: unknown }).items;
}

test("numbers of several entries are those of their series, with the same bits", () => {
  fc.assert(
    fc.property(entriesOf(number), (entries) => {
      const bodies = entries.map((points) =>
        encodeNumbers({
          series: Uint32Array.from(points, ([series]) => series),
          times: Float64Array.from(points, ([, timeMs]) => timeMs),
          values: Float64Array.from(points, ([, , value]) => value),
        }),
      );
      assert.deepStrictEqual(readBack(numbersBySeries(bodies)), expectedOf(entries));
    }),
    runs(1_000, 50_000),
  );
});

test("strings of several entries are those of their series", () => {
  fc.assert(
    fc.property(entriesOf(string), (entries) => {
      const found = readBack(stringsBySeries(entries.map((points) => encodeStrings(points))));
      assert.deepStrictEqual(found, expectedOf(entries));
    }),
    runs(500, 50_000),
  );
});

// Inserts in JSON mean what JSON.parse and a plain reading of client-endpoints 9.1 make of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../../test/support/proof.ts";
import { Failure } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { SeriesKey } from "../timeseries/timeseries.ts";
import type { ArrivedPoints } from "./arrived-points.ts";
import { readInsert } from "./insert-json.rest.ts";

interface Point {
  readonly timestamp: number;
  readonly value: number | string;
}
interface Run {
  readonly key: SeriesKey;
  readonly points: readonly Point[];
}

/** The columns as runs again, numbers before texts as the columns keep them apart. */
function runsOf({ keys, numbers, strings }: ArrivedPoints): Run[] {
  const part = (columns: typeof numbers | typeof strings, run: number): Point[] => {
    const from = run === 0 ? 0 : columns.ends[run - 1]!;
    const times = columns.times.subarray(from, columns.ends[run]);
    return Array.from(times, (timestamp, i) => ({ timestamp, value: columns.values[from + i]! }));
  };
  return keys.map((key, run) => ({ key, points: [...part(numbers, run), ...part(strings, run)] }));
}

const isNumber = ({ value }: Point) => typeof value === "number";
/** A time is never minus zero, a value may be. */
const withWholeTime = ({ timestamp, value }: Point): Point => ({ timestamp: timestamp + 0, value });
const expected = (runs: readonly Run[]): Run[] =>
  runs.map(({ key, points }) => ({
    key,
    points: [...points.filter(isNumber), ...points.filter((point) => !isNumber(point))].map(withWholeTime),
  }));

const blanks = fc.constantFrom("", "", "", " ", "\n", "\r\n\t");
const time = fc.oneof(
  fc.integer({ min: 0, max: 4e12 }),
  fc.integer({ min: limits.timeMsMin, max: limits.timeMsMax }),
);
const numberText = fc
  .tuple(
    fc.oneof(
      fc.double({ min: -1e308, max: 1e308, noNaN: true }),
      fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 1000),
    ),
    fc.constantFrom<(value: number) => string>(
      (value) => JSON.stringify(value),
      (value) => value.toExponential(),
      (value) => value.toExponential(3).toUpperCase(),
    ),
  )
  .map(([value, write]) => write(value));
const textJson = fc.oneof(
  fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
  fc
    .string()
    .map((text) => JSON.stringify(text).replace(/[a-f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)),
);
const timeText = time.chain((ms) => fc.constantFrom(`${ms}`, `${ms}.0`, `${ms / 1000}e3`));
const extraMember = fc.constantFrom('"status":{"a":[1,"x"]}', '"quality":null', '"":""');

/** An object with its members in any order, perhaps one more, and blanks anywhere. */
const objectText = (members: fc.Arbitrary<string>[]) =>
  fc
    .tuple(fc.tuple(...members), fc.option(extraMember, { freq: 20 }), fc.boolean(), blanks, blanks)
    .map(([found, extra, isReversed, outer, inner]) => {
      const all = extra === null ? found : [...found, extra];
      const ordered = isReversed ? all.toReversed() : all;
      return `${outer}{${inner}${ordered.join(`${inner},${outer}`)}${outer}}${inner}`;
    });
const member = (name: string, value: fc.Arbitrary<string>) =>
  fc
    .tuple(blanks, value, blanks)
    .map(([before, text, after]) => `"${name}"${before}:${after}${text}${before}`);
const list = (element: fc.Arbitrary<string>, maxLength: number) =>
  fc.tuple(fc.array(element, { maxLength }), blanks).map(([all, blank]) => `[${blank}${all.join(",")}]`);

const pointText = (value: fc.Arbitrary<string>) =>
  objectText([member("timestamp", timeText), member("value", value)]);
const pointsText = fc.oneof(
  { weight: 4, arbitrary: list(pointText(numberText), 6) },
  { weight: 2, arbitrary: list(pointText(textJson), 6) },
  { weight: 1, arbitrary: list(pointText(fc.oneof(numberText, textJson)), 6) },
);
const seriesText = fc
  .constantFrom("name", "tagId")
  .chain((key) => objectText([member(key, textJson), member("datapoints", pointsText)]));

test("the insert of one series is what JSON.parse finds", () => {
  fc.assert(
    fc.property(objectText([member("items", pointsText)]), (text) => {
      const { items } = JSON.parse(text) as { items: Point[] };
      const points = items.map(({ timestamp, value }) => ({ timestamp, value }));
      assert.deepEqual(runsOf(readInsert(Buffer.from(text), 7)), expected([{ key: 7, points }]));
    }),
    runs(1000, 200_000),
  );
});

interface Sent {
  readonly name?: string;
  readonly tagId?: string;
  readonly datapoints: Point[];
}

test("the insert of many series is what JSON.parse finds", () => {
  fc.assert(
    fc.property(objectText([member("items", list(seriesText, 5))]), (text) => {
      const { items } = JSON.parse(text) as { items: Sent[] };
      const runs = items.map(({ name, tagId, datapoints }) => ({
        key: (name ?? tagId)!,
        points: datapoints.map(({ timestamp, value }) => ({ timestamp, value })),
      }));
      assert.deepEqual(runsOf(readInsert(Buffer.from(text))), expected(runs));
    }),
    runs(1000, 200_000),
  );
});

test("minus zero is kept as a value and is no time", () => {
  const unusual = '{"items":[{"timestamp":-0,"value":-0,"status":1}]}';
  for (const text of ['{"items":[{"timestamp":-0,"value":-0}]}', unusual])
    assert.deepEqual(runsOf(readInsert(Buffer.from(text), "x")), [
      { key: "x", points: [{ timestamp: 0, value: -0 }] },
    ]);
});

test("a body cut short or with a byte changed is refused or means what JSON.parse finds", () => {
  const usual = '{"items":[{"timestamp":1600000000000,"value":12.345},{"timestamp":-5,"value":-1e-3}]}';
  fc.assert(
    fc.property(fc.nat(usual.length - 1), fc.constantFrom("", ...'0"{}[],:.-e x\\'), (at, byte) => {
      const text = usual.slice(0, at) + byte + usual.slice(at + 1);
      let runs: Run[] | undefined;
      try {
        runs = runsOf(readInsert(Buffer.from(text), "x"));
      } catch (refusal) {
        assert.ok(refusal instanceof Failure && refusal.status === 400, `${text}: ${refusal}`);
        return;
      }
      const { items } = JSON.parse(text) as { items: Point[] };
      const points = items.map(({ timestamp, value }) => ({ timestamp, value }));
      assert.deepEqual(runs, expected([{ key: "x", points }]));
    }),
    runs(1000, 200_000),
  );
});

/** Other bytes in some places: of JSON, of UTF-8, and of nothing. */
const edits = fc.array(
  fc.record({
    at: fc.nat(),
    taken: fc.nat(3),
    put: fc.oneof(
      fc.constantFrom(...'0123456789"{}[],:.-+eE x\\tn\n', "null", "true", '"value"', "1e400", "\ufeff"),
      fc.string({ maxLength: 3 }),
      fc.constantFrom("\u00ff", "\u00c3", "\u0000"),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

function edited(text: string, all: readonly { at: number; taken: number; put: string }[]): Buffer {
  let bytes = Buffer.from(text);
  for (const { at, taken, put } of all) {
    const place = at % (bytes.length + 1);
    const written = Buffer.from(put, "latin1");
    bytes = Buffer.concat([bytes.subarray(0, place), written, bytes.subarray(place + taken)]);
  }
  return bytes;
}

function runsOrRefusal(bytes: Buffer): Run[] | undefined {
  try {
    return runsOf(readInsert(bytes));
  } catch (refusal) {
    assert.ok(refusal instanceof Failure && refusal.status === 400, `${bytes}: ${refusal}`);
    return undefined;
  }
}

function assertSameAsParsed(found: readonly Run[], bytes: Buffer): void {
  const { items } = JSON.parse(bytes.toString()) as { items: Sent[] };
  const keyOf = ({ name, tagId }: Sent) => name ?? tagId;
  assert.deepEqual(
    found.map(({ key, points }) => [key, points.length]),
    items.map((one) => [keyOf(one), one.datapoints.length]),
  );
  const points = items.flatMap(({ datapoints }) => expected([{ key: "", points: datapoints }])[0]!.points);
  assert.deepEqual(
    found.flatMap((run) => run.points),
    points.map(({ timestamp, value }) => ({ timestamp, value })),
  );
}

/** All points of a body spelled alike, as programs do, with names, times and values of all lengths. */
const spelledAlike = fc
  .record({
    gaps: fc.tuple(blanks, blanks, blanks, blanks),
    series: fc.array(
      fc.record({
        name: fc.oneof(
          fc.nat(20).map((n) => `scan${n}`),
          fc.string(),
        ),
        points: fc.array(
          fc.tuple(
            fc.oneof(fc.integer({ min: 1_780_272_000_000, max: 1_780_272_100_000 }), time),
            fc.oneof(
              fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 1000),
              fc.double({ noNaN: true }),
            ),
          ),
          { minLength: 1, maxLength: 3 },
        ),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ gaps: [a, b, c, d], series }) => {
    const point = ([timeMs, value]: [number, number]) =>
      `{${a}"timestamp":${b}${timeMs},${c}"value":${Number.isFinite(value) ? JSON.stringify(value) : 0}${d}}`;
    const items = series.map(({ name, points }) => {
      const all = points.map(point).join(`,${c}`);
      return `{${a}"name":${b}${JSON.stringify(name)},${c}"datapoints":${b}[${all}]${d}}`;
    });
    return `{"items":[${items.join(`,${c}`)}]}`;
  });

test("inserts that are spelled alike, but for a few bytes, are refused or mean what JSON.parse finds", () => {
  let [read, refused] = [0, 0];
  fc.assert(
    fc.property(spelledAlike, fc.option(edits), (text, all) => {
      const bytes = edited(text, all ?? []);
      const found = runsOrRefusal(bytes);
      if (found === undefined) {
        refused++;
        return;
      }
      read++;
      assertSameAsParsed(found, bytes);
    }),
    runs(3000, 500_000),
  );
  assert.ok(read > 0 && refused > 0);
});

test("whatever is done to the bytes of an insert, it is refused or means what JSON.parse finds", () => {
  const body = objectText([member("items", list(seriesText, 3))]);
  let [read, refused] = [0, 0];
  fc.assert(
    fc.property(body, edits, (text, all) => {
      const bytes = edited(text, all);
      const found = runsOrRefusal(bytes);
      if (found === undefined) {
        refused++;
        return;
      }
      read++;
      assertSameAsParsed(found, bytes);
    }),
    runs(1500, 300_000),
  );
  assert.ok(read > 0 && refused > 0);
});

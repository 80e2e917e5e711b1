// Random bodies: the scanner finds the points that a naive parser finds, and refuses the same lines.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type NaiveLine, naiveLines } from "../../test/support/naive-lines.ts";
import { runs } from "../../test/support/proof.ts";
import { limits } from "../limits.ts";
import { LineColumns } from "./line-columns.ts";
import { LineScanner } from "./line-scanner.ts";
import { defaultSeriesTemplate, NameTemplate } from "./name-template.ts";
import { precisionOf } from "./precision.ts";
import { SeriesNames } from "./series-names.ts";

const nowMs = 1_700_000_000_123;
const template = new NameTemplate(defaultSeriesTemplate, "series");

interface Scanned {
  readonly points: readonly (readonly [line: number, series: string, time: number, value: number | string])[];
  readonly refused: readonly number[];
}

/** `names` may know lines of earlier bodies. */
function scan(bytes: Buffer, precision: string, names = new SeriesNames()): Scanned {
  const columns = new LineColumns();
  const [points, refused]: [[number, string, number, number | string][], number[]] = [[], []];
  const scanner = new LineScanner(bytes, {
    ...{ names, columns, nowMs, precision: precisionOf(precision) },
    scope: { template, db: "" },
    refuse: (line, reason) => {
      assert.ok(reason().length < 1_000);
      refused.push(line);
    },
  });
  while (!scanner.isAtEnd) {
    scanner.scanSlice();
    const { count, lines, series, times, values, strings } = columns;
    const list = names.listOf(columns.names);
    const nameOf = (number: number) => list.names[number]!.name;
    for (let at = 0; at < count; at += 1)
      points.push([lines[at]!, nameOf(series[at]!), times[at]!, values[at]!]);
    for (const one of strings) points.push([one.line, nameOf(one.series), one.timeMs, one.value]);
    const used = new Set([...series.subarray(0, count), ...strings.map((one) => one.series)]);
    assert.equal(used.size, columns.nameCount, "only series with points have a number");
  }
  return { points: sorted(points), refused };
}

const sorted = <Point extends readonly unknown[]>(points: readonly Point[]): Point[] =>
  points
    .map((point) => [JSON.stringify([point[0], point[1], typeof point[3]]), point] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, point]) => point);

function expectedOf(lines: readonly NaiveLine[]): Scanned {
  const points = lines.flatMap(({ line, points = [] }) =>
    points.map(({ series, timeMs, value }) => [line, series, timeMs, value] as const),
  );
  return { points: sorted(points), refused: lines.filter((one) => !one.points).map(({ line }) => line) };
}

const precisions = ["", "n", "ns", "u", "us", "ms", "s", "m", "h"];
const shared = new SeriesNames();

function check(bytes: Buffer, precision: string): Scanned {
  const expected = expectedOf(naiveLines(bytes, { precision, nowMs }));
  const what = JSON.stringify([bytes.toString("latin1"), precision]);
  assert.deepEqual(scan(bytes, precision), expected, what);
  assert.deepEqual(scan(bytes, precision, shared), expected, what);
  return expected;
}

const rarely = <A, B>(usual: fc.Arbitrary<A>, odd: fc.Arbitrary<B>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: odd });

const oddWord = fc.constantFrom(
  ...[
    "",
    " ",
    ",",
    "=",
    "\\",
    "\\,",
    "\\=",
    "\\ ",
    "\\\\",
    '"',
    "a\\",
    "\t",
    "#",
    "\r",
    "\0",
    "é",
    "中",
    "\n",
  ],
  ...["time", "_field", "_measurement", "a b", "a=b", "x".repeat(300), "\u00ff", "😀"],
);
const word = rarely(fc.constantFrom("cpu", "host", "a", "b", "usage idle", "k=v", "x,y"), oddWord);
const escapedWord = word.map((one) => (/[\n\\]/.test(one) ? one : one.replaceAll(/[,= ]/g, "\\$&")));
const anyWord = fc.oneof({ weight: 15, arbitrary: escapedWord }, { weight: 1, arbitrary: word });
const numberText = fc.oneof(
  fc.double({ noNaN: true }).map(String),
  fc.integer().map(String),
  fc
    .bigInt({ min: -(2n ** 64n), max: 2n ** 65n })
    .chain((one) => fc.constantFrom(`${one}i`, `${one}u`, `${one}`)),
  fc
    .tuple(fc.integer({ min: -99999, max: 99999 }), fc.nat(6))
    .map(([n, digits]) => (n / 1000).toFixed(digits)),
  fc.constantFrom(
    ...["-0", "-0i", "0u", "-0u", ".5", "5.", "-.5", ".", "-", "1e5", "1E+5", "1e", "1e400", "+1", "NaN"],
  ),
  fc.constantFrom(
    ...[
      "0x10",
      "1_000",
      "1ii",
      "1.0i",
      "1e2i",
      "007",
      "007i",
      "123456789",
      "1234567890",
      "9007199254740993i",
    ],
  ),
  fc.constantFrom(
    ...["9223372036854775807i", "9223372036854775808i", "-9223372036854775808i", "18446744073709551615u"],
  ),
);
const stringText = rarely(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("a\nb", "\\", "\\\\", '\\"', "a=b,c d", '="', "x".repeat(limits.stringValueLengthMax + 1)),
).map((text) => `"${text.replaceAll(/[\\"]/g, "\\$&")}"`);
const value = rarely(
  fc.oneof(
    numberText,
    stringText,
    fc.constantFrom("t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"),
  ),
  fc.constantFrom("", '"', '"a', 'a"', '""', '"a"b', "tRue", "null", "truee", '"a\\"', '"a\\\\"', "1 ", " 1"),
);
const time = rarely(
  fc.oneof(
    fc.constant(""),
    fc.bigInt({ min: -(10n ** 18n), max: 41n * 10n ** 17n }).map((one) => ` ${one}`),
    fc.integer({ min: 0, max: 2_000_000_000 }).map((one) => ` ${one}`),
    fc.integer({ min: 0, max: 1_000 }).map((one) => ` ${one + 1_700_000_000_000}`),
    fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 12 }).map((rest) => ` 17802720${rest}`),
  ),
  fc.constantFrom(
    " ",
    "  1",
    " -1",
    " -0",
    " 0",
    " 1.0",
    " x",
    " 1 ",
    " 1 2",
    " -",
    " +1",
    " 000000000000000000000001",
    ` ${"9".repeat(30)}`,
  ),
);
const pair = (of: fc.Arbitrary<string>) => fc.tuple(anyWord, of).map(([key, one]) => `${key}=${one}`);
const line = fc
  .record({
    measurement: anyWord,
    tags: fc.array(pair(anyWord), { maxLength: 3 }),
    gap: rarely(fc.constant(" "), fc.constantFrom("  ", "", "\t")),
    fields: rarely(fc.array(pair(value), { minLength: 1, maxLength: 4 }), fc.constant([])),
    time,
  })
  .map(
    ({ measurement, tags, gap, fields, time: at }) =>
      `${[measurement, ...tags].join(",")}${gap}${fields.join(",")}${at}`,
  );
const anyLine = rarely(
  line,
  fc.constantFrom("", " ", "# a comment", '  # a="b', "\t", "cpu", "cpu ", ",", "=", '"'),
);
const body = fc
  .tuple(fc.array(anyLine, { maxLength: 6 }), rarely(fc.constant("\n"), fc.constantFrom("\r\n", "\n\n")))
  .map(([lines, end]) => lines.join(end));

test("a random body has the points that a naive parser finds", () => {
  let [points, refused] = [0, 0];
  fc.assert(
    fc.property(body, fc.constantFrom(...precisions), (text, precision) => {
      const found = check(Buffer.from(text), precision);
      points += found.points.length;
      refused += found.refused.length;
    }),
    runs(3_000, 300_000),
  );
  assert.ok(points > 500 && refused > 500, `${points} points, ${refused} lines refused`);
});

const edits = fc.array(
  fc.record({
    at: fc.nat(),
    taken: fc.nat(3),
    put: fc.oneof(
      fc.constantFrom(
        ...'0123456789",= \\\n\r\tie.-+tuf#',
        "\\\\",
        '="',
        "\u0000",
        "\u00ff",
        "\u00c3",
        "\u00ed\u00a0\u0080",
      ),
      fc.string({ maxLength: 3 }),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

test("a random body with a few bytes changed has the points that a naive parser finds", () => {
  fc.assert(
    fc.property(body, edits, fc.constantFrom(...precisions), (text, all, precision) => {
      let bytes = Buffer.from(text);
      for (const { at, taken, put } of all) {
        const from = at % (bytes.length + 1);
        bytes = Buffer.concat([
          bytes.subarray(0, from),
          Buffer.from(put, "latin1"),
          bytes.subarray(from + taken),
        ]);
      }
      check(bytes, precision);
    }),
    runs(3_000, 300_000),
  );
});

test("random bytes are refused or read as a naive parser reads them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      check(Buffer.from(bytes), "ns");
    }),
    runs(1_000, 100_000),
  );
});

test("lines that repeat with other values have their own points", () => {
  const lines = Array.from({ length: 3_000 }, (_, i) => `cpu,host=h${i % 7} a=${i},b="x${i}" ${1.7e12 + i}`);
  const mixed = lines.map((one, i) => (i % 11 === 0 ? one.replace("a=", "c=") : one));
  const { points, refused } = check(Buffer.from(mixed.join("\n")), "ms");
  assert.deepEqual([points.length, refused.length], [6_000, 0]);
});

test("a body with more series than the cache of names has the points of each, in every cycle", () => {
  const lines = Array.from({ length: 30_000 }, (_, i) => `cpu,host=h${i % 12_000} a=${i} ${1.7e12 + i}`);
  const bytes = Buffer.from(lines.join("\n"));
  const found = scan(bytes, "ms", new SeriesNames(2 ** 20));
  assert.deepEqual(found, expectedOf(naiveLines(bytes, { precision: "ms", nowMs })));
});

const cycle = fc
  .record({
    heads: fc.array(fc.tuple(anyWord, fc.array(anyWord, { minLength: 1, maxLength: 3 })), {
      minLength: 1,
      maxLength: 3,
    }),
    parts: fc.array(fc.record({ values: fc.array(value, { minLength: 3, maxLength: 3 }), time }), {
      minLength: 6,
      maxLength: 24,
    }),
    odd: fc.option(fc.tuple(fc.nat(23), anyLine)),
  })
  .map(({ heads, parts, odd }) => {
    const lines = parts.map(({ values, time: at }, i) => {
      const [head, keys] = heads[i % heads.length]!;
      return `${head} ${keys.map((key, k) => `${key}=${values[k]}`).join(",")}${at}`;
    });
    if (odd) lines[odd[0] % lines.length] = odd[1];
    return lines.join("\n");
  });

test("cycles of the same series with random values have the points that a naive parser finds", () => {
  let points = 0;
  fc.assert(
    fc.property(
      cycle,
      edits,
      fc.boolean(),
      fc.constantFrom(...precisions),
      (text, all, isEdited, precision) => {
        const bytes = Buffer.from(text);
        const { at, put } = all[0]!;
        const edited = isEdited
          ? Buffer.from(text.slice(0, at % text.length) + put + text.slice(at % text.length))
          : bytes;
        points += check(edited, precision).points.length;
      },
    ),
    runs(2_000, 200_000),
  );
  assert.ok(points > 10_000, `${points} points`);
});

test("more lines than one write takes are scanned in slices", () => {
  const count = limits.pointsPerWriteMax + 10;
  const { points, refused } = scan(
    Buffer.from(Array.from({ length: count }, (_, i) => `a v=${i} ${i}`).join("\n")),
    "ms",
  );
  assert.deepEqual([points.length, refused], [count, []]);
});

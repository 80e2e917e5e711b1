// An insert in JSON has the result of a naive reader (test/support/plain-insert.ts), or is refused for the
// same reason, for any bytes and any memory around them.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { emptyColumns, insertContext, storePlan } from "../../../../test/support/insert-context.ts";
import { plainInsert, type Run } from "../../../../test/support/plain-insert.ts";
import { isLong, randomFrom, runs, seed } from "../../../../test/support/proof.ts";
import { Failure } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import type { IncomingPoints } from "./incoming-points.ts";
import { decodeInsert } from "./insert-json.rest.ts";

const ctx = insertContext();

/** The columns as runs again, numbers before strings as in the columns. */
function runsOf(points: IncomingPoints): Run[] {
  const { keys, numbers, strings = emptyColumns(points), mixed } = points;
  const part = (columns: typeof numbers | typeof strings, run: number) => {
    const from = run === 0 ? 0 : columns.ends[run - 1]!;
    const times = columns.times.subarray(from, columns.ends[run]);
    return Array.from(times, (timestamp, i) => ({ timestamp, value: columns.values[from + i]! }));
  };
  assert.equal(numbers.times.length, numbers.values.length);
  assert.equal(numbers.times.length, numbers.ends.at(-1) ?? 0);
  assert.equal(strings.times.length, strings.values.length);
  assert.equal(strings.times.length, strings.ends.at(-1) ?? 0);
  return keys.map((key, run) => ({
    key,
    points: [...part(numbers, run), ...part(strings, run)],
    ...(mixed.has(run) && { mixed: mixed.get(run)! }),
  }));
}

// Most bodies here are refused, and where is of no interest.
Error.stackTraceLimit = 3;

/** The result of a scanner that reads beyond the end of its body. */
const following = ["", "9", "}", "]}", '"', ',"value":1}]}', "e5", ".5", "0}]}", " ", "\ufeff", "\\"].map(
  (text) => Buffer.from(text),
);
let placed = 0;

/** The same bytes at another offset of a larger buffer, with other bytes before and after. */
function elsewhere(body: Buffer): Buffer {
  const at = placed % 9;
  const rest = following[placed % following.length]!;
  placed++;
  const all = Buffer.alloc(at + body.length + rest.length, "{");
  body.copy(all, at);
  rest.copy(all, at + body.length);
  return all.subarray(at, at + body.length);
}

let [readBodies, refusedBodies] = [0, 0];

async function found(body: Buffer, key?: string): Promise<Run[] | string> {
  try {
    const points = await decodeInsert(ctx, body, { key });
    storePlan(ctx, points);
    return runsOf(points);
  } catch (refusal) {
    assert.ok(refusal instanceof Failure && refusal.status === 400, `${body}: ${refusal}`);
    return refusal.failure;
  }
}

/** As `assert.deepEqual` would find, which takes half a second for the points of a large insert. */
function isSame(a: Run[] | string, b: Run[] | string): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return a.length === b.length && a.every((run, i) => isSameRun(run, b[i]!));
}

function isSameRun(a: Run, b: Run): boolean {
  if (a.key !== b.key || a.points.length !== b.points.length) return false;
  if (a.mixed?.number !== b.mixed?.number || a.mixed?.string !== b.mixed?.string) return false;
  return a.points.every(
    ({ timestamp, value }, i) =>
      Object.is(timestamp, b.points[i]!.timestamp) && Object.is(value, b.points[i]!.value),
  );
}

/** The kernel does not read the last bytes of a body: JSON may end with blanks. */
const blanks = Buffer.alloc(300, " ");

/** Both as the insert of one series and of many, to its end by the kernel and not. */
async function check(body: Buffer): Promise<void> {
  await checkAsItIs(body);
  await checkAsItIs(Buffer.concat([body, blanks]));
}

async function checkAsItIs(body: Buffer): Promise<void> {
  for (const key of ["x", undefined]) {
    const expected = plainInsert(body, key);
    const result = await found(elsewhere(body), key);
    if (typeof expected === "string") refusedBodies++;
    else readBodies++;
    if (!isSame(result, expected))
      assert.deepEqual(result, expected, `${key === undefined ? "many" : "one"}: ${body.toString("latin1")}`);
  }
}

const checkText = (text: string): Promise<void> => check(Buffer.from(text));

let turn = seed;
/** All in the long mode, else each seventh, another one each time. */
const isTurn = (): boolean => isLong || turn++ % 7 === 0;

const point = '{"timestamp":1600000000000,"value":12.345}';
const texts = '{"id":7,"datapoints":[{"timestamp":1,"value":"x"}]}';
const bodies = [
  `{"items":[${point},{"timestamp":-5,"value":-1e-3},{"timestamp":1600000000001,"value":7}]}`,
  '{"items":[{"value":1,"timestamp":999},{"value":0.5,"timestamp":1000},{"value":-0,"timestamp":-0}]}',
  '{"items":[{"timestamp":1,"value":"a"},{"value":"\u00f8\ud83d\ude00","timestamp":2},{"timestamp":3}]}',
  '{"items":[{"timestamp":1,"value":"\\n\\u00e9\\ud83d\\ude00\\""},{"timestamp":2,"value":1}]}',
  `{"items":[{"name":"a.b","datapoints":[${point}]},{"tagId":"\u00e6","datapoints":[]}]}`,
  `{"items":[{"datapoints":[${point},${point}],"name":"a"},${texts}]}`,
  `{ "items" : [ { "name" : "a" ,\r\n\t"datapoints" : [ ${point} , ${point} ] } ] , "more" : null }`,
  JSON.stringify({ items: [{ tagId: "t", datapoints: [{ timestamp: 1, value: 2 }], extra: [{}] }] }, null, 1),
  '{"extra":{"items":[1]},"items":[{"timestamp":5,"status":{"a":[]},"value":6,"value":7}],"items":[]}',
];

const bytesTried = isLong
  ? Array.from({ length: 256 }, (_, byte) => byte)
  : [...Buffer.from('09"{}[],:.-+eEx\\ \n\t\x00\x1f\x7f'), 0x80, 0xbf, 0xc3, 0xed, 0xef, 0xff];

test("a body truncated anywhere is refused, with any bytes after it", async () => {
  for (const body of bodies) {
    const whole = Buffer.from(body);
    for (let length = 0; length <= whole.length; length++) {
      await check(whole.subarray(0, length));
      for (const key of ["x", undefined])
        assert.deepEqual(
          await found(whole.subarray(0, length), key),
          plainInsert(whole.subarray(0, length), key),
        );
    }
  }
});

test("a body with any byte replaced, left out or put in twice means what JSON.parse finds", async () => {
  for (const body of bodies) {
    const whole = Buffer.from(body);
    for (let at = 0; at < whole.length; at++) {
      await check(Buffer.concat([whole.subarray(0, at), whole.subarray(at + 1)]));
      await check(Buffer.concat([whole.subarray(0, at + 1), whole.subarray(at)]));
      const changed = Buffer.from(whole);
      for (const byte of bytesTried) {
        changed[at] = byte;
        if (isTurn()) await check(changed);
      }
    }
  }
});

const pieces = [
  ...[
    " ",
    "\n",
    "\r\n",
    "\t",
    "\v",
    "\f",
    "\u00a0",
    "\u2028",
    "\ufeff",
    "\0",
    "/**/",
    "//\n",
    ",",
    "null",
    "1e400",
  ],
  ...[
    "\\u0061",
    "\\",
    '"',
    '""',
    '"x":1,',
    ',"x":{"y":["}"]}',
    "{}",
    "[]",
    "0",
    "-",
    ".0",
    "e1",
    "E+1",
    "\ud800",
  ],
];

test("a body with something put in anywhere means what JSON.parse finds", async () => {
  for (const body of bodies)
    for (let at = 0; at <= body.length; at++)
      for (const piece of pieces) if (isTurn()) await checkText(body.slice(0, at) + piece + body.slice(at));
});

const { timeMsMin, timeMsMax } = limits;
const oddNumbers = `
  0 -0 00 01 -01 +1 1. .5 -.5 - -- -a 1e 1e+ 1e- e1 1E5 1e+5 1e-5 1e05 1ee5 1e5.5 1.e5 0e0 0e1 0E-0 -0e5
  0.0 -0.0 0.10 1.5.5 1..5 1-2 1+2 1e400 -1e400 1e-400 1e308 1e309 4.9e-324 5e-324 2.47e-324 2.48e-324
  8.5e22 1e22 1e23 2.2250738585072011e-308 2.2250738585072014e-308 1.7976931348623157e308
  1.7976931348623159e308 0.1 0.1e-5 0.30000000000000004 9007199254740991 9007199254740992
  9007199254740993 9007199254740995 999999999 1.00000000000000011102230246251565
  1.00000000000000011102230246251564 2147483647 2147483648 4294967295 1000000000 4294967296
  999999999999999 999999999999999.9 1600000000000.0 16e11 1.6e12 1600000000000.5 160000000000e1
  16000000000000e-1 1e0 10e-1 1e-1 NaN Infinity -Infinity nan 0x10 0b1 1_0 1n true false null nul [] {}
  [1] '1' "1" "" "1 1,2 1/**/ \\u0031 \uff11 \u22121 \u0661`;
const numberTexts = [
  ...oddNumbers.trim().split(/\s+/),
  ...["", " ", "1 2", "1\0", "1\u00a0", "- 1", "1 e5", "1. 5"],
  ...[
    "0".repeat(17),
    "1".repeat(1000),
    `1${"0".repeat(308)}`,
    `1${"0".repeat(400)}`,
    `0.${"0".repeat(400)}1`,
  ],
  ...[timeMsMin, timeMsMin - 1, timeMsMax, timeMsMax + 1, -timeMsMin].map(String),
  ...[`0.${"1".repeat(30)}`, `-1.${"9".repeat(40)}e10`, `1e${"0".repeat(50)}5`, `1e-${"9".repeat(30)}`],
  ...Array.from({ length: 25 }, (_, i) => "9".repeat(i + 1)),
  ...Array.from({ length: 24 }, (_, i) =>
    `8442123456789012345678901`.replace(/./g, (one, at) => (at === i ? `${one}.` : one)),
  ),
  ...Array.from({ length: 12 }, (_, i) => `0.${"0".repeat(i)}7`),
  ...Array.from({ length: 12 }, (_, i) => `123.${"0".repeat(i)}1e${i - 6}`),
];

test("odd numbers as values and as times, first, between and last", async () => {
  for (const text of numberTexts)
    for (const place of [0, 1, 6, 7])
      for (const written of [text, ` ${text}`, `${text}\n`]) {
        const others = Array.from(
          { length: 8 },
          (_, i) => `{"timestamp":${1_780_272_000_000 + i},"value":${i}.5}`,
        );
        const rowsWith = (row: string) => others.with(place, row).join(",");
        const rows = [
          `{"timestamp":5,"value":${written}}`,
          `{"value":${written},"timestamp":5}`,
          `{"timestamp":${written},"value":5}`,
          `{"value":5,"timestamp":${written}}`,
        ];
        for (const row of rows.filter(isTurn)) {
          await checkText(`{"items":[${rowsWith(row)}]}`);
          await checkText(`{"items":[{"name":"a","datapoints":[${rowsWith(row)}]}]}`);
        }
        if (isTurn()) await checkText(`{"items":[{"id":${written},"datapoints":[]}]}`);
        if (isTurn()) await checkText(`{"items":[{"name":${written},"datapoints":[]}]}`);
      }
});

test("odd numbers in the midst of points that are spelled alike", async () => {
  const rows = Array.from({ length: 8 }, (_, i) => `{"timestamp":${1_780_272_000_000 + i},"value":${i}.5}`);
  const odd = [
    "01",
    "-01.5",
    "00.5",
    "1.",
    "-",
    "-.5",
    ".5",
    "1e",
    "1e2",
    "1.5e1",
    "-0",
    "0.0",
    "1234567890.5",
  ];
  for (const value of odd)
    await checkText(`{"items":[${rows.with(6, rows[6]!.replace("6.5", value)).join(",")}]}`);
  // A time is not believed because a value begins like it.
  const value = rows[5]!.replace("5.5", "9999999999999");
  const time = '{"timestamp":9999999999998,"value":1}';
  await checkText(`{"items":[${rows.with(5, value).with(6, time).join(",")}]}`);
});

test("times that begin alike and are longer or shorter than those around them", async () => {
  const lengths = [13, 13, 9, 10, 13, 12, 11, 13, 9, 9, 13];
  const rows = [...lengths, ...lengths].map(
    (length, i) => `{"timestamp":${"1780272012345".slice(0, length)},"value":${i}.5}`,
  );
  await checkText(`{"items":[${rows.join(",")}]}`);
});

test("numbers of every length before and after the decimal point", async () => {
  const random = randomFrom(seed);
  const digits = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 10)).join("");
  const each = isLong ? 2000 : 40;
  for (let whole = 1; whole <= 18; whole++)
    for (let decimals = 0; decimals <= 18; decimals++) {
      const row = (_: unknown, i: number) => {
        const number = `${i % 3 === 0 ? "-" : ""}${whole === 1 ? "" : "9"}${digits(Math.max(1, whole - 1))}`;
        const exponent = i % 5 === 0 ? `e${Math.floor(random() * 40) - 20}` : "";
        return `{"timestamp":${i},"value":${number}${decimals > 0 ? `.${digits(decimals)}` : ""}${exponent}}`;
      };
      await checkText(`{"items":[${Array.from({ length: each }, row).join(",")}]}`);
    }
});

/** 19 digits of a decimal, in `{}` or `{}.{}`, and the next decimal of as many digits. */
function digitsAround(numerator: bigint, denominator: bigint): string[] {
  const whole = numerator / denominator;
  const decimals = 19 - `${whole}`.length;
  if (decimals < 1 || decimals > 18) return [];
  const scaled = (numerator * 10n ** BigInt(decimals)) / denominator;
  return [scaled, scaled + 1n].map((all) => {
    const text = `${all}`.padStart(decimals + 1, "0");
    return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
  });
}

test("decimals next to the middle of two doubles are rounded to the nearest one", async () => {
  const random = randomFrom(seed);
  const values: string[] = [];
  while (values.length < (isLong ? 400_000 : 8000)) {
    // The middle of two neighbours is (2 m + 1) / 2^(e + 1).
    const m = BigInt(2 ** 52 + Math.floor(random() * 2 ** 52));
    const exponent = BigInt(Math.floor(random() * 60));
    values.push(...digitsAround(2n * m + 1n, 2n ** (exponent + 1n)));
    const short = `${random() * 10 ** Math.floor(random() * 18)}`;
    values.push(/e/.test(short) ? "1" : short, `-7.${`${random()}`.slice(2, 20)}`);
  }
  for (let at = 0; at < values.length; at += 1000) {
    const rows = values
      .slice(at, at + 1000)
      .map((value, i) => `{"timestamp":${1.7e12 + i},"value":${value}}`);
    await checkText(`{"items":[${rows.join(",")}]}`);
  }
});

test("a body that is longer than the memory of the kernel, which ends at any byte of a point", async () => {
  const row = (_: unknown, i: number) => {
    const name = `series.${i % 900}`;
    return `{"name":"${name}","datapoints":[{"timestamp":${1.7e12 + i},"value":${-i / 8}}]}`;
  };
  const items = Array.from({ length: 3600 }, row);
  for (let more = 0; more < 90; more++)
    if (isTurn()) await checkText(`{"items":[${items.with(10, items[10] + " ".repeat(more)).join(",")}]}`);
});

test("a long body is read once, wherever in a point the memory of the kernel ends", async () => {
  const row = (_: unknown, i: number) => `{"timestamp":${1.7e12 + i},"value":${-1e4 - i / 8}}`;
  const rows = Array.from({ length: 4000 }, row).with(20, '{"timestamp":1700000000020,"value":-1.5e3}');
  for (let more = 0; more < 60; more++) {
    const body = Buffer.from(`{"items":[${rows.with(10, " ".repeat(more) + rows[10]).join(",")}]}`);
    const result = await found(body, "x");
    assert.ok(isSame(result, plainInsert(body, "x")));
    // The columns of the scanner. It would have stopped at a number that was cut, and left the body to
    // another reader.
    assert.equal(ctx.insertBuffers.columns.count, rows.length, `${more} blanks`);
  }
});

test("cycles of the same names, in which some are spelled in another way, missing, or twice", async () => {
  const random = randomFrom(seed);
  const names = Array.from({ length: 40 }, (_, i) => `${"n".repeat(1 + (i % 20))}${i}`);
  const item = (name: string) =>
    `{"name":${name},"datapoints":[{"timestamp":1780272000000,"value":${Math.floor(random() * 1e4) / 100}}]}`;
  const spelled = (name: string) => {
    const odd = [
      ...[`"\\u006e${name.slice(1)}"`, `"${name}x"`, `"${name.slice(1)}"`, `"${name}" `, ` "${name}"`],
      ...[`"${name}","id":1`, "1", "null", `"${name}","name":"n"`],
    ];
    return item(random() < 0.02 ? odd[Math.floor(random() * odd.length)]! : `"${name}"`);
  };
  const noName = '{"datapoints":[{"timestamp":1780272000000,"value":1}]}';
  for (let round = 0; round < (isLong ? 20_000 : 300); round++) {
    const all = names.flatMap((name) => {
      const draw = random();
      if (draw < 0.002) return [noName];
      return draw < 0.01 ? [] : draw < 0.02 ? [spelled(name), spelled(name)] : [spelled(name)];
    });
    await checkText(`{"items":[${all.join(",")}]}`);
  }
});

test("an item without a name after items with one is refused, whatever comes after it", async () => {
  const item = (members: string) => `{${members}}`;
  const points = `"datapoints":[${point}]`;
  const usual = ["a", "b", "c"].map((name) => item(`"name":"${name}",${points}`));
  const last = item(`"name":"c",${points},"name":"d"`);
  for (const end of [last, item(`"name":"c",${points}`), item(points)])
    await checkText(`{"items":[${[...usual, item(points), end].join(",")}]}`);
});

test("an item with a second name gets the points of the last one, also if a name before it did", async () => {
  const item = (members: string) => `{${members}}`;
  const points = `"datapoints":[${point}]`;
  const named = (name: string) => item(`"name":"${name}",${points}`);
  const nameLast = item(`${points},"name":"a"`);
  const renamed = item(`"name":"b",${points},"name":"a"`);
  const others = Array.from({ length: 12 }, (_, i) => named(`c${i}`));
  for (const items of [
    [renamed, named("c")],
    [renamed, ...others],
    [named("x"), renamed, ...others],
  ])
    for (let cycle = 0; cycle < 2; cycle++) await checkText(`{"items":[${[nameLast, ...items].join(",")}]}`);
});

const keyTexts = [
  ...[
    '"a"',
    '""',
    '"\u00e6"',
    '"\ud83d\ude00"',
    '"a\\u0062"',
    '"\\n"',
    '"\\\\"',
    '"\\""',
    '"\\/"',
    '"\\ud800"',
  ],
  ...[
    '"\\x"',
    '"\\u00"',
    '"a\nb"',
    '"\x7f"',
    "7",
    "-7",
    "7.5",
    "1e3",
    "9007199254740993",
    "null",
    "[]",
    "{}",
  ],
  ...[`"${"n".repeat(255)}"`, `"${"n".repeat(256)}"`, `"${"\u00f8".repeat(300)}"`],
];

test("series are named by name, tagId or id, the first that is there", async () => {
  const points = `"datapoints":[${point}]`;
  for (const one of keyTexts)
    for (const other of keyTexts)
      for (const [a, b] of [
        ["name", "tagId"],
        ["tagId", "id"],
        ["name", "id"],
        ["id", "name"],
        ["name", "name"],
      ]) {
        if (isTurn()) await checkText(`{"items":[{"${a}":${one},${points},"${b}":${other}}]}`);
        if (isTurn()) await checkText(`{"items":[{"${a}":${one},"${b}":${other},${points}}]}`);
      }
  for (const one of keyTexts)
    for (const name of ["name", "tagId", "id", "Name", "nam\\u0065", "names", "nam", ""])
      for (const members of [`"${name}":${one},${points}`, `${points},"${name}":${one}`]) {
        await checkText(`{"items":[{${members}}]}`);
        await checkText(`{"items":[{${members}},{"name":"z","datapoints":[]},{${members}}]}`);
      }
});

test("names that share a beginning, a length or a hash are told apart, however often they come", async () => {
  const random = randomFrom(seed);
  const letters = "abAB01._-~ \u00e6\u4e2d";
  const name = () =>
    Array.from(
      { length: Math.floor(random() * 9) },
      () => letters[Math.floor(random() * letters.length)],
    ).join("");
  for (let round = 0; round < 10; round++) {
    const items = Array.from({ length: 500 }, (_, i) => ({
      name: name(),
      datapoints: [{ timestamp: i, value: i }],
    }));
    await checkText(JSON.stringify({ items }));
  }
});

// Random bodies that are right for the most part.

const rarely = <Value>(usual: fc.Arbitrary<Value>, odd: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: odd });
const oddValue = fc.oneof(fc.constantFrom(...numberTexts, ...keyTexts), fc.json());
const blank = rarely(fc.constant(""), fc.constantFrom(" ", "\n", "\r\n\t", "  ", "\f", "\u00a0", "\ufeff"));
const time = fc
  .oneof(
    fc.integer({ min: 0, max: 4e12 }),
    fc.integer({ min: timeMsMin, max: timeMsMax }),
    fc.integer({ min: -20, max: 1100 }),
  )
  .chain((ms) =>
    rarely(fc.constant(`${ms}`), fc.constantFrom(`${ms}.0`, `${ms / 1000}e3`, `${ms}.5`, `${ms}E0`)),
  );
const number = fc
  .tuple(
    fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 1000),
      fc.integer({ min: -1000, max: 1000 }),
    ),
    fc.constantFrom<(value: number) => string>(
      (value) => JSON.stringify(value),
      (value) => value.toExponential(),
      (value) => value.toExponential(3).toUpperCase(),
      (value) => value.toFixed(7),
    ),
  )
  .map(([value, write]) => write(value));
const textJson = fc.oneof(
  fc.string({ maxLength: 6 }).map((text) => JSON.stringify(text)),
  fc.string({ unit: "grapheme", maxLength: 6 }).map((text) => JSON.stringify(text)),
  fc
    .string({ maxLength: 6 })
    .map((text) => JSON.stringify(text).replace(/[a-f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)),
);

/** A name as it is, or with an escape in it, which means the same, or another one. */
const nameText = (name: string) =>
  rarely(
    fc.constant(`"${name}"`),
    fc.constantFrom(
      `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"`,
      `"${name}s"`,
      `"${name.slice(1)}"`,
      `"${name.toUpperCase()}"`,
      `"__proto__"`,
      `${name}`,
    ),
  );
const member = (name: string, value: fc.Arbitrary<string>) =>
  fc
    .tuple(nameText(name), rarely(value, oddValue), blank, blank)
    .map(([written, text, a, b]) => `${a}${written}${b}:${a}${text}${b}`);
const extra = fc
  .tuple(
    fc.string({ maxLength: 3 }).map((text) => JSON.stringify(text)),
    oddValue,
  )
  .map((pair) => pair.join(":"));

/** An object with these members in any order; rarely with others among them, one twice or one missing. */
const object = (members: readonly fc.Arbitrary<string>[]) =>
  fc
    .tuple(
      fc
        .tuple(...members)
        .chain((all) => rarely(fc.constant(all), fc.shuffledSubarray(all, { minLength: 0 }))),
      fc.boolean(),
      rarely(fc.constant<string[]>([]), fc.array(fc.oneof(extra, ...members), { maxLength: 2 })),
      blank,
    )
    .map(([all, isReversed, more, inner]) => {
      const ordered = [...(isReversed ? all.toReversed() : all), ...more];
      return `${inner}{${inner}${ordered.join(`${inner},`)}${inner}}${inner}`;
    });
const list = (element: fc.Arbitrary<string>, maxLength: number) =>
  fc
    .tuple(fc.array(rarely(element, oddValue), { maxLength }), blank)
    .map(([all, inner]) => `[${inner}${all.join(",")}${inner}]`);
const pointText = (value: fc.Arbitrary<string>) =>
  object([member("timestamp", time), member("value", value)]);
const points = fc.oneof(
  { weight: 4, arbitrary: list(pointText(number), 6) },
  { weight: 2, arbitrary: list(pointText(textJson), 6) },
  { weight: 1, arbitrary: list(pointText(fc.oneof(number, textJson)), 6) },
);
const series = fc
  .constantFrom("name", "tagId", "id")
  .chain((key) => object([member(key, key === "id" ? time : textJson), member("datapoints", points)]));
const body = fc.oneof(object([member("items", points)]), object([member("items", list(series, 4))]));

test("a random body means what JSON.parse finds", async () => {
  [readBodies, refusedBodies] = [0, 0];
  await fc.assert(fc.asyncProperty(body, checkText), runs(1500, 100_000));
  assert.ok(readBodies > 300 && refusedBodies > 300, `${readBodies} read, ${refusedBodies} refused`);
});

/** Other bytes in some places: of JSON, of UTF-8, and of nothing. */
const edits = fc.array(
  fc.record({
    at: fc.nat(),
    taken: fc.nat(3),
    put: fc.oneof(
      fc.constantFrom(...'0123456789"{}[],:.-+eE x\\tn\n', "null", "true", '"value"', "1e400", "\ufeff"),
      fc.string({ maxLength: 3 }),
      fc.constantFrom("\u00ff", "\u00c3", "\u0000", "\u00ed\u00a0\u0080", "\u00c3\u00a6"),
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

test("a random body with a few bytes changed means what JSON.parse finds", async () => {
  await fc.assert(
    fc.asyncProperty(body, edits, (text, all) => check(edited(text, all))),
    runs(1500, 100_000),
  );
});

/** All points of a body spelled alike, as programs do, with names, times and values of all lengths. */
const spelledAlike = fc
  .record({
    gaps: fc.tuple(blank, blank, blank, blank),
    series: fc.array(
      fc.record({
        name: fc.oneof(
          fc.nat(20).map((n) => `scan${n}`),
          fc.string(),
        ),
        points: fc.array(
          fc.tuple(
            fc.oneof(fc.integer({ min: 1_780_272_000_000, max: 1_780_272_100_000 }).map(String), time),
            number,
          ),
          { minLength: 1, maxLength: 3 },
        ),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ gaps: [a, b, c, d], series }) => {
    const point = ([time, value]: [string, string]) =>
      `{${a}"timestamp":${b}${time},${c}"value":${value}${d}}`;
    const items = series.map(({ name, points }) => {
      const all = points.map(point).join(`,${c}`);
      return `{${a}"name":${b}${JSON.stringify(name)},${c}"datapoints":${b}[${all}]${d}}`;
    });
    return `{"items":[${items.join(`,${c}`)}]}`;
  });

test("series that are spelled alike, but for a few bytes, mean what JSON.parse finds", async () => {
  await fc.assert(
    fc.asyncProperty(spelledAlike, fc.option(edits), (text, all) => check(edited(text, all ?? []))),
    runs(1500, 100_000),
  );
});

/** Rows as clients write them, all alike, which a scanner may come to count on; then some that are not. */
const layouts: readonly ((time: string, value: string) => string)[] = [
  (time, value) => `{"timestamp":${time},"value":${value}}`,
  (time, value) => `{"value":${value},"timestamp":${time}}`,
  (time, value) => `{"timestamp": ${time}, "value": ${value}}`,
  (time, value) => `{ "timestamp" : ${time} ,\n "value" : ${value} }`,
  (time, value) => `{"timestamp":${time},"value":${value},"timestamp":${time}}`,
  (time, value) => `{"timestamp":${time},"value":${value},"status":0}`,
  (time, value) => `{"timestamp":${time},"value":"${value}"}`,
  (time, value) => `{"timestamp":${time}.0,"value":${value}e0}`,
  (time, value) => `{"timestamp":${time},"valu\\u0065":${value}}`,
  (time, value) => `{"timestamp":${time},"value":${value}},{}`,
  (time, value) => `{"timestamp":0${time},"value":${value}}`,
  (time, value) => `{"timestamp":${time},"value":${value}},`,
  (time) => `{"timestamp":${time}}`,
  () => "",
];
const rows = fc
  .record({
    start: fc.constantFrom(
      -11,
      0,
      8,
      98,
      998,
      99_999_990,
      999_999_999,
      1_599_999_999_997,
      1_600_000_000_000,
      9_999_999_998,
    ),
    step: fc.constantFrom(0, 1, 1, 7, 1000, 60_000, -1, -1000),
    count: fc.integer({ min: 1, max: 40 }),
    layout: fc.nat(5),
    decimals: fc.nat(9),
    others: fc.array(fc.tuple(fc.nat(40), fc.nat(layouts.length - 1)), { maxLength: 2 }),
    names: fc.nat(3),
  })
  .map(({ start, step, count, layout, decimals, others, names }) => {
    const written = Array.from({ length: count }, (_, i) => {
      const other = others.find(([at]) => at === i)?.[1];
      return layouts[other ?? layout]!(`${start + i * step}`, ((start + i * 3.7) / 7).toFixed(decimals));
    });
    if (names === 0) return `{"items":[${written.join(",")}]}`;
    const all = written.map((row, i) => `{"name":"series.${i % names}","datapoints":[${row}]}`);
    return `{"items":[${all.join(",")}]}`;
  });

test("rows that are nearly alike mean what JSON.parse finds", async () => {
  await fc.assert(fc.asyncProperty(rows, checkText), runs(1500, 100_000));
});

test("bodies of every size up to the most points, and one more", async () => {
  const most = limits.pointsPerWriteMax;
  for (const count of isLong ? [16_383, 16_384, 16_385, most, most + 1] : [16_385, most + 1]) {
    const row = (_: unknown, i: number) => ({ timestamp: 1.6e12 + i, value: i % 3 === 0 ? i : i / 8 });
    const all = Array.from({ length: count }, row);
    await checkText(JSON.stringify({ items: all }));
    await checkText(
      JSON.stringify({ items: all.map((one, i) => ({ name: `${i % 1000}`, datapoints: [one] })) }),
    );
    await checkText(
      JSON.stringify({
        items: [{ name: "a", datapoints: all.map((one) => ({ ...one, value: `${one.value}` })) }],
      }),
    );
    await checkText(
      JSON.stringify({ items: [...all.slice(0, -1), { timestamp: 1, value: "a text at the end" }] }),
    );
  }
  for (const length of [0, 1, limits.stringValueLengthMax, limits.stringValueLengthMax + 1])
    for (const letter of ["x", "\u00f8", "\u4e2d"])
      await checkText(`{"items":[{"timestamp":1,"value":"${letter.repeat(length)}"}]}`);
  const deep = 5000;
  await checkText(`{"x":${"[".repeat(deep)}${"]".repeat(deep)},"items":[${point}]}`);
  await checkText(`{"items":[${point}],"x":${'{"a":'.repeat(deep)}1${"}".repeat(deep)}}`);
});

/** The members of a refusal beside its name, where the body is JSON. */
async function wordsOf(body: string, key?: string): Promise<unknown> {
  try {
    await decodeInsert(ctx, Buffer.from(body), { key });
    return undefined;
  } catch (refusal) {
    return { ...(refusal as Failure), message: (refusal as Failure).message };
  }
}

test("a refusal has the same words whichever way a body was read", async () => {
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom("x", undefined), async (text, key) => {
      if (plainInsert(Buffer.from(text), key) === "body-not-json") return;
      // An escape in a member's name is nothing a scanner would read by itself.
      assert.deepEqual(
        await wordsOf(text, key),
        await wordsOf(text.replace('"items"', '"item\\u0073"'), key),
      );
    }),
    runs(1500, 100_000),
  );
});

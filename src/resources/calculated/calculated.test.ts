// The expression language: results compared with a naive evaluator, and messages about mistakes.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Failure } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { evaluate } from "./evaluate.ts";
import { parseFunction } from "./expression.ts";

/** An expression and an equal function of the leaves `a`, `b` and `c` of one row. */
interface Said {
  readonly text: string;
  readonly of: (row: readonly number[]) => number;
  /** The leaves it names. */
  readonly names: readonly number[];
}

const leafNames = ["a", "b", "c"];

const leaf = fc
  .integer({ min: 0, max: 2 })
  .map((index): Said => ({ text: `[${leafNames[index]}]`, of: (row) => row[index]!, names: [index] }));
const constant = fc
  .oneof(
    fc.integer({ min: 0, max: 100 }),
    fc.double({ min: 0, max: 1e6, noNaN: true, noDefaultInfinity: true }),
  )
  .map((value): Said => ({ text: `${value}`, of: () => value, names: [] }));

type Pure = (...given: readonly number[]) => number;

/** The result of each function, inner ones too, is a number or none. */
const joined = (parts: readonly Said[], text: (strings: readonly string[]) => string, of: Pure): Said => ({
  text: text(parts.map((part) => part.text)),
  of: (row) => {
    const value = of(...parts.map((part) => part.of(row)));
    return Number.isFinite(value) ? value : Number.NaN;
  },
  names: parts.flatMap((part) => part.names),
});

const operators: readonly [string, Pure][] = [
  ["+", (a, b) => a! + b!],
  ["-", (a, b) => a! - b!],
  ["*", (a, b) => a! * b!],
  ["/", (a, b) => a! / b!],
  ["%", (a, b) => a! % b!],
];
const comparisons: readonly [string, (a: number, b: number) => boolean][] = [
  ["=", (a, b) => a === b],
  ["<>", (a, b) => a !== b],
  ["!=", (a, b) => a !== b],
  ["<", (a, b) => a < b],
  ["<=", (a, b) => a <= b],
  [">", (a, b) => a > b],
  [">=", (a, b) => a >= b],
];
const ofOne: readonly [string, Pure][] = [
  ["abs", Math.abs as Pure],
  ["ceil", Math.ceil as Pure],
  ["COS", Math.cos as Pure],
  ["exp", Math.exp as Pure],
  ["Floor", Math.floor as Pure],
  ["ln", Math.log as Pure],
  ["log", Math.log10 as Pure],
  ["sign", Math.sign as Pure],
  ["sin", Math.sin as Pure],
  ["sqrt", Math.sqrt as Pure],
];
const ofTwo: readonly [string, Pure][] = [
  ["mod", (a, b) => a! % b!],
  ["pow", (a, b) => a! ** b!],
  ["power", (a, b) => a! ** b!],
  ["max", Math.max],
  ["min", Math.min],
  ["avg", (a, b) => (a! + b!) / 2],
  ["sum", (a, b) => a! + b!],
];

const { said } = fc.letrec<{ said: Said }>((tie) => {
  const inner = tie("said");
  const call = (functions: readonly [string, Pure][], count: number) =>
    fc
      .tuple(fc.constantFrom(...functions), fc.array(inner, { minLength: count, maxLength: count }))
      .map(([[name, of], parts]) => joined(parts, (strings) => `${name}(${strings.join(" ,")} )`, of));
  return {
    said: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      constant,
      fc
        .tuple(fc.constantFrom(...operators), inner, inner)
        .map(([[sign, of], a, b]) => joined([a, b], ([x, y]) => `(${x}${sign} ${y})`, of)),
      inner.map((one) =>
        joined(
          [one],
          ([x]) => `(-(${x}))`,
          (a) => -a!,
        ),
      ),
      fc.tuple(fc.constantFrom(...comparisons), inner, inner, inner, inner).map(([[sign, of], ...parts]) =>
        joined(
          parts,
          ([a, b, x, y]) => `Case When ${a} ${sign} ${b} then ${x} ELSE ${y} end`,
          (a, b, x, y) => {
            // A comparison with no number is unknown, as in SQL.
            const isUnknown = Number.isNaN(a) || Number.isNaN(b);
            return !isUnknown && of(a!, b!) ? x! : y!;
          },
        ),
      ),
      call(ofOne, 1),
      call(ofTwo, 2),
    ),
  };
});

const cell = fc.oneof(fc.double({ min: -1e3, max: 1e3, noNaN: true }), fc.constantFrom(0, 1, Number.NaN));
const rows = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 20 });

test("random functions mean what a plain evaluator says, row by row", () => {
  fc.assert(
    fc.property(said, rows, (one, table) => {
      fc.pre(one.names.length > 0);
      const { expression, leaves } = parseFunction(one.text, "function");
      assert.deepEqual(
        [...leaves].map(({ name }) => name),
        [...new Set(one.names)].map((i) => leafNames[i]),
      );
      const columns = [...leaves].map((leaf) => {
        const index = leafNames.indexOf(leaf.name);
        return [leaf, Float64Array.from(table, (row) => row[index]!)] as const;
      });
      const found = evaluate(expression, new Map(columns), table.length);
      for (const [i, row] of table.entries()) {
        const isWhole = one.names.every((index) => !Number.isNaN(row[index]));
        const expected = isWhole ? one.of(row) : Number.NaN;
        assert.equal(found[i]! + 0, Number.isFinite(expected) ? expected + 0 : Number.NaN, one.text);
      }
    }),
    { numRuns: 500 },
  );
});

test("a division by zero within an expression leaves no result", () => {
  for (const text of ["1/(1/([a]-10))", "1/ln([a]-10)", "log([a], [a]-10)", "min(1, 1/([a]-10))"])
    assert.equal(resultOf(text), Number.NaN, text);
});

/** The value of a function of no more than the leaf `a`, which is 10. */
function resultOf(text: string): number {
  const { expression, leaves } = parseFunction(`0*[a]+${text}`, "function");
  return evaluate(expression, new Map([...leaves].map((one) => [one, Float64Array.of(10)])), 1)[0]!;
}

test("signs bind as in arithmetic, from left to right", () => {
  const cases: [text: string, value: number][] = [
    ["1+2*3", 7],
    ["(1+2)*3", 9],
    ["10-2-3", 5],
    ["24/4/2", 3],
    ["-2*-3", 6],
    ["- - 2", 2],
    ["+2 - -2", 4],
    ["([a] - 32) * 5/9", -110 / 9],
    ["max(max([a],5),12) + min(1, 2, 3)", 13],
    ["2*PI()", 2 * Math.PI],
    ["pi", Math.PI],
    ["round(2.5) + round(-2.5)", 0],
    ["round(1.255, 1) * 10", 13],
    ["log(8, 2)", 3],
    ["LOG(1000)", 3],
    [".5e1", 5],
    ["avg(1, 2, 6)", 3],
    ["17 % 5 * 2", 4],
    ["[a] / -2 * -1", 5],
    ["[a] / (-[a])", -1],
    ["CASE WHEN [a] > 5 THEN 1 ELSE 2 END", 1],
    ["case when [a] < 5 then 1 when [a] = 10 then 3 else 2 end * 2", 6],
    ["CASE [a] WHEN 9 THEN 1 WHEN 10 THEN 2 END", 2],
    ["CASE WHEN NOT [a] = 10 OR [a] >= 10 AND [a] <> 3 THEN 1 ELSE 0 END", 1],
    ["CASE WHEN ([a] = 10 OR [a] = 3) AND NOT ([a] + 1) != 11 THEN 1 ELSE 0 END", 1],
    ["CASE WHEN sqrt(-1) > 0 THEN 1 WHEN NOT sqrt(-1) > 0 THEN 2 ELSE 3 END", 3],
    ["CASE WHEN [a] > 5 OR sqrt(-1) > 0 THEN 1 END", 1],
    ["CASE WHEN 1/([a]-10) > 0 THEN 1 WHEN NOT 1/([a]-10) > 0 THEN 2 ELSE 3 END", 3],
  ];
  for (const [text, value] of cases)
    assert.ok(Math.abs(resultOf(text) - value) < 1e-12, `${text}: ${resultOf(text)}`);
});

test("where no condition holds and there is no ELSE, there is no value", () => {
  assert.equal(resultOf("CASE WHEN [a] > 10 THEN 1 END"), Number.NaN);
  assert.equal(resultOf("CASE WHEN [a] > 10 AND sqrt(-1) > 0 THEN 1 END"), Number.NaN);
});

/** The message of the refusal. */
function refused(text: string): string {
  try {
    parseFunction(text, "f");
  } catch (problem) {
    assert.ok(problem instanceof Failure, `${text}: ${problem}`);
    return problem.message;
  }
  return "not refused";
}

const signedOperand = "brackets around the sign and its operand, as in [a] / (-[b]),";
const asNumber = "a number, as of CASE WHEN [a] > 5 THEN 1 ELSE 0 END,";
const start = "a number, a series such as [123], a function or (";

test("a fault is told with its place, what was expected and what came", () => {
  const cases: [text: string, expected: string, at: number, got: string][] = [
    ["1+1", "a series in square brackets, as in [123] or [alias]", 1, "none"],
    ["", start, 1, "the end"],
    ["[12] + ", start, 8, "the end"],
    ["[12] + [[X]]", "a number, a series such as [123], a function, an operator or a bracket", 8, "["],
    ["[12] / - * [a]", signedOperand, 8, "-"],
    ["[12] / - [a]", signedOperand, 8, "-"],
    ["[12] % +[a]", signedOperand, 8, "+"],
    ["CASE [a] THEN 1 END", "WHEN", 10, "THEN"],
    ["CASE WHEN [a] > 1 THEN 1 ELSE 2", "END", 32, "the end"],
    ["CASE WHEN [a] THEN 1 END", "a condition, as in [a] > 5,", 1, "a number"],
    ["[a] AND 1", "a condition, as in [a] > 5,", 5, "a number"],
    ["[a] > 1", asNumber, 1, "a condition"],
    ["1 + ([a] > 1)", asNumber, 3, "a condition"],
    ["abs([a] > 1)", asNumber, 1, "a condition"],
    ["[a] < 1 < 2", "an operator or the end", 9, "<"],
    ["[12] [13]", "an operator or the end", 6, "[13]"],
    ["([12] + 1", ")", 10, "the end"],
    ["[12])", "an operator or the end", 5, ")"],
    ["[12] ^ 2", "a number, a series such as [123], a function, an operator or a bracket", 6, "^"],
    ["power([12])", "2 arguments of power", 1, "1"],
    ["abs([12], 1)", "1 arguments of abs", 1, "2"],
    ["log([12], 1, 2)", "1 to 2 arguments of log", 1, "3"],
    ["1 + avg([a] + [b])", "avg of one series, as in avg([a]) + avg([b]),", 5, "a combined expression"],
    ["max(3 * [a])", "max of one series, as in avg([a]) + avg([b]),", 1, "a combined expression"],
  ];
  for (const [text, expected, at, got] of cases)
    assert.equal(refused(text), `Invalid field - f - expected ${expected} at character ${at} but got ${got}`);
  assert.match(refused("tan([12])"), /expected one of abs, avg, .*, sum at character 1 but got tan$/);
  assert.match(refused("case([12], 1, 2)"), /expected \) at character 10 but got ,/);
  assert.match(refused("and([12], 1)"), /expected one of abs/);
  assert.match(refused("negate([12])"), /expected one of abs/);
  assert.match(refused("toString([12])"), /expected one of abs/);
});

test("what is too long, too deep or names too much is refused", () => {
  const { functionLengthMax, functionDepthMax, functionLeavesMax } = limits;
  assert.match(refused(`[a]${" ".repeat(functionLengthMax)}`), /at most 4096 characters but got 4099/);
  assert.match(
    refused(`${"(".repeat(functionDepthMax + 1)}[a]`),
    /at most 64 levels at character 66 but got more/,
  );
  assert.match(refused(`${"-".repeat(functionDepthMax + 1)}[a]`), /at most 64 levels/);
  assert.match(refused(`${"abs(".repeat(functionDepthMax + 1)}[a]`), /at most 64 levels/);
  const many = Array.from({ length: functionLeavesMax + 1 }, (_, i) => `[${i}]`).join("+");
  assert.match(refused(many), /at most 100 items but holds 101/);
  // As deep to the left as a text can go: evaluated without running out of stack.
  const long = `[a]${"+1".repeat((functionLengthMax - 3) / 2)}`;
  const { expression, leaves } = parseFunction(long, "f");
  const columns = new Map([...leaves].map((one) => [one, Float64Array.of(0)]));
  assert.equal(evaluate(expression, columns, 1)[0], Math.floor((functionLengthMax - 3) / 2));
});

test("no text does anything but parse or be refused", () => {
  const piece = fc.constantFrom(
    "[a]",
    "[",
    "]",
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "/",
    "<=",
    " case ",
    " when ",
    " then ",
    " end ",
    " not ",
    "1",
    ".",
    "e",
    "max",
    " ",
    "\0",
    "é",
  );
  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.array(piece, { maxLength: 30 }).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(text, (one) => {
      try {
        assert.ok(parseFunction(one, "f").leaves.size > 0);
      } catch (problem) {
        assert.ok(problem instanceof Failure, `${JSON.stringify(one)}: ${problem}`);
      }
    }),
    { numRuns: 5_000 },
  );
});

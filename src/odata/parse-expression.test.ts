// The grammar of expressions: the meaning of each string, the refused ones with their position, and
// robustness.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Failure } from "../errors.ts";
import { limits } from "../limits.ts";
import type { FilterExpression } from "./expression.ts";
import { type Aliases, parseExpression } from "./parse-expression.ts";

/** An expression in one line: `or(and(A,B),C)`. */
function shown(one: FilterExpression): string {
  const call = (name: string, parts: readonly FilterExpression[]) => `${name}(${parts.map(shown).join(",")})`;
  switch (one.kind) {
    case "literal":
      return typeof one.value === "string" ? `"${one.value}"` : String(one.value);
    case "path":
      return one.names.join("/");
    case "call":
      return call(one.name, one.parts);
    case "not":
    case "negate":
      return call(one.kind, [one.part]);
    case "binary":
      return call(one.operator, [one.left, one.right]);
    case "in":
      return `in(${shown(one.left)},[${one.items.map(shown).join(",")}])`;
    case "lambda": {
      const body = one.body ? `,${one.variable},${shown(one.body)}` : "";
      return `${one.quantifier}(${shown(one.path)}${body})`;
    }
    default:
      return `<${one.feature}>`;
  }
}

const read = (text: string, aliases: Aliases = new Map()) => shown(parseExpression(text, aliases));

const meanings: readonly [text: string, meaning: string][] = [
  ["A and B or C", "or(and(A,B),C)"],
  ["A or B and C", "or(A,and(B,C))"],
  ["A or B and C or D", "or(or(A,and(B,C)),D)"],
  ["not A and B", "and(not(A),B)"],
  ["not contains(N,'x') and P eq 1", 'and(not(contains(N,"x")),eq(P,1))'],
  ["not (A or B)", "not(or(A,B))"],
  ["not(A)", "not(A)"],
  ["not Name in ('a')", 'not(in(Name,["a"]))'],
  ["(A or B) and C", "and(or(A,B),C)"],
  ["1 add 2 mul 3 eq 7", "eq(add(1,mul(2,3)),7)"],
  ["6 sub 3 sub 1 eq 2", "eq(sub(sub(6,3),1),2)"],
  ["N eq 'O''Neil'", `eq(N,"O'Neil")`],
  ["N eq ''''", `eq(N,"'")`],
  ["contains(N,'a,b)(c')", 'contains(N,"a,b)(c")'],
  ["Id in ('1', '2')", 'in(Id,["1","2"])'],
  ["Id in ()", "in(Id,[])"],
  ["AssetIds/any(a:a eq '1' or a eq '2')", 'any(AssetIds,a,or(eq(a,"1"),eq(a,"2")))'],
  ["AssetIds/any()", "any(AssetIds)"],
  ["MetaData/k eq 'v'", 'eq(MetaData/k,"v")'],
  ["T ge 2024-01-01T00:00:00+02:00", `ge(T,${Date.UTC(2023, 11, 31, 22)})`],
  ["T ge 2024-01-01t00:00z", `ge(T,${Date.UTC(2024, 0, 1)})`],
  ["T lt 2024-02-29", `lt(T,${Date.UTC(2024, 1, 29)})`],
  ["T eq 0001-01-01T00:00:00.123456789012Z", "eq(T,-62135596799877)"],
  ["V gt -3.5e10", "gt(V,-35000000000)"],
  ["V eq -INF or V eq NaN or V eq INF", "or(or(eq(V,-Infinity),eq(V,NaN)),eq(V,Infinity))"],
  ["V eq 9007199254740993", "eq(V,9007199254740993)"],
  ["D eq duration'P1DT2H3M4.5S'", "eq(D,93784500)"],
  ["G eq 01234567-89AB-CDEF-0123-456789abcdef", 'eq(G,"01234567-89ab-cdef-0123-456789abcdef")'],
  ["IsString", "IsString"],
  ["IsString eq FALSE AND not IsStep", "and(eq(IsString,false),not(IsStep))"],
  ["Name  eq  'a'", 'eq(Name,"a")'],
  ["nullable eq null", "eq(nullable,null)"],
  ["Ärger_1 eq true", "eq(Ärger_1,true)"],
  ["-V lt 3", "lt(negate(V),3)"],
  ["style has Sales.Pattern'Yellow'", "has(style,<The literal Sales.Pattern'Yellow'>)"],
  ["$it/Name eq 'a'", 'eq(<$it>,"a")'],
  ["Sales.Pump/Name eq 'a'", 'eq(<The type Sales.Pump>,"a")'],
  ["Products/$count gt 0", "gt(<The path segment $count>,0)"],
  ["Name in [\"a\",'b']", "in(Name,[<A list in brackets>])"],
];

test("each text has its one meaning: precedence, quotes, times, numbers", () => {
  for (const [text, meaning] of meanings) assert.equal(read(text), meaning, text);
});

test("a parameter alias stands for its expression, and for null without one", () => {
  const aliases = new Map([
    ["@p", "'pump''s'"],
    ["@q", "Name eq @p"],
  ]);
  assert.equal(read("contains(N,@p) and @q", aliases), `and(contains(N,"pump's"),eq(Name,"pump's"))`);
  assert.equal(read("N eq @none", aliases), "eq(N,null)");
});

function refusalOf(text: string, aliases: Aliases = new Map()): Failure {
  try {
    parseExpression(text, aliases);
  } catch (problem) {
    assert.ok(problem instanceof Failure, `${text}: ${(problem as Error).stack}`);
    return problem;
  }
  return assert.fail(`${text} is accepted`);
}

const wrong: readonly [text: string, at: number][] = [
  ["Nameeq'a'", 0],
  ["Name eq", 7],
  ["Name eq 'a", 8],
  ["(A", 2],
  ["A)", 1],
  ["A B", 2],
  ["any(x)", 0],
  ["Products/all()", 13],
  ['Name eq "a"', 8],
  ["Source eq 'SAP's'", 15],
  ["foo(Name) eq 1", 0],
  ["contains(Name)", 0],
  ["now(1) lt 3", 0],
  ["A in (B,C)", 5],
  ["A eq ('a','b')", 9],
  ["", 0],
  ["A eq 2024-02-30", 5],
  ["A eq 2024-01-01T25:00:00Z", 5],
  ["A eq '2' and", 12],
  ["A;B", 1],
  ["$foo eq 1", 0],
];

test("what is no expression is refused with the place of the fault", () => {
  for (const [text, at] of wrong) {
    const { failure, status, details } = refusalOf(text);
    assert.equal(`${failure} ${status}`, "filter-syntax 400", text);
    assert.equal((details as { at: number }).at, at, text);
  }
});

test("length, parts and depth have limits, and just below them all is well", () => {
  const nested = (levels: number) => `${"(".repeat(levels)}A${")".repeat(levels)}`;
  assert.equal(read(nested(limits.odataExpressionDepthMax)), "A");
  const deep = refusalOf(nested(limits.odataExpressionDepthMax + 1));
  assert.equal(deep.message, "The expression has more levels of nesting than 100");
  const parts = (count: number) => Array(count).fill("A").join(" or ");
  assert.ok(read(parts(250)));
  assert.equal(refusalOf(parts(251)).message, "The expression has more parts than 500");
  assert.equal(
    refusalOf(`A eq '${"x".repeat(8192)}'`).message,
    "The expression has more characters than 8192",
  );
  const circle = new Map([["@a", "(@a)"]]);
  assert.match(refusalOf("@a", circle).message, /^The expression has more levels/);
  const bomb = new Map([
    ["@a", "@b or @b or @b or @b or @b or @b or @b"],
    ["@b", "@c or @c or @c or @c or @c or @c or @c"],
    ["@c", "@d or @d or @d or @d or @d or @d or @d"],
    ["@d", "A or A"],
  ]);
  assert.equal(refusalOf("@a", bomb).message, "The expression has more parts than 500");
});

const words =
  "A|Name|MetaData/k|AssetIds/any(a:|AssetIds/all(|eq|ne|and|or|not|in|has|add|(|)|,|'a'|''|'|1|-2.5e3|" +
  'null|true|2024-01-01|2024-01-01T00:00:00Z|contains(|startswith(|@p|$it|$count|[|]|{|}|:|/|"x"|-|+';
const word = fc.constantFrom(...words.split("|"));
const someText = fc.oneof(
  fc.array(word, { maxLength: 40 }).map((words) => words.join(" ")),
  fc.array(word, { maxLength: 40 }).map((words) => words.join("")),
  fc.string({ unit: "binary", maxLength: 60 }),
);

test("whatever is sent, it is read or refused, and at once", () => {
  fc.assert(
    fc.property(someText, someText, (text, alias) => {
      try {
        parseExpression(text, new Map<string, string>([["@p", alias]]));
      } catch (problem) {
        assert.ok(problem instanceof Failure, String(problem));
        assert.equal(problem.status, 400);
      }
    }),
    { numRuns: 3000 },
  );
});

test("strings that would force repeated parsing are refused at once", () => {
  for (const piece of ["'", "a.", "(a", "1-", "A/", "-", "not "])
    refusalOf(piece.repeat(8191 / piece.length));
});

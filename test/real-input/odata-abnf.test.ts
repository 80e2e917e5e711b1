// The test cases of the OData grammar by OASIS, sent to a real server: the cases that concern reads.
//
// The cases use their own model. Entities here are open, so that its properties may occur in
// filters and selections as they are; the names of its sets and navigations are replaced by ours. What the
// grammar permits is served, or refused as not supported (501); what it forbids is refused. These are 394 of
// the 840 cases; the others are about headers, context addresses, values in bodies, shapes on maps, and
// paths of their model.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { type AskOData, odataOf } from "../support/odata.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { dataPath, withData } from "./shared-data.ts";

const file = "odata-abnf/odata-abnf-testcases.yaml";

interface Case {
  readonly Rule: string;
  readonly Input: string;
  /** Where the fault is, of a case that the grammar forbids. */
  readonly FailAt?: number;
}

const ours: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\b(Items|Products)\b/g, "Children"],
  [/\b(Customer|Product|Category|Manager)\b/g, "Parent"],
  [/\bSales\b/g, "Subtree"],
];

const renamed = (text: string) => ours.reduce((sum, [pattern, name]) => sum.replaceAll(pattern, name), text);

const filter = (text: string) => `Timeseries?$top=0&$filter=${text}`;
/** A literal may have any letter, also such as end an option. */
const value = (text: string) => filter(`Some eq ${text.replaceAll("&", "%26")}`);
const withOptions = (options: string) =>
  /(expand|levels)=/.test(options) ? `Assets?${renamed(options)}` : `Timeseries?${options}`;
const isCondition = / (in|eq) |\/(any|all)\(/;

/** The request for a case of each rule. */
const requests: Readonly<Record<string, (text: string) => string>> = {
  filter: (text) => `Timeseries?$top=0&${text}`,
  select: (text) => `Timeseries?$top=0&${text}`,
  expand: (text) => `Assets?$top=0&${renamed(text)}`,
  queryOptions: (text) => withOptions(/top=/.test(text) ? text : `$top=0&${text}`),
  systemQueryOption: (text) => withOptions(/top=/.test(text) ? text : `$top=0&${text}`),
  boolCommonExpr: filter,
  boolcommonExpr: filter,
  notExpr: filter,
  anyExpr: (text) => filter(`Products/${text}`),
  commonExpr: (text) => filter(isCondition.test(text) ? text : `(${text}) eq null`),
  ...Object.fromEntries(
    [
      "string",
      "dateTimeOffset",
      "duration",
      "decimal",
      "double",
      "single",
      "sbyte",
      "int16",
      "int32",
      "int64",
    ]
      .map((name) => [`${name}Literal`, value])
      .concat([
        ["primitiveLiteral", value],
        ["null", value],
        ["dateTimeOffsetValueInUrl", value],
      ]),
  ),
};

/** Paths whose first name is that of a set, with a text for a key or none, or a name of the protocol. */
const isOurPath = (text: string) =>
  /^(Customers|Categories|Products|People)((\(|%28)('|%27)[^/]*(\)|%29))?(\/\$\w+)*(\?.*)?$/.test(text) ||
  /^\$(all|crossjoin|entity|metadata)/.test(text);

/** Some name no entity that is there; a set is read, but not without a filter. */
const pathAnswers = { allowed: [200, 404, 501], forbidden: [400, 404, 501] };

/** Deviations from the grammar, with reasons. */
const otherwise: Readonly<Record<string, readonly [status: number, why: string]>> = {
  "$filter= true": [200, "blanks around an expression are taken"],
  "$expand=Category($levels=4),Category($levels=max)": [400, "the grammar cannot say that names occur once"],
  "$expand=Manager($search=a%3Bb)": [400, "options are decoded before they are cut at their semicolons"],
  "$format=json&$Format=atom&$format=xml&$format=text/html": [400, "the protocol has every option once"],
  "$format=JSON&$format=Atom&$format=XML&$format=text/html": [400, "the protocol has every option once"],
  "$format=text/html": [406, "the format is not served"],
  "duration'P6DT23H59M59.9999S'": [400, "no property here is a duration"],
};

const withOurSet = (text: string) =>
  renamed(text.replace(/^(Customers|Categories|Products|People)/, "Assets"));

let server: TestServer;
let ask: AskOData;
let cases: readonly Case[];

const needed = withData(file);
before(async () => {
  if (needed.skip !== false) return;
  server = await startTestServer();
  ask = odataOf(server);
  cases = (parse(readFileSync(dataPath(file), "utf8")) as { TestCases: Case[] }).TestCases;
});
after(() => server?.close());

test("the grammar's cases are served if permitted, and refused if forbidden", needed, async () => {
  const selected = cases.filter(({ Rule }) => Rule in requests);
  const counts = { allowed: 0, forbidden: 0 };
  for (const { Rule, Input, FailAt } of selected) {
    const { status, text } = await ask(requests[Rule]!(Input));
    const said = `${Rule} ${Input} answered ${status} ${text.slice(0, 300)}`;
    const [other] = otherwise[Input] ?? [];
    if (other !== undefined) assert.equal(status, other, said);
    else if (FailAt === undefined) assert.ok(status === 200 || status === 501, said);
    else assert.ok(status === 400 || status === 501, said);
    counts[FailAt === undefined ? "allowed" : "forbidden"]++;
  }
  assert.deepEqual(counts, { allowed: 330, forbidden: 22 });
});

test(
  "the grammar's paths that can be said with our sets lead somewhere, nowhere, or are not served",
  needed,
  async () => {
    const selected = cases.filter(
      ({ Rule, Input }) => /^(odataRelativeUri|resourcePath)$/.test(Rule) && isOurPath(Input),
    );
    const counts = { allowed: 0, forbidden: 0 };
    for (const { Input, FailAt } of selected) {
      const kind = FailAt === undefined ? "allowed" : "forbidden";
      const { status, reason, text } = await ask(withOurSet(Input));
      const isRead = reason === "FilterRequired";
      assert.ok(isRead || pathAnswers[kind].includes(status), `${Input} answered ${status} ${text}`);
      counts[kind]++;
    }
    assert.deepEqual(counts, { allowed: 39, forbidden: 3 });
  },
);

// Each code rule finds the lines that break it, and no others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictFindings, findingsIn } from "./findings.ts";
import { docsTermFindings } from "./plain-terms.ts";
import { sourcesOf } from "./source.ts";
import { wrapComments } from "./wrap.ts";

const opening = "// Owns one thing.\n";

/** Imports the exports of the examples. */
const user = { "test/user.ts": `${opening}use(a, any, described);\n` };

/** The problems in files whose opening sentence is added here; line 1 is that sentence. */
function problemsIn(files: Readonly<Record<string, string>>): string[] {
  const whole = Object.entries(files).map(([path, text]) => [path, opening + text]);
  const found = findingsIn(sourcesOf({ ...Object.fromEntries(whole), ...user }));
  return found.map(({ path, line, problem }) => `${path}:${line} ${problem}`);
}

const onlyProblem = (path: string, text: string): string => {
  const found = problemsIn({ [path]: text });
  assert.equal(found.length, 1, found.join("\n"));
  return found[0] ?? "";
};

test("a file in order has no findings", () => {
  const text = `import { b } from "./b.ts";\nexport const a = (one: number, two: number) => one + two + b;\n`;
  assert.deepEqual(problemsIn({ "src/lib/a.ts": text, "src/lib/b.ts": "export const b = 1;\n" }), []);
});

test("a file starts with a sentence", () => {
  const found = findingsIn(sourcesOf({ "src/lib/a.ts": "const a = 1;\n" }));
  assert.deepEqual(found, [
    { path: "src/lib/a.ts", line: 1, problem: "a file starts with a sentence on what it owns" },
  ]);
  assert.deepEqual(findingsIn(sourcesOf({ "src/a.ts": `#!/usr/bin/env node\n${opening}export {};\n` })), []);
});

test("lines, functions and files have bounds", () => {
  assert.match(onlyProblem("src/lib/a.ts", `// ${"x".repeat(110)}.\n`), /a\.ts:2 114 columns, at most 110/);
  const body = "  use();\n".repeat(59);
  assert.match(
    onlyProblem("src/lib/a.ts", `function a() {\n${body}}\na();\n`),
    /a\.ts:2 a function of 61 lines/,
  );
  assert.deepEqual(problemsIn({ "src/lib/a.ts": `function a() {\n${body.slice(9)}}\na();\n` }), []);
  assert.deepEqual(problemsIn({ "src/lib/a.test.ts": `describe("a", () => {\n${body}});\n` }), []);
  const file = "use();\n".repeat(400);
  assert.match(onlyProblem("src/lib/a.ts", file), /a\.ts:401 401 lines, at most 400/);
  assert.deepEqual(problemsIn({ "src/storage/embedded-points/a.ts": file, "src/lib/a.test.ts": file }), []);
});

test("at most four positional parameters", () => {
  const five =
    "export const a = (b: number, c: number, d: number, e: number, f: number) => b + c + d + e + f;\n";
  assert.match(onlyProblem("src/lib/a.ts", five), /5 positional parameters, at most 4/);
});

test("a port has at most ten methods, a resource at most ten files", () => {
  const methods = Array.from({ length: 11 }, (_, index) => `  m${index}(): void;\n`).join("");
  const port = `export interface Port {\n${methods}}\n`;
  assert.match(onlyProblem("src/storage/blobs.ts", port), /a port of 11 methods, at most 10/);
  const files = Array.from({ length: 11 }, (_, index) => [`src/resources/raw/f${index}.ts`, "export {};\n"]);
  const tests = { "src/resources/raw/f.test.ts": "export {};\n" };
  const found = problemsIn({ ...Object.fromEntries(files), ...tests });
  assert.deepEqual(found, ["src/resources/raw/f0.ts:1 the resource raw has 11 files, at most 10"]);
  const parted = files.map(([path, text], index) => [index ? path : "src/resources/raw/part/f.ts", text]);
  assert.deepEqual(problemsIn(Object.fromEntries(parted)), []);
});

test("no default export, re-export, any or enum", () => {
  assert.match(onlyProblem("src/lib/a.ts", "export default 1;\n"), /a default export/);
  assert.match(onlyProblem("src/lib/a.ts", "export default function a() {}\n"), /a default export/);
  assert.match(onlyProblem("src/lib/a.ts", 'export * from "./b.ts";\na();\n'), /a re-export of a whole file/);
  assert.match(onlyProblem("src/lib/a.ts", 'export { b } from "./b.ts";\n'), /a barrel/);
  assert.deepEqual(problemsIn({ "src/lib/a.ts": 'export { b } from "./b.ts";\na();\n' }), []);
  assert.match(onlyProblem("src/lib/a.ts", "export const a = 1 as any;\n"), /a\.ts:2 `any`/);
  assert.match(onlyProblem("src/lib/a.ts", "enum A { B }\nexport const a = A.B;\n"), /an enum/);
  assert.deepEqual(problemsIn({ "src/lib/a.ts": 'export const any = "any enum";\n' }), []);
});

test("no loose ends and no code in comments", () => {
  assert.match(onlyProblem("src/lib/a.ts", `// ${"TO" + "DO"}: later.\n`), /a loose end/);
  assert.match(onlyProblem("src/lib/a.ts", "// const a = 1;\n"), /code in a comment/);
  assert.match(onlyProblem("src/lib/a.ts", "  // if (a) {\n"), /code in a comment/);
  assert.deepEqual(problemsIn({ "src/lib/a.ts": "// If it fails, return early; import nothing.\n" }), []);
});

test("comments and messages use plain terms", () => {
  const found = onlyProblem("src/odata/a.ts", "/** What the caller asked. */\nuse(1);\n");
  assert.equal(found, 'src/odata/a.ts:2 "asked"; write requests, requested');
  assert.match(
    onlyProblem("src/odata/a.ts", `use(1); ${"//"} Begins anew.\n`),
    /a\.ts:2 "anew"; write again/,
  );
  assert.match(
    onlyProblem("src/odata/a.ts", 'use("takes texts alone");\n'),
    /a\.ts:2 "texts"; write strings/,
  );
  const names = "// Calls `asked` behind a proxy.\nuse(asked, 'texts');\n";
  assert.deepEqual(
    problemsIn({ "src/odata/a.ts": names, "src/odata/a.test.ts": "use(f, 'two texts');\n" }),
    [],
  );
  assert.match(onlyProblem("test/a.test.ts", 'test("asks twice", f);\n'), /a\.test\.ts:2 "asks"/);
  assert.match(onlyProblem("bench/a.ts", "// The answer.\n"), /a\.ts:2 "answer"/);
});

test("docs use plain terms, code aside", () => {
  const page = "Answers are `asked` for.\n\n```\nhouse\n```\n";
  assert.deepEqual(docsTermFindings("docs/reference/raw.md", page), [
    { path: "docs/reference/raw.md", line: 1, problem: '"Answers"; write returns; response, result' },
  ]);
});

test("merge conflicts have no markers left, comments and docs included", () => {
  const marker = `${"<".repeat(7)} HEAD`;
  assert.match(onlyProblem("src/lib/a.ts", `// ${marker}\n`), /a\.ts:2 a conflict marker/);
  const page = `One.\n${">".repeat(7)} branch\n`;
  assert.deepEqual(conflictFindings({ path: "docs/reference/raw.md", text: page }), [
    { path: "docs/reference/raw.md", line: 2, problem: "a conflict marker" },
  ]);
  assert.deepEqual(problemsIn({ "src/lib/a.ts": "// One << 7 and <<<<<< six.\n" }), []);
});

test("an exported type has a name of its own", () => {
  const files = { "src/lib/a.ts": "export interface Thing {}\n", "src/lib/b.ts": "export class Thing {}\n" };
  const user =
    'import type { Thing } from "../lib/a.ts";\nexport type { Thing as Other } from "../lib/b.ts";\n';
  const found = problemsIn({ ...files, "src/odata/c.ts": `${user}use<Thing>();\n` });
  assert.deepEqual(found, [
    "src/lib/b.ts:2 src/lib/a.ts exports a type Thing too; give each a name of its own",
  ]);
  const local = { ...files, "src/lib/b.ts": "interface Thing {}\nuse<Thing>();\n" };
  assert.deepEqual(problemsIn({ ...local, "src/odata/c.ts": `${user.split("\n")[0]}\nuse<Thing>();\n` }), []);
});

test("arrows run downwards", () => {
  const cases: readonly (readonly [from: string, to: string, allowed: boolean])[] = [
    ["src/app.ts", "src/resources/assets/assets.rest.ts", true],
    ["src/app.ts", "src/storage/sql/catalog.ts", true],
    ["src/http/rest-routes.ts", "src/rest/route.ts", true],
    ["src/rest/route.ts", "src/http/body.ts", false],
    ["src/access/api-keys.ts", "src/rest/route.ts", false],
    ["src/http/server.ts", "src/storage/sql/catalog.ts", false],
    ["src/http/server.ts", "src/resources/assets/assets.ts", false],
    ["src/resources/assets/assets.rest.ts", "src/rest/route.ts", true],
    ["src/resources/assets/assets.ts", "src/rest/route.ts", false],
    ["src/resources/assets/assets.rest.ts", "src/odata/grammar.ts", false],
    ["src/resources/assets/assets.ts", "src/storage/catalog.ts", true],
    ["src/resources/assets/assets.rest.ts", "src/storage/catalog.ts", false],
    ["src/resources/assets/assets.ts", "src/storage/sql/catalog.ts", false],
    ["src/resources/assets/assets.ts", "src/http/server.ts", false],
    ["src/resources/timeseries/timeseries.ts", "src/resources/assets/assets.ts", true],
    ["src/resources/assets/assets.ts", "src/resources/timeseries/timeseries.ts", false],
    ["src/resources/assets/assets.ts", "src/resources/unheard/unheard.ts", false],
    ["src/resources/assets/assets.archive.ts", "src/archive/records.ts", true],
    ["src/resources/events/events.import.ts", "src/resources/assets/assets.import.ts", true],
    ["src/resources/assets/assets.import.ts", "src/resources/events/events.import.ts", false],
    ["src/resources/assets/assets.archive.ts", "src/resources/assets/schema.ts", false],
    ["src/resources/assets/assets.archive.ts", "src/storage/catalog.ts", false],
    ["src/resources/assets/assets.ts", "src/resources/assets/assets.archive.ts", false],
    ["src/resources/assets/assets.ts", "src/archive/records.ts", false],
    ["src/archive/restore.ts", "src/transfers.ts", false],
    ["src/command-line/import.ts", "src/resources/assets/assets.import.ts", true],
    ["src/storage/sql/catalog.ts", "src/storage/catalog.ts", true],
    ["src/storage/sql/catalog.ts", "src/storage/sql/sqlite/dialect.ts", true],
    ["src/storage/sql/catalog.ts", "src/storage/embedded-points/head.ts", false],
    ["src/storage/sql/catalog.ts", "src/access/caller.ts", false],
    ["src/storage/sql/catalog.ts", "src/context.ts", false],
    ["src/storage/sql/catalog.ts", "src/storage/conformance/catalog.ts", false],
    ["src/storage/catalog.ts", "src/storage/sql/catalog.ts", false],
    ["src/query/filter.ts", "src/storage/sql/catalog.ts", false],
    ["src/lib/time.ts", "src/errors.ts", false],
    ["src/lib/time.ts", "src/lib/time.test.ts", false],
    ["src/lib/time.ts", "test/support/server.ts", false],
    ["src/lib/time.test.ts", "test/support/server.ts", true],
  ];
  for (const [from, to, allowed] of cases) {
    const up = "../".repeat(from.split("/").length - 1);
    const found = problemsIn({ [from]: `import { a } from "${up}${to}";\na();\n` });
    assert.equal(found.length === 0, allowed, `${from} imports ${to}: ${found.join()}`);
  }
});

test("files that import each other are a cycle, also through others and for types alone", () => {
  const importing = (name: string) => `import type { A } from "./${name}.ts";\nexport type B = A;\n`;
  const found = problemsIn({
    "src/lib/a.ts": importing("b"),
    "src/lib/b.ts": importing("c"),
    "src/lib/c.ts": importing("a"),
    "src/lib/d.ts": importing("a"),
  }).filter((problem) => problem.includes("cycle"));
  assert.deepEqual(found.length, 1);
  assert.match(found[0]!, /src\/lib\/a.ts -> src\/lib\/b.ts -> src\/lib\/c.ts -> src\/lib\/a.ts/);
});

test("types of a port are free where its values are not", () => {
  const text = 'import type { Page } from "../../storage/catalog.ts";\nexport type A = Page;\n';
  assert.deepEqual(problemsIn({ "src/resources/assets/assets.rest.ts": text }), []);
});

test("names of the wire format stay in dialect files", () => {
  const text = "export const a = { tagId: 1 };\n";
  assert.match(onlyProblem("src/resources/assets/assets.ts", text), /tagId is a name of the wire format/);
  assert.match(
    onlyProblem("src/query/a.ts", 'export const a = "$filter";\n'),
    /\$filter is a name of the wire format/,
  );
  assert.deepEqual(problemsIn({ "src/resources/assets/assets.rest.ts": text, "src/rest/a.ts": text }), []);
});

test("a dialect file calls its resource module and not a store", () => {
  const text = "export const a = (ctx: C) => ctx.points.stats();\n";
  assert.match(onlyProblem("src/resources/assets/assets.rest.ts", text), /not ctx\.points/);
  assert.deepEqual(problemsIn({ "src/resources/assets/assets.ts": text }), []);
});

test("JSON has one reader", () => {
  const text = 'export const a = JSON.parse("1");\n';
  assert.match(onlyProblem("src/rest/a.ts", text), /a\.ts:2 JSON\.parse; use parseJson/);
  assert.deepEqual(
    problemsIn({ "src/lib/json.ts": text, "src/lib/b.test.ts": text, "bench/c.ts": text }),
    [],
  );
});

test("modules have no state", () => {
  const state = [
    "let a = 1;",
    "var a = 1;",
    "export let a = 1;",
    "const a = new Map<string, number>();",
    "const a = new Set([1]);",
    "const a = new WeakMap<object, string>();",
    "const a = new LruCache<string, string>(9);",
    "const a = new Float64Array(9);",
    'const a: string[] = [];\nconst add = () => a.push("b");',
    "const a = { count: 0 };\nconst add = () => a.count++;",
    "const a = { b: [0] };\nconst add = () => {\n  a.b[0] = 1;\n};",
    'const a: Record<string, number> = {};\nconst drop = () => delete a["b"];',
    "class A {\n  static count = 0;\n}",
  ];
  for (const text of state)
    assert.match(onlyProblem("src/lib/a.ts", `${text}\n`), /of its module|a static property/, text);
  const constants = [
    "const a = [1, 2] as const;",
    "const a: ReadonlyMap<string, number> = new Map([]);",
    "const a: ReadonlySet<number> = new Set([1]);",
    "const a = /b/y;\nconst at = () => (a.lastIndex = 1);",
    "const a = new Float64Array(0);",
    "const a = Float64Array.from({ length: 9 }, Math.sqrt);",
    "const a = [1];\nconst copy = (a: number[]) => a.push(1);",
    "const add = () => {\n  const a = [];\n  a.push(1);\n};",
    "class A {\n  static readonly count = 0;\n  #list = [];\n  add = () => this.#list.push(1);\n}",
  ];
  for (const text of constants) assert.deepEqual(problemsIn({ "src/lib/a.ts": `${text}\n` }), [], text);
  assert.deepEqual(problemsIn({ "bench/a.ts": "let a = 1;\n", "src/lib/a.test.ts": "let a = 1;\n" }), []);
});

test("no test is left out without a reason", () => {
  for (const line of [
    "it.only(name, f);",
    "test.skip(name, f);",
    "test(name, { skip: true }, f);",
    "t.skip();",
  ])
    assert.match(onlyProblem("src/lib/a.test.ts", `${line}\n`), /leaves out tests/);
  const reasons = 'test(name, needs("chromium"), f);\nt.skip("not as root");\n';
  assert.deepEqual(problemsIn({ "src/lib/a.test.ts": reasons }), []);
});

test("every export is imported", () => {
  const alone = { "src/lib/a.ts": "export const lone = 1;\nlone();\n", "src/lib/b.ts": "// lone\n" };
  assert.deepEqual(problemsIn(alone), ["src/lib/a.ts:2 no file imports lone; do not export it"]);
  assert.deepEqual(problemsIn({ ...alone, "src/lib/b.ts": 'import { lone } from "./a.ts";\nlone();\n' }), []);
});

test("every limit bounds something and is declared once", () => {
  const limits = "export const oneLimits = {\n  oneMax: limit(1),\n  twoMax: limit(2),\n};\n";
  const again = "export const twoLimits = {\n  oneMax: limit(3),\n};\n";
  const user = "export const a = limits.oneMax + oneLimits + twoLimits;\n";
  const found = problemsIn({ "src/limits/a.ts": limits, "src/limits/b.ts": again, "src/lib/a.ts": user });
  assert.deepEqual(found, [
    "src/limits/a.ts:4 the limit twoMax bounds nothing",
    "src/limits/b.ts:3 the limit oneMax is declared twice",
  ]);
});

test("long comments are wrapped by paragraph, and code is left alone", () => {
  const long = Array.from({ length: 24 }, () => "words").join(" ");
  const half = Array.from({ length: 17 }, () => "words").join(" ");
  assert.equal(
    wrapComments(`// ${long}\n// end.\n// - item\ncode();`),
    [`// ${half} words`, "// words words words words words words end.", "// - item", "code();"].join("\n"),
  );
  assert.equal(
    wrapComments(`  /** ${long} */`),
    ["  /**", `   * ${half}`, "   * words words words words words words words", "   */"].join("\n"),
  );
  const code = `const a = "${"x".repeat(120)}"; // ${long}`;
  assert.equal(wrapComments(code), code);
  const short = "// One.\n// Two.";
  assert.equal(wrapComments(short), short);
});

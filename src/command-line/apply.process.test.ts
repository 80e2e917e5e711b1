// `millrace apply` as people run it, with the files of docs/apply.md, against a server of its own.
import assert from "node:assert/strict";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";

const key = "mr_the-key-of-this-test";
const folder = temporaryFolder();
let baseUrl = "";
before(async () => {
  ({ baseUrl } = await serveMillrace({ MILLRACE_ADMIN_KEY: key }, folder));
});
after(endLeftProcesses);

const page = readFileSync(new URL("../../docs/apply.md", import.meta.url), "utf8");
/** The files of the page, by name. */
const files = new Map(
  [...page.matchAll(/```(?:yaml|sql)\n(?:#|--) (plant\/\S+)\n([^`]*)```/g)].map(([, name, text]) => [
    name!,
    text!,
  ]),
);
assert.equal(files.size, 4);

function writeAll(root: string, all: Iterable<readonly [string, string]>): void {
  for (const [name, text] of all) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

async function apply(words: readonly string[], within = folder, environment: Record<string, string> = {}) {
  const all = ["apply", ...words, "--server", baseUrl];
  const { status, output, errors } = await runMillrace(all, { MILLRACE_KEY: key, ...environment }, within)
    .ended;
  assert.equal(errors, "");
  return { status, lines: output.trimEnd().split("\n") };
}

async function ask(method: string, path: string, body?: object) {
  const response = await fetch(`${baseUrl}/api/0.6/projects/default${path}`, {
    ...{ method, headers: { "api-key": key } },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, await response.clone().text());
  return ((await response.json()) as { data: { items: Readonly<Record<string, unknown>>[] } }).data?.items;
}

/** All files below a folder, by name. */
const read = (root: string) =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [file.slice(root.length + 1), readFileSync(file, "utf8")]),
  );

test("the files of the page are applied once, then change nothing", async () => {
  writeAll(folder, files);
  const created = [
    '+ series "pump 1 flow"  (series.yaml:2)',
    '+ series "pump 1 state"  (series.yaml:3)',
    '+ groups "operators"  (rights.yaml:2)',
    '+ transformations "pumps"  (transformations/pumps.yaml:2)',
    "4 to create, 0 unchanged",
  ];
  const dry = await apply(["plant", "--dry-run"]);
  assert.deepEqual([dry.status, dry.lines.slice(1)], [3, created]);
  assert.deepEqual(await ask("GET", "/transformations"), []);
  const first = await apply(["plant"]);
  assert.deepEqual([first.status, first.lines.slice(1)], [0, [...created, "Applied."]]);
  const [transformation] = (await ask("GET", "/transformations"))!;
  assert.equal(transformation!["query"], files.get("plant/transformations/pumps.sql"));
  for (const words of [["plant"], ["plant", "--dry-run"]]) {
    const again = await apply(words);
    assert.deepEqual([again.status, again.lines.slice(1)], [0, ["4 unchanged"]]);
  }
});

test("a change shows old and new, and --prune what it deletes", async () => {
  const sql = files.get("plant/transformations/pumps.sql")!;
  writeFileSync(join(folder, "plant/transformations/pumps.sql"), `${sql}WHERE title IS NOT NULL\n`);
  writeFileSync(join(folder, "plant/series.yaml"), files.get("plant/series.yaml")!.replace("m3/h", "l/s"));
  writeFileSync(join(folder, "plant/rights.yaml"), "groups: []\n");
  const changed = [
    '~ series "pump 1 flow"  (series.yaml:2)',
    '    unit: "m3/h" -> "l/s"',
    '~ transformations "pumps"  (transformations/pumps.yaml:2)',
    "    query:",
    "      @ line 2",
    "      + WHERE title IS NOT NULL",
  ];
  const dry = await apply(["plant", "--dry-run", "--prune", "groups"]);
  assert.deepEqual(dry.lines.slice(1), [
    ...changed.slice(0, 2),
    '- groups "operators"',
    ...changed.slice(2),
    "2 to change, 1 to delete, 1 unchanged",
  ]);
  const kept = await apply(["plant"]);
  assert.deepEqual(kept.lines.slice(1), [...changed, "2 to change, 1 unchanged", "Applied."]);
  const names = async () => (await ask("GET", "/groups?all=true"))!.map(({ name }) => name);
  assert.ok((await names()).includes("operators"));
  assert.equal((await apply(["plant", "--prune", "groups"])).status, 0);
  assert.ok(!(await names()).includes("operators"));
  assert.deepEqual((await apply(["plant", "--prune", "series"])).lines, [
    '--prune must be one of groups, modelSchedules, transformations, not "series"',
  ]);
});

test("links to files are followed, and a folder without records prunes nothing", async () => {
  writeAll(join(folder, "elsewhere"), [["groups.yaml", "groups:\n  - { name: linked, capabilities: [] }\n"]]);
  mkdirSync(join(folder, "links"));
  symlinkSync("../elsewhere/groups.yaml", join(folder, "links/groups.yaml"));
  const applied = await apply(["links", "--prune", "groups"]);
  assert.deepEqual(applied.lines.slice(-1), ["Applied."]);
  const again = await apply(["links", "--prune", "groups"]);
  assert.deepEqual([again.status, again.lines.slice(1)], [0, ["1 unchanged"]]);
  symlinkSync("../elsewhere", join(folder, "links/more"));
  const refused = await apply(["links"]);
  assert.deepEqual(
    [refused.status, refused.lines],
    [2, ["links cannot be read: more is a link, but not to a file"]],
  );
  mkdirSync(join(folder, "empty"));
  const all = await apply(["empty", "--prune", "groups"]);
  assert.equal(all.status, 2);
  assert.match(all.lines[0]!, /^--prune groups: no file of empty has records of this kind/);
  assert.ok((await ask("GET", "/groups?all=true"))!.some(({ name }) => name === "linked"));
  writeAll(join(folder, "empty"), [["groups.yaml", "groups: []\n"]]);
  assert.equal((await apply(["empty", "--prune", "groups"])).status, 0);
  assert.ok(!(await ask("GET", "/groups?all=true"))!.some(({ name }) => name === "linked"));
});

test("Ctrl-C before the differences are known applies nothing, and says so", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  const asked = once(silent, "connection");
  await once(silent, "listening");
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const run = runMillrace(["apply", "plant", "--server", server], { MILLRACE_KEY: key }, folder);
  const [socket] = (await asked) as [Socket];
  run.child.kill("SIGINT");
  const { status, output } = await run.ended;
  assert.deepEqual([status, output], [1, "Interrupted: nothing was applied.\n"]);
  socket.destroy();
  silent.close();
});

test("an export is the same twice, and applying it changes nothing, whatever the names", async () => {
  const names = [
    "Tree",
    "tree",
    "../up",
    "con",
    "a b",
    "é\n",
    ".hidden",
    "x".repeat(255),
    "- ? : # | >",
    "null",
  ];
  const item = (name: string, query: string) => ({
    ...{ externalId: name, name, query, destination: { type: "events" }, action: "upsert" },
  });
  const queries = ["SELECT 1", " SELECT '\r\n\t\u0085\u2028'\n\n", "SELECT '😀' -- x\r\n"];
  const items = names.map((name, at) => item(name, queries[at % queries.length]!));
  await ask("POST", "/transformations", { items });
  const hostile = [
    "yes",
    "0x10",
    "1e3",
    "2020-01-01",
    " blank ",
    "tab\t",
    "\u0085",
    "{a: b}",
    "&a *b !c",
    "'\"",
    "~",
  ];
  await ask("POST", "/timeseries", {
    items: hostile.map((name) => ({
      name,
      description: `${name}\n${name}\n`,
      metadata: { [name]: name, "": "" },
    })),
  });
  const capabilities = [{ assetsAcl: { actions: ["READ"], scope: { assetIdScope: { subtreeIds: ["1"] } } } }];
  await ask("POST", "/groups", { items: [{ name: "b: c", source: "s", sourceId: "1", capabilities }] });
  const [one, two] = [join(folder, "one"), join(folder, "two")];
  for (const at of ["one", "two", "one"]) {
    const { status, lines } = await apply([at, "--from-server"]);
    assert.equal(status, 0, lines.join("\n"));
    assert.ok(lines.some((line) => line.startsWith("models are left out: ")));
  }
  assert.deepEqual(read(one), read(two));
  assert.ok(!existsSync(join(folder, "up.yaml")));
  const again = await apply(["one"]);
  assert.deepEqual([again.status, again.lines.slice(1)], [0, ["25 unchanged"]]);
  const before = read(one);
  writeFileSync(join(folder, "plant/other.yml"), "");
  rmSync(join(folder, "plant/rights.yaml"));
  const others = await apply(["plant", "--from-server"]);
  assert.equal(others.status, 2);
  assert.match(others.lines.at(-1)!, /files that this export does not write: other\.yml\. /);
  assert.deepEqual(read(one), before);
});

test("files that are not valid are refused with file, line and key, and nothing is sent", async () => {
  const good = "groups:\n  - name: a\n    capabilities: []\n";
  const destination = "    destination: { type: events }\n    action: upsert\n";
  const one = `transformations:\n  - externalId: t\n    name: t\n${destination}`;
  const cases: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ "a.yaml": "groups: [\n" }, "a.yaml:2: "],
    [{ "a.yaml": "grups: []\n" }, 'a.yaml:1: unknown key "grups"; known are series, groups, '],
    [
      { "a.yaml": "groups: []\n---\nseries: []\n" },
      "a.yaml:2: a file is one YAML document: use a file for each",
    ],
    [{ "a.yaml": "# x\ngroups: 5\n" }, "a.yaml:2: groups must be a list of records"],
    [{ "a.yaml": `${good}    members: []\n` }, 'a.yaml:4: unknown key "members"'],
    [{ "a.yaml": "series:\n  - name: a\n    unit: 5\n" }, "a.yaml:3: unit must be string, not number"],
    [{ "a.yaml": "series:\n  - unit: bar\n" }, 'a.yaml:2: the key "name" is missing'],
    [{ "a.yaml": good, "b/c.yml": good }, 'b/c.yml:2: groups "a" is in a.yaml:2 already'],
    [{ "a.yaml": one }, 'a.yaml:2: the key "query" is missing'],
    [{ "a.yaml": `${one}    sql: none.sql\n` }, "a.yaml:6: none.sql cannot be read: ENOENT"],
    [{ "a.yaml": `${one}    sql: ../secret.sql\n` }, "a.yaml:6: sql must be a .sql file in the folder"],
    [{ "a.yaml": `${one}    sql: t.sql\n    query: x\n`, "t.sql": "x" }, "a.yaml:6: sql and query are given"],
    [{ "a.yaml": `${one}    query: x\n    schedule:\n      everyMinutes: 5\n      at: 3\n` }, "a.yaml:7: "],
    [
      { "a.yaml": `${one.replace("events }", "events, databse: x }")}    query: x\n` },
      'a.yaml:4: unknown key "destination.databse"',
    ],
    [{ "connectors/a.yaml": "version: 1\nname: a\nsource: { type: mqt }\n" }, "source.type must be one of"],
    [{ "notes.txt": "" }, "bad has no YAML files with records"],
  ];
  for (const [all, expected] of cases) {
    rmSync(join(folder, "bad"), { recursive: true, force: true });
    writeAll(join(folder, "bad"), Object.entries(all));
    const { status, lines } = await apply(["bad"]);
    assert.equal(status, 2, `${expected}: ${lines.join("\n")}`);
    assert.ok(lines[0]!.includes(expected), `${expected} is not in ${lines.join("\n")}`);
  }
});

test("what the server refuses is named by file and line, and nothing is applied", async () => {
  const text = "transformations:\n  - externalId: t\n    name: t\n    destination: { type: series }\n";
  writeAll(join(folder, "refused"), [
    ["a.yaml", "groups:\n  - { name: before, capabilities: [] }\n"],
    ["b.yaml", `\n${text}    action: delete\n    query: SELECT 1\n`],
  ]);
  const { status, lines } = await apply(["refused"]);
  assert.equal(status, 1);
  assert.deepEqual(lines.slice(1), [
    'b.yaml:3: transformations "t": Invalid field - action - ' +
      'expected create, update, upsert for series but got "delete"',
    "Nothing was applied.",
  ]);
  assert.ok(!(await ask("GET", "/groups?all=true"))!.some(({ name }) => name === "before"));
  const wrong = await apply(["refused"], folder, { MILLRACE_KEY: "wrong" });
  assert.equal(wrong.status, 1);
});

test("files of connectors are checked, and the state that they have reported is shown", async () => {
  const file = (name: string) =>
    `version: 1\nname: ${name}\nsource:\n  type: mqtt\n  url: $\{BROKER}\n  read:\n` +
    '    - { topic: "plant/+", format: value, series: "{2}" }\n' +
    `destination:\n  server: $\{SERVER}\n  key: $\{KEY_OF_THE_CONNECTOR}\n`;
  writeAll(join(folder, "edge/connectors"), [
    ["a.yaml", file("boiler")],
    ["b.yaml", file("mill")],
  ]);
  const report = {
    ...{ name: "boiler", source: "mqtt", instance: "a", version: "1", startedTime: 0, status: "STOPPED" },
    counts: { received: 0, written: 0, refused: 0, dropped: 0 },
    buffer: { points: 0, bytes: 0 },
  };
  await ask("POST", "/connectors/report", { items: [report] });
  const { status, lines } = await apply(["edge"]);
  assert.deepEqual(
    [status, ...lines.slice(1)],
    [
      0,
      '  connector "boiler": STOPPED',
      '  connector "mill": has not reported to this project',
      "0 unchanged",
    ],
  );
  writeFileSync(join(folder, "edge/connectors/b.yaml"), `${file("mill")}retries: 5\n`);
  const refused = await apply(["edge"]);
  assert.equal(refused.status, 2);
  assert.match(refused.lines[0]!, /connectors\/b.yaml: the file has unknown keys: retries/);
});

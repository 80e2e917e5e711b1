// A project is exported and restored under another name: every record, point and character is equal.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Fault, type Passed, withFaults } from "../../test/support/faulty-proxy.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { type AskProject, askerOf } from "../../test/support/sample-part.ts";
import { fillProject, readProject } from "../../test/support/samples.ts";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { storedBlobs } from "../../test/support/stored-blobs.ts";
import { exitCodes, type Surroundings } from "../client/command.ts";
import { limits } from "../limits.ts";
import { everything } from "../query/filter.ts";
import { ensureProject } from "../resources/projects/projects.ts";
import { routes, tables } from "../resources.ts";
import type { Table } from "../storage/catalog.ts";
import { archiveParts } from "../transfers.ts";
import { exportArchive } from "./export.ts";
import { importArchive } from "./restore.ts";
import { ArchiveWriter } from "./writer.ts";

const seed = Math.floor(Math.random() * 2 ** 31);
const folder = temporaryFolder();
const archive = join(folder, "plant.tar.zst");
let server: TestServer;
let original: Readonly<Record<string, unknown>>;

before(async () => {
  console.log(`seed ${seed}`);
  server = await startTestServer();
  const ask = askerOf(server);
  await fillProject(ask, seed);
  original = await readProject(ask);
  const { code, said } = await exported(archive);
  assert.equal(code, exitCodes.loaded, said);
});
after(() => server.close());

const never = new AbortController().signal;
type Command = (words: readonly string[], surroundings: Surroundings) => Promise<number>;

async function run(command: Command, words: readonly string[], key: string) {
  const said: string[] = [];
  const output = { write: (text: string) => said.push(text) };
  const code = await command(words, { env: { MILLRACE_KEY: key }, output, stop: never, abort: never });
  return { code, said: said.join("") };
}

const exported = (file: string, address = server.baseUrl) =>
  run(exportArchive(archiveParts), ["--output", file, "--server", address], server.key);

const restored = (file: string, { project, key }: Copy, address = server.baseUrl) =>
  run(importArchive(archiveParts), [file, "--project", project, "--server", address], key);

interface Copy {
  readonly project: string;
  readonly key: string;
  readonly ask: AskProject;
}

/** A new and empty project of the same server. */
async function emptyProject(urlName: string): Promise<Copy> {
  const { project } = await ensureProject(server.app.services, urlName);
  const { key } = await server.app.services.keys.create(project, "test");
  return { project: urlName, key, ask: askerOf({ baseUrl: server.baseUrl, project: urlName, key }) };
}

async function assertSame(copy: Copy): Promise<void> {
  const found = await readProject(copy.ask);
  for (const [name, expected] of Object.entries(original)) assert.deepEqual(found[name], expected, name);
}

/** The lists that an archive holds, of records with members of their own. */
const listed = archiveParts
  .flatMap(({ lists }) => lists)
  .flatMap((list) => (list === "raw" ? ["/raw", "/raw/{database}"] : [`/${list}`]));

/** Members that a restored record begins without. */
const notRestored = /^\/(transformations (marks|lastRun\.\w+)|retentionrules lastRun\.\w+)$/;

test("every member that a list can show is in the project that is exported", async () => {
  const ask = askerOf(server);
  for (const path of listed) {
    const list = routes.find((route) => route.method === "GET" && route.path === path)!;
    const { schema } = list.response("0.6") as { readonly schema: Shape };
    const members = membersIn(schema.properties!["data"]!.properties!["items"]!);
    const address = path.replace("{database}", encodeURIComponent("a/b ü"));
    const { items } = await ask(`GET ${address}?limit=1000&includeMetadata=true`);
    const expected = members.filter((member) => !notRestored.test(`${path} ${member}`));
    const missing = expected.filter((member) => !isShown(items, member.split(".")));
    assert.deepEqual(missing, [], `${path}: fillProject fills these members as well`);
  }
});

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

/** `columns.name` is a member of the objects of a list. */
const membersIn = ({ properties = {}, items }: Shape): string[] => [
  ...(items ? membersIn(items) : []),
  ...Object.entries(properties).flatMap(([name, shape]) => {
    const inner = membersIn(shape).map((member) => `${name}.${member}`);
    return inner.length > 0 ? inner : [name];
  }),
];

function isShown(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (Array.isArray(value) && name !== undefined) return value.some((one) => isShown(one, [name, ...rest]));
  if (name !== undefined) return isShown((value as Readonly<Record<string, unknown>> | null)?.[name], rest);
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return value !== undefined && value !== null && value !== "" && !isEmpty;
}

test("a restored project is the same, to the last record, point, byte and letter", async () => {
  const copy = await emptyProject("copy ü");
  const { code, said } = await restored(archive, copy);
  assert.equal(code, exitCodes.loaded, said);
  await assertSame(copy);
  assert.deepEqual(readdirSync(folder), ["plant.tar.zst"]);
});

test("each archived table has as many records in the restored project, and some", async () => {
  const { catalog } = server.app.services;
  const [from, to] = await Promise.all([server.project, "copy ü"].map(projectIdOf));
  const archived = archiveParts.flatMap((part) => part.tables).filter((name) => name !== "projects");
  for (const name of archived) {
    const table = tables.find((one) => one.name === name) as Table<object>;
    const [there, here] = await Promise.all(
      [from!, to!].map((projectId) => catalog.read(projectId, (tx) => tx.count(table, everything))),
    );
    assert.ok(there! > 0, `fillProject makes no records of ${name}`);
    assert.equal(here, there, name);
  }
});

const projectIdOf = async (urlName: string) => (await ensureProject(server.app.services, urlName)).project.id;

test("an archive in gzip restores as well", async () => {
  const file = join(folder, "plant.tar.gz");
  assert.equal((await exported(file)).code, exitCodes.loaded);
  const copy = await emptyProject("gzip");
  assert.equal((await restored(file, copy)).code, exitCodes.loaded);
  await assertSame(copy);
});

test("an import that breaks off again and again ends with nothing twice and nothing missing", async () => {
  const copy = await emptyProject("broken");
  let runs = 0;
  for (let code = -1; code !== exitCodes.loaded; runs++) {
    let writes = 0;
    const allowed = 2 + 6 * runs;
    // The response to one write is lost, and then the server refuses everything.
    const faultOf = ({ method, path }: Passed): Fault => {
      if (method === "GET" || path.endsWith("/byids")) return undefined;
      writes += 1;
      if (writes < allowed) return undefined;
      return writes === allowed ? "lose" : 400;
    };
    const ended = await withFaults(server.baseUrl, faultOf, (address) => restored(archive, copy, address));
    ({ code } = ended);
    assert.ok(code === exitCodes.interrupted || code === exitCodes.loaded, ended.said);
    assert.ok(runs < 40, ended.said);
  }
  assert.ok(runs > 2);
  await assertSame(copy);
});

test("lost responses do not stop the import, and create nothing twice", async () => {
  const copy = await emptyProject("lossy");
  let writes = 0;
  const faultOf = ({ method }: Passed): Fault =>
    method === "POST" && ++writes % 5 === 0 ? "lose" : undefined;
  const { code, said } = await withFaults(server.baseUrl, faultOf, (address) =>
    restored(archive, copy, address),
  );
  assert.equal(code, exitCodes.loaded, said);
  await assertSame(copy);
});

test("an export that breaks off leaves no file", async () => {
  const file = join(folder, "half.tar.zst");
  let requests = 0;
  const faultOf = (): Fault => (++requests > 20 ? 400 : undefined);
  const { code, said } = await withFaults(server.baseUrl, faultOf, (address) => exported(file, address));
  assert.equal(code, exitCodes.interrupted, said);
  assert.match(said, /was answered 400: faulty\nNo file was made\.\n$/);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("half")),
    [],
  );
});

test("what is damaged, cut short or no archive is refused before anything is written", async () => {
  const whole = readFileSync(archive);
  const flipped = Buffer.from(whole);
  flipped[Math.floor(whole.length / 2)]! ^= 1;
  const copy = await emptyProject("untouched");
  const cases: readonly (readonly [Buffer, RegExp])[] = [
    [flipped, /is damaged/],
    [whole.subarray(0, whole.length - 2000), /damaged or cut short/],
    [Buffer.from("timestamp,a\n0,1\n"), /damaged or cut short|is not an archive/],
    [Buffer.alloc(0), /damaged or cut short|is not an archive/],
  ];
  for (const [bytes, text] of cases) {
    const file = join(folder, "bad.tar.zst");
    writeFileSync(file, bytes);
    const { code, said } = await restored(file, copy);
    assert.equal(code, exitCodes.notBegun, said);
    assert.match(said, text);
    assert.deepEqual((await copy.ask("GET /assets")).items, []);
    assert.ok(!existsSync(`${file}.untouched.import.db`));
  }
});

test("what cannot begin says why", async () => {
  const here = { project: server.project, key: server.key, ask: askerOf(server) };
  const other = await emptyProject("other");
  const cases: readonly (readonly [() => ReturnType<typeof run>, RegExp])[] = [
    [() => restored(archive, here), /The project demo already holds securitycategories/],
    [
      () => restored(archive, { ...other, project: "elsewhere" }),
      /The key is for the project other, not for elsewhere/,
    ],
    [() => restored(join(folder, "none"), other), /There is no file/],
    [() => restored(archive, { ...other, key: "wrong" }), /401|does not know this API key/],
    [() => run(importArchive(archiveParts), [archive], server.key), /Name the project to fill/],
    [() => run(importArchive(archiveParts), [archive, "--colour"], server.key), /Unknown option/],
    [() => exported(archive), /exists already/],
    [() => exported(join(folder, "none", "a.tar.zst")), /There is no folder .*none; make it/],
    [() => run(exportArchive(archiveParts), [], server.key), /Name the file to make/],
  ];
  for (const [begin, text] of cases) {
    const { code, said } = await begin();
    assert.equal(code, exitCodes.notBegun, said);
    assert.match(said, text);
  }
});

test("an archive with an unknown section is refused before anything is written", async () => {
  const file = join(folder, "newer.tar.zst");
  const sections = [
    ...archiveParts.flatMap((part) => part.sections),
    { kind: "info", name: "sounds" } as const,
  ];
  const writer = new ArchiveWriter(file, "demo", sections);
  await writer.begin();
  await writer.add("sounds", Buffer.from("{}\n"), 1);
  await writer.finish();
  const copy = await emptyProject("newer");
  const { code, said } = await restored(file, copy);
  assert.equal(code, exitCodes.notBegun, said);
  assert.match(said, /The archive has the section sounds, which this program does not know/);
  assert.ok(!existsSync(`${file}.newer.import.db`));
});

test("an archive with a line or an entry without an end is refused by its place", async () => {
  const endless = Buffer.alloc(limits.importLineBytesMax + 1, "x");
  const first = '{"id":1,"name":"first","createdTime":1,"lastUpdatedTime":1}\n';
  const cases = [
    ["assets", Buffer.concat([Buffer.from(first), endless]), /line 2 is longer than 16777216/],
    ["assets", Buffer.from(`${first}{no JSON\n`), /Line 2 of the entry assets\/000001\.jsonl is damaged/],
    [
      "datapoints",
      Buffer.alloc(limits.bodyBytesMax + 1),
      /datapoints\/000001\.pb has \d+ bytes; .* at most \d+/,
    ],
  ] as const;
  for (const [index, [section, bytes, text]] of cases.entries()) {
    const file = join(folder, `endless ${index}.tar.zst`);
    const writer = new ArchiveWriter(
      file,
      "demo",
      archiveParts.flatMap(({ sections }) => sections),
    );
    await writer.begin();
    await writer.add(section, bytes, 1);
    await writer.finish();
    const copy = await emptyProject(`endless-${index}`);
    const { code, said } = await restored(file, copy);
    assert.equal(code, exitCodes.interrupted, said);
    assert.match(said, text);
    assert.ok(said.length < 1_000);
    assert.deepEqual((await copy.ask("GET /assets")).items, []);
  }
});

test("a time series stays hidden if the archive lacks its security category", async () => {
  const from = await emptyProject("deleted-category");
  const [category] = (await from.ask("POST /securitycategories", { items: [{ name: "secret" }] })).items;
  const securityCategories = [category!["id"]];
  await from.ask("POST /timeseries", { items: [{ name: "recipe", securityCategories }, { name: "flow" }] });
  await from.ask("POST /securitycategories/delete", { items: securityCategories });
  const file = join(folder, "category.tar.zst");
  const words = ["--output", file, "--server", server.baseUrl];
  assert.equal((await run(exportArchive(archiveParts), words, from.key)).code, exitCodes.loaded);
  const to = await emptyProject("restored-category");
  // The response to the new category is lost, and the import breaks off before the series.
  const faultOf = ({ method, path }: Passed): Fault => {
    if (method === "POST" && path.endsWith("/securitycategories")) return "lose";
    return method === "POST" && path.endsWith("/timeseries") ? 400 : undefined;
  };
  const broken = await withFaults(server.baseUrl, faultOf, (address) => restored(file, to, address));
  assert.equal(broken.code, exitCodes.interrupted, broken.said);
  const { code, said } = await restored(file, to);
  assert.equal(code, exitCodes.loaded, said);
  const made = (await to.ask("GET /securitycategories")).items;
  assert.deepEqual(
    made.map(({ name }) => name),
    [`Category ${category!["id"]} of the archived project`],
  );
  const series = (await to.ask("GET /timeseries")).items;
  assert.deepEqual(
    series.map(({ name, securityCategories: ids }) => [name, ids]),
    [
      ["flow", undefined],
      ["recipe", [made[0]!["id"]]],
    ],
  );
  const reader = await readerOf(to, [{ timeSeriesAcl: { actions: ["READ"], scope: { all: {} } } }]);
  assert.deepEqual(
    (await reader("GET /timeseries")).items.map(({ name }) => name),
    ["flow"],
  );
});

test("records that are deleted while an export reads them do not end it", async () => {
  const from = await emptyProject("deletions");
  const names = ["gone", "kept"];
  const made = async (list: string, items: readonly object[]) =>
    (await from.ask(`POST /${list}`, { items })).items.map(({ id }) => id);
  const columns = [{ name: "a", valueType: "LONG" }];
  const [series] = await made(
    "timeseries",
    names.map((name) => ({ name })),
  );
  const [event] = await made(
    "events",
    names.map((description) => ({ description, startTime: 1 })),
  );
  const [sequence] = await made(
    "sequences",
    names.map((name) => ({ name, columns })),
  );
  await from.ask("POST /timeseries/data/kept", { items: [{ timestamp: 1, value: 2 }] }, "0.5");
  for (const path of ["gone/kept", "kept/gone", "kept/kept"])
    await from.ask(`POST /raw/${path}/create?ensureParent=true`, { items: [{ key: "a", columns: {} }] });
  const [gone] = await Promise.all(names.map((fileName) => uploaded(from, fileName)));
  const deletions = new Map<string, readonly [path: string, item: unknown]>([
    [`timeseries/${series}/data`, ["/timeseries/delete", series]],
    ["events/byids", ["/events/delete", event]],
    [`sequences/${sequence}/getdata`, ["/sequences/delete", sequence]],
    ["raw/gone", ["/raw/delete?recursive=true", { dbName: "gone" }]],
    ["raw/kept/gone", ["/raw/kept/delete", { tableName: "gone" }]],
    [`files/${gone}/downloadlink`, ["/files/delete", gone]],
  ]);
  const faultOf = async ({ path }: Passed): Promise<Fault> => {
    const [, read = ""] = /\/projects\/deletions\/([^?]*)/.exec(path) ?? [];
    const [deletion, item] = deletions.get(read) ?? [];
    if (deletions.delete(read)) await from.ask(`POST ${deletion}`, { items: [item] });
    return undefined;
  };
  const file = join(folder, "deletions.tar.zst");
  const ended = await withFaults(server.baseUrl, faultOf, (address) =>
    run(exportArchive(archiveParts), ["--output", file, "--server", address], from.key),
  );
  assert.equal(ended.code, exitCodes.loaded, ended.said);
  assert.deepEqual([...deletions], []);
  const to = await emptyProject("after-deletions");
  const { code, said } = await restored(file, to);
  assert.equal(code, exitCodes.loaded, said);
  const shown = async (list: string, member: string) =>
    (await to.ask(`GET /${list}`)).items.map((one) => one[member]);
  assert.deepEqual(await shown("events", "description"), ["kept"]);
  assert.deepEqual(await shown("files", "fileName"), ["kept"]);
  assert.deepEqual(await shown("raw/kept/kept", "key"), ["a"]);
  const [kept] = (await to.ask("GET /timeseries/data/kept?start=0", undefined, "0.5")).items;
  assert.deepEqual(kept!["datapoints"], [{ timestamp: 1, value: 2 }]);
});

/** The id of a new file with bytes. */
async function uploaded({ ask }: Copy, fileName: string): Promise<number> {
  const { data } = JSON.parse((await ask("POST /files/initupload", { fileName })).text);
  await (await fetch(data.uploadURL, { method: "PUT", body: fileName })).arrayBuffer();
  return data.fileId;
}

test("a file whose bytes are missing ends an export: it was not deleted", async () => {
  const from = await emptyProject("missing-bytes");
  const others = new Set(await storedBlobs(server));
  await uploaded(from, "damaged");
  const [blob] = (await storedBlobs(server)).filter((name) => !others.has(name));
  const project = await projectIdOf(from.project);
  await server.app.services.blobs.remove({ project, id: Number(blob) });
  const words = ["--output", join(folder, "missing.tar.zst"), "--server", server.baseUrl];
  const { code, said } = await run(exportArchive(archiveParts), words, from.key);
  assert.equal(code, exitCodes.interrupted, said);
  assert.match(said, /The file of this link does not exist any more\nNo file was made\.\n$/);
});

/** The client of a new account with these rights in the project. */
async function readerOf({ project, ask }: Copy, capabilities: readonly object[]): Promise<AskProject> {
  const create = async (list: string, item: object) => {
    const { items } = await ask(`POST /${list}`, { items: [item] });
    return items[0]!;
  };
  const group = await create("groups", { name: "readers", capabilities });
  const user = await create("users", { uniqueName: "reader", groups: [group["id"]] });
  const key = await create("apikeys", { userId: user["id"] });
  return askerOf({ baseUrl: server.baseUrl, project, key: String(key["value"]) });
}

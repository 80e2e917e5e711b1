// Archives with hostile numbers: every invalid id, reference and time of each section is refused with its
// field, and all lists of the project still work.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { type AskProject, askerOf } from "../../test/support/sample-part.ts";
import { fillSmallProject } from "../../test/support/samples.ts";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { exitCodes } from "../client/command.ts";
import { ensureProject } from "../resources/projects/projects.ts";
import { describe } from "../resources.ts";
import { archiveParts } from "../transfers.ts";
import { exportArchive } from "./export.ts";
import { bytesOf, entriesOf } from "./reader.ts";
import { importArchive } from "./restore.ts";
import { ArchiveWriter } from "./writer.ts";

type Json = Readonly<Record<string, unknown>>;
interface Part {
  readonly section: string;
  readonly name: string;
  readonly bytes: Buffer;
}

const folder = temporaryFolder();
const never = new AbortController().signal;
let server: TestServer;
let pieces: readonly Part[];
before(async () => {
  server = await startTestServer();
  await fillSmallProject(askerOf(server));
  const file = join(folder, "plant.tar.zst");
  assert.equal(
    (await run(exportArchive(archiveParts), ["--output", file], server.key)).code,
    exitCodes.loaded,
  );
  const read: Part[] = [];
  for await (const entry of entriesOf(file))
    if (entry.section)
      read.push({ section: entry.section, name: entry.name, bytes: await bytesOf(entry, 2 ** 20) });
  pieces = read;
});
after(() => server.close());

async function run(command: ReturnType<typeof importArchive>, words: readonly string[], key: string) {
  const said: string[] = [];
  const output = { write: (text: string) => said.push(text) };
  const surroundings = { env: { MILLRACE_KEY: key }, output, stop: never, abort: never };
  const code = await command([...words, "--server", server.baseUrl], surroundings);
  return { code, said: said.join("") };
}

/** `types[].fields[].id` for every number in a line. Values that people choose are no part of the format. */
function numbersIn(value: unknown, path = ""): string[] {
  if (typeof value === "number") return [path];
  if (Array.isArray(value)) return value.flatMap((one) => numbersIn(one, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .filter(([name]) => !["metadata", "additionalData", "value"].includes(name))
    .flatMap(([name, member]) => numbersIn(member, path === "" ? name : `${path}.${name}`));
}

/** The same of a schema: its integers. */
function integersIn(schema: Json, path = ""): string[] {
  if (schema["type"] === "integer") return [path];
  if (schema["type"] === "array") return integersIn(schema["items"] as Json, `${path}[]`);
  return Object.entries((schema["properties"] ?? {}) as Record<string, Json>).flatMap(([name, member]) =>
    integersIn(member, path === "" ? name : `${path}.${name}`),
  );
}

const parts = (path: string) => path.replaceAll("[]", ".[]").split(".");

/** The line with the first number at this path replaced; undefined when it has none there. */
function changed(line: unknown, [part, ...rest]: readonly string[], hostile: unknown): unknown {
  if (part === undefined) return hostile;
  const key = part === "[]" ? 0 : part;
  const member = (line as Json | undefined)?.[key];
  const next = member === undefined ? undefined : changed(member, rest, hostile);
  if (next === undefined) return undefined;
  return Array.isArray(line) ? line.with(0, next) : { ...(line as object), [key]: next };
}

const linesOf = (piece: Part): Json[] =>
  piece.bytes
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

const sections = archiveParts.flatMap((part) => part.sections);
const kindOf = (name: string) => sections.find((section) => section.name === name)!;
const isOfLines = ({ section }: Part) => kindOf(section).kind === "lines";
/** The list of the API whose items are the lines of the section. */
const listOf = (name: string): string | undefined => {
  const section = kindOf(name);
  return section.kind === "lines" ? section.list : undefined;
};
let count = 0;

/** Imports the archive with one number replaced into a project of its own. */
async function imported(section: string, path: string, hostile: unknown) {
  let isReplaced = false;
  const result = await importedAs((of, line) => {
    const other = !isReplaced && of === section ? changed(line, parts(path), hostile) : undefined;
    isReplaced ||= other !== undefined;
    return JSON.stringify(other ?? line);
  });
  assert.ok(isReplaced, `${section} ${path}`);
  return result;
}

/** Imports the archive with lines written by `write` into a project of its own. */
async function importedAs(write: (section: string, line: Json) => string) {
  count += 1;
  const urlName = `copy-${count}`;
  const file = join(folder, `${urlName}.tar.zst`);
  const writer = new ArchiveWriter(file, "demo", sections);
  await writer.begin();
  for (const piece of pieces) {
    if (!isOfLines(piece)) {
      await writer.add(piece.section, piece.bytes, 1);
      continue;
    }
    const lines = linesOf(piece).map((line) => write(piece.section, line));
    await writer.add(piece.section, Buffer.from(`${lines.join("\n")}\n`), lines.length);
  }
  await writer.finish();
  const { project } = await ensureProject(server.app.services, urlName);
  const { key } = await server.app.services.keys.create(project, "test");
  const { code, said } = await run(importArchive(archiveParts), [file, "--project", urlName], key);
  return { code, said, ask: askerOf({ baseUrl: server.baseUrl, project: urlName, key }) };
}

/** Every list of a project, to the end. The client fails on an error response. */
async function readLists(ask: AskProject): Promise<void> {
  for (const { name } of sections) if (listOf(name)) await ask(`GET /${listOf(name)}?limit=1000`);
  for (const { dbName } of (await ask("GET /raw")).items)
    for (const { tableName } of (await ask(`GET /raw/${dbName}`)).items)
      await ask(`GET /raw/${dbName}/${tableName}`);
  for (const { id } of (await ask("GET /sequences")).items)
    await ask(`POST /sequences/${id}/getdata`, { items: [{}] });
}

/** Members that the restore does not read: the server works them out. */
const unread = [
  ...["assets path[]", "assets depth", "files bytes", "trends ownerId"],
  ...["transformations ownerId", "transformations nextTime"],
  ...["suggestions createdTime", "suggestions lastUpdatedTime"],
  ...["retentionrules createdTime", "retentionrules lastUpdatedTime"],
  ...["retentionrules nextTime", "retentionrules waitsUntil", "retentionrules removedPoints"],
];

test("every section is in the archive of this test", () => {
  const found = new Set(pieces.map(({ section }) => section));
  assert.deepEqual(
    sections.map(({ name }) => name).filter((name) => !found.has(name)),
    [],
  );
});

test("each integer that the API describes is in the archive of this test", () => {
  const { paths } = describe("0.6") as unknown as { paths: Record<string, { get: Json }> };
  for (const section of new Set(pieces.filter(isOfLines).map((piece) => piece.section))) {
    if (!listOf(section)) continue;
    const operation = paths[`/api/0.6/projects/{project}/${listOf(section)}`]!.get as Json;
    const text = JSON.stringify(operation["responses"]);
    assert.ok(text.includes("schema"), section);
    const response = (
      operation["responses"] as Record<string, { content: Record<string, { schema: Json }> }>
    )["200"]!;
    const data = (response.content["application/json"]!.schema["properties"] as Record<string, Json>)[
      "data"
    ]!;
    const items = (data["properties"] as Record<string, Json>)["items"]!["items"] as Json;
    const present = new Set(
      pieces
        .filter((one) => one.section === section)
        .flatMap(linesOf)
        .flatMap((line) => numbersIn(line)),
    );
    for (const path of integersIn(items)) assert.ok(present.has(path), `${section} ${path}`);
  }
});

test("a number that no record can have is refused by its name, and every list stays readable", async () => {
  const hostiles = [2 ** 53, -1e300, 0.5, "x"];
  let refused = 0;
  const sections = new Set(pieces.filter(isOfLines).map((piece) => piece.section));
  for (const section of sections) {
    const lines = pieces.filter((one) => one.section === section).flatMap(linesOf);
    // A place on a page may be any fraction.
    for (const path of new Set(lines.flatMap((line) => numbersIn(line))))
      for (const hostile of [path.includes("box.") ? 1.5 : hostiles[refused % 4]]) {
        const { code, said, ask } = await imported(section, path, hostile);
        const what = `${section} ${path} ${hostile}: ${said}`;
        await readLists(ask);
        if (unread.includes(`${section} ${path}`)) continue;
        assert.equal(code, exitCodes.interrupted, what);
        const name = path.match(/\w+/g)!.at(-1);
        assert.match(said, new RegExp(`Invalid field - \\S*\\b${name}\\b\\S* - expected .* but got`), what);
        refused += 1;
      }
  }
  assert.ok(refused > 40, `${refused}`);
});

test("numbers in metadata keep their JSON text, and nested values are refused", async () => {
  const withPairs = (pairs: string) => (section: string, line: Json) => {
    const { metadata: _, columns, ...members } = line;
    const text = JSON.stringify({ ...members, metadata: "pairs" }).replace('"pairs"', pairs);
    if (section === "assets") return text;
    if (section !== "sequences") return JSON.stringify(line);
    const [column] = columns as [Json];
    const written = JSON.stringify({ ...column, metadata: "pairs" }).replace('"pairs"', pairs);
    return JSON.stringify({ ...members, columns: ["column"] }).replace('"column"', written);
  };
  const { code, said, ask } = await importedAs(withPairs('{"a":1.50,"b":12345678901234567890,"c":null}'));
  assert.equal(code, exitCodes.loaded, said);
  const kept = { a: "1.50", b: "12345678901234567890" };
  const assets = (await ask("GET /assets")).items as { metadata: object }[];
  assert.deepEqual(
    assets.map(({ metadata }) => metadata),
    [kept, kept],
  );
  const [{ columns } = { columns: [] }] = (await ask("GET /sequences")).items as {
    columns: { metadata: object }[];
  }[];
  assert.deepEqual(columns[0]?.metadata, kept);
  const nested = await importedAs(withPairs('{"a":{"b":1}}'));
  assert.equal(nested.code, exitCodes.interrupted, nested.said);
  assert.match(nested.said, /items\[0\]\.metadata\.a - expected string but got object/);
});

test("values of columns that the archive lacks are left out and counted", async () => {
  const { code, said, ask } = await importedAs((section, line) => {
    const added = { columnId: 2 ** 40, value: 7 };
    const isOfRows = section === "sequence-rows";
    return JSON.stringify(isOfRows ? { ...line, values: [added, ...(line["values"] as Json[])] } : line);
  });
  assert.equal(code, exitCodes.someRefused, said);
  assert.match(said, /^1 references to records that are not in it were left out$/m);
  const [sequence] = (await ask("GET /sequences")).items;
  const [read] = (await ask(`POST /sequences/${sequence!["id"]}/getdata`, { items: [{}] })).items;
  assert.deepEqual(
    (read!["rows"] as { values: Json[] }[]).map(({ values }) => values.map(({ value }) => value)),
    [[5]],
  );
});

// A file that grows while it is read stays where it is, and is read again. A file with empty columns is read
// to its end.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { ForwardBuffer } from "../forward-buffer.ts";
import { Health } from "../health.ts";
import { Intake } from "../intake.ts";
import { decodeNumbers } from "../point-columns.ts";
import { folderKind } from "./folder-source.ts";

for (const afterwards of ["move", "delete"] as const)
  test(`lines that are added while a file is read are read as well (${afterwards})`, async () => {
    const path = temporaryFolder();
    const file = join(path, "growing.csv");
    const line = (i: number) => `s,${1_700_000_000_000 + i},${i}\n`;
    // More lines than one commit takes.
    const count = 6_000;
    writeFileSync(file, `tag,time,value\n${Array.from({ length: count }, (_, i) => line(i)).join("")}`);
    const buffer = new ForwardBuffer(temporaryFolder(), { bytesMax: 2 ** 30, ageMsMax: 2 ** 40 });
    const health = new Health(() => {});
    const stop = new AbortController();
    let wasLeft = false;
    let commits = 0;
    const intake = new Intake(buffer, {
      ...{ whenFull: "wait", health, signal: stop.signal },
      onStored() {
        commits += 1;
        if (commits === 1) appendFileSync(file, line(count));
        // The whole file has been read, and then again from its start.
        if (commits === 3) wasLeft = existsSync(file);
      },
    });
    const points = { series: "{tag}", timestamp: "time", value: "value" };
    const files = [{ pattern: "*.csv", points }];
    const configuration = { type: "folder", path, every: "10ms", settled: "0s", afterwards, files };
    const source = folderKind.make(configuration as never);
    const running = source.run({
      ...{ instance: "test", isDryRun: false, intake, health, signal: stop.signal },
      server: { latest: async () => [] },
    });
    while (existsSync(file)) await pause(5);
    stop.abort();
    await running;
    const entries = buffer.oldest(1_000_000);
    const values = new Set(entries.flatMap(({ body }) => [...decodeNumbers(body).values]));
    buffer.close();
    assert.equal(wasLeft, true);
    assert.equal(values.size, count + 1);
    assert.ok(values.has(count), "the line that was added");
    assert.equal(existsSync(join(path, "done", "growing.csv")), afterwards === "move");
  });

const rows = { database: "d", table: "t", key: "{plant}-{id}" };

/** Reads a folder of one file until the file is in `done` or is a problem; returns the keys of its rows. */
async function readOnce(
  name: string,
  content: string,
  buffer: ForwardBuffer,
  { commitsMax = 1_000, mapping = { rows } }: { commitsMax?: number; mapping?: object } = {},
) {
  const path = temporaryFolder();
  const file = join(path, name);
  writeFileSync(file, content);
  // The position in the file is by its time.
  utimesSync(file, 1_700_000_000, 1_700_000_000);
  const lines: string[] = [];
  const health = new Health((line) => lines.push(line));
  const stop = new AbortController();
  let commits = 0;
  const onStored = () => {
    commits += 1;
    if (commits === commitsMax) stop.abort();
  };
  const intake = new Intake(buffer, { whenFull: "wait", health, signal: stop.signal, onStored });
  const files = [{ pattern: "*", ...mapping }];
  const configuration = { type: "folder", path, every: "10ms", settled: "0s", afterwards: "move", files };
  const running = folderKind.make(configuration as never).run({
    ...{ instance: "test", isDryRun: false, intake, health, signal: stop.signal },
    server: { latest: async () => [] },
  });
  while (existsSync(file) && health.current.length === 0 && !stop.signal.aborted) await pause(5);
  stop.abort();
  await running;
  const keys = buffer
    .oldest(1_000_000)
    .flatMap(({ body }) =>
      (JSON.parse(Buffer.from(body).toString()) as { key: string }[]).map(({ key }) => key),
    );
  return { keys, problems: health.current.map(({ message }) => message), lines, isMoved: !existsSync(file) };
}

const newBuffer = () => new ForwardBuffer(temporaryFolder(), { bytesMax: 2 ** 30, ageMsMax: 2 ** 40 });
const csvOf = (count: number, plantOf: (i: number) => string) =>
  `plant,id\n${Array.from({ length: count }, (_, i) => `${plantOf(i)},${i}\n`).join("")}`;

for (const [what, name, content, keys] of [
  ["all lines of a CSV file", "a.csv", "plant,id\n,1\n,2\n", ["-1", "-2"]],
  ["all lines of a JSON lines file", "a.jsonl", '{"plant":null,"id":1}\n{"id":2}\n', ["-1", "-2"]],
] as const)
  test(`a column of the key without a value in ${what} is an empty text`, async () => {
    const buffer = newBuffer();
    const found = await readOnce(name, content, buffer);
    buffer.close();
    assert.deepEqual([found.keys, found.problems, found.isMoved], [keys, [], true]);
  });

test("a column of the key without a value after a restart in mid-file is an empty text", async () => {
  const buffer = newBuffer();
  // More lines than one commit takes.
  const count = 6_000;
  const content = csvOf(count, (i) => (i < 5_000 ? "oslo" : ""));
  const first = await readOnce("a.csv", content, buffer, { commitsMax: 1 });
  assert.deepEqual([first.keys.length, first.isMoved], [5_000, false]);
  const { keys, problems, isMoved } = await readOnce("a.csv", content, buffer);
  buffer.close();
  assert.deepEqual([new Set(keys).size, problems, isMoved], [count, [], true]);
  assert.ok(keys.includes("oslo-4999") && keys.includes("-5000"));
});

for (const [name, content] of [
  ["a.csv", "plant,id\n1,2,3\n4,5,6\n"],
  ["a.jsonl", "[]\n{\n"],
] as const)
  test(`a file of rows whose lines are no records is read, and its lines are listed (${name})`, async () => {
    const buffer = newBuffer();
    const { keys, problems, lines, isMoved } = await readOnce(name, content, buffer);
    const { refused } = buffer.counts;
    buffer.close();
    assert.deepEqual([keys, problems, isMoved, refused], [[], [], true, 2]);
    assert.match(lines.join("\n"), /Refused lines: 2\n {2}line /);
  });

test("a file whose lines lack a column of the key stays, and makes no rows", async () => {
  for (const [name, content] of [
    ["a.csv", "site,id\n1,2\n"],
    ["b.csv", "a report\nplant,id\n1,2\n"],
    ["a.jsonl", '{"id":1}\n'],
  ] as const) {
    const buffer = newBuffer();
    const { keys, problems, isMoved } = await readOnce(name, content, buffer);
    buffer.close();
    assert.deepEqual([keys, problems, isMoved], [[], ["No line has the column plant"], false], name);
  }
});

test("a file without any value is read if it has the columns, and stays if no line is a record", async () => {
  const mapping = { points: { series: "a", timestamp: "time", value: "value" } };
  for (const [name, content, problem] of [
    ["a.csv", "time,value\n1,\n2,\n"],
    ["a.jsonl", '{"time":1,"value":null}\n'],
    ["b.csv", "time,values\n1,2\n", "value"],
    ["b.jsonl", "a report\n1\n", "time"],
  ] as const) {
    const buffer = newBuffer();
    const { problems, isMoved } = await readOnce(name, content, buffer, { mapping });
    const items = buffer.state.items;
    buffer.close();
    const expected = problem === undefined ? [] : [`No line has the column ${problem}`];
    assert.deepEqual([problems, isMoved, items], [expected, problem === undefined, 0], name);
  }
});

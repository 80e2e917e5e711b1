// Test files share processes in `npm test`, each with its own hooks, and each runs once.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { groupModule, testGroups } from "./test-groups.ts";

test("each file is in one group; tests of the whole and of processes are alone and first", () => {
  const units = Array.from({ length: 41 }, (_, at) => `src/lib/unit-${at}.test.ts`);
  const files = [...units, "src/main.process.test.ts", "test/crash/kill.test.ts", "bench/soak/soak.test.ts"];
  const groups = testGroups(files);
  assert.deepEqual(groups.flat().toSorted(), files.toSorted());
  assert.deepEqual(groups.slice(0, 3), [
    ["bench/soak/soak.test.ts"],
    ["test/crash/kill.test.ts"],
    ["src/main.process.test.ts"],
  ]);
  assert.deepEqual(
    groups.slice(3).map(({ length }) => length),
    [14, 14, 13],
  );
});

/** The first test uses a constant that is declared later, so it must not run before its file has loaded. */
const file = (name: string, body: string) => `
import { after, before, test } from "node:test";
before(() => console.log("${name} begins"));
after(() => console.log("${name} ends"));
test("${name} works", () => { declaredLater(); });
await Promise.resolve();
test("${name} has a second test", () => undefined);
const declaredLater = () => { ${body} };
`;

test("files of a group run one after the other, and a failure is that of its file", () => {
  const folder = temporaryFolder();
  const first = join(folder, "first.test.ts");
  const second = join(folder, "second.test.ts");
  writeFileSync(first, file("first", `throw new Error("broken");`));
  writeFileSync(second, file("second", ""));
  const path = groupModule([first, second], join(folder, "groups", "0.mjs"));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const ended = spawnSync(process.execPath, ["--test-reporter=tap", path], { encoding: "utf8", env });
  assert.equal(ended.status, 1, ended.stderr);
  const order = ["first begins", "first ends", "second begins", "second ends"];
  assert.deepEqual(
    ended.stdout.split("\n").filter((line) => order.includes(line)),
    order,
  );
  assert.match(ended.stdout, /not ok 1 - first works/);
  assert.match(ended.stdout, /^not ok 1 - .*first\.test\.ts/m);
  assert.match(ended.stdout, /^ok 2 - .*second\.test\.ts/m);
});

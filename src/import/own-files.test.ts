// Files of the import in a folder that others can write: links and files of other users are refused.
import assert from "node:assert/strict";
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { ArchiveWriter } from "../archive/writer.ts";
import { UsageError } from "../client/command.ts";
import { Ledger } from "../client/ledger.ts";
import { Report } from "./report.ts";
import { nothingYet, State } from "./state.ts";

const refused = { line: 1, column: "c", value: "v", reason: "no number" };

/** A folder in which `name` is a link to the file of another user. */
function planted(name: string, plant: (target: string, path: string) => void) {
  const target = join(temporaryFolder(), "target");
  writeFileSync(target, "mine");
  const path = join(temporaryFolder(), name);
  plant(target, path);
  return { target, path };
}

const plants = { "a symbolic link": symlinkSync, "a hard link": linkSync };

for (const [what, plant] of Object.entries(plants))
  describe(`${what} instead of`, () => {
    test("a report is not written through", () => {
      const { target, path } = planted("x.refused.csv", plant);
      const report = new Report(path, 1); // One refused cell fits.
      assert.throws(() => report.add([refused]), UsageError);
      assert.equal(readFileSync(target, "utf8"), "mine");
    });

    test("a note of progress is neither read nor written through", () => {
      const { target, path } = planted("x.state", plant);
      assert.throws(() => new State(path, 1).read(100), /is a link or belongs to another user/);
      const beside = planted("y.state.new", plant);
      const state = new State(beside.path.slice(0, -".new".length), 1);
      state.write({ ...nothingYet, points: 5 });
      assert.equal(state.read(100).points, 5);
      for (const one of [target, beside.target]) assert.equal(readFileSync(one, "utf8"), "mine");
    });

    test("a ledger is refused", () => {
      const { target, path } = planted("x.ledger", plant);
      assert.throws(() => new Ledger(path, 1, {}), /is a link or belongs to another user/);
      assert.equal(readFileSync(target, "utf8"), "mine");
    });

    test("an archive is not written through", async () => {
      const { target, path } = planted("x.millrace.partial", plant);
      const file = path.slice(0, -".partial".length);
      const writer = new ArchiveWriter(file, "demo", []);
      await writer.begin();
      await writer.finish();
      assert.equal(readFileSync(target, "utf8"), "mine");
      assert.ok(lstatSync(file).isFile() && statSync(file).size > 0);
      assert.equal(statSync(file).mode & 0o077, 0);
      assert.ok(!existsSync(path));
    });
  });

test("a ledger of another user, and one with a log of another user, are refused", {
  skip: process.getuid?.() !== 0 && "needs root",
}, () => {
  for (const suffix of ["", "-wal"]) {
    const path = join(temporaryFolder(), "x.ledger");
    new DatabaseSync(path).close();
    writeFileSync(path + suffix, "");
    chownSync(path + suffix, 65_532, 65_532);
    assert.throws(() => new Ledger(path, 1, {}), /belongs to another user/);
  }
});

test("a ledger in a folder that is not there, or that is a folder itself, is refused with words", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "x.ledger"));
  for (const path of [join(folder, "none/x.ledger"), join(folder, "x.ledger")])
    assert.throws(() => new Ledger(path, 1, {}), UsageError);
});

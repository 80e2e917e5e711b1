// The journal after crashes, flipped bytes and failing disks.
import assert from "node:assert/strict";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { Failure } from "../../errors.ts";
import { at, batchOf } from "../conformance/points.ts";
import type { Change } from "./change.ts";
import { FrameMemory } from "./frame-memory.ts";
import { Journal, type JournalFile, type JournalFiles, realFiles, recoverJournal } from "./journal.ts";
import { segmentHeaderBytes } from "./segment.ts";

/** A journal in a folder of its own, and what it has told of. */
interface Play {
  readonly folder: string;
  readonly journal: Journal;
  readonly stored: number[];
}

const change = (value: number): Change => ({
  kind: "append",
  batch: batchOf([4096, at(`1=${value} 7=${value} 3=${value}`)], [8192, [[1, `text ${value}`]]]),
});

const markOf = (one: Change): number =>
  one.kind === "append" ? (one.batch.numbers?.values[0] ?? Number.NaN) : Number.NaN;

async function play(work: (play: Play) => Promise<void>, files: JournalFiles = realFiles): Promise<void> {
  const folder = temporaryFolder();
  const stored: number[] = [];
  const onStored = (one: { change: Change }) => stored.push(markOf(one.change));
  const journal = await Journal.open({ folder, files, memory: new FrameMemory(4096), onStored }, [], 1);
  try {
    await work({ folder, journal, stored });
  } finally {
    await journal.close();
  }
}

/** What a process that starts on the folder finds. */
async function recovered(folder: string) {
  const found: number[] = [];
  const { damage, next } = await recoverJournal({ folder, files: realFiles }, 0, (frame) => {
    found.push(markOf(frame.change));
  });
  return { found, damage, next };
}

const segmentPath = async (folder: string): Promise<string> =>
  join(folder, (await readdir(folder)).find((name) => name.endsWith(".log"))!);

it("what damages the last frame is damage once the journal says that it was on disk, else a torn end", () =>
  play(async ({ folder, journal }) => {
    const path = await segmentPath(folder);
    await journal.write(change(1));
    await journal.write(change(2));
    const unmarked = await readFile(path);
    journal.mark();
    await setTimeout(50);
    const marked = await readFile(path);
    assert.equal(marked.length, unmarked.length + 32);
    for (const [bytes, reports] of [
      [unmarked, 0],
      [marked, 1],
    ] as const) {
      const copy = temporaryFolder();
      const spoiled = Buffer.from(bytes);
      spoiled[unmarked.length - 20]! ^= 1;
      await writeFile(join(copy, basename(path)), spoiled);
      const { found, damage } = await recovered(copy);
      assert.deepEqual([found, damage.length], [[1], reports]);
    }
    // The next frame is written over the mark, and half of one behind a mark is the torn end that it is.
    await journal.write(change(3));
    const whole = await readFile(path);
    const torn = Buffer.concat([marked, whole.subarray(marked.length, whole.length - 8)]);
    await writeFile(path, torn);
    assert.deepEqual(await recovered(folder), { found: [1, 2], damage: [], next: 3 });
    await writeFile(path, whole);
    assert.deepEqual(await recovered(folder), { found: [1, 2, 3], damage: [], next: 4 });
  }));

it("all that was written comes back in order, every column of it", () =>
  play(async ({ folder, journal, stored }) => {
    const wide: Change = {
      kind: "append",
      batch: batchOf([
        2 ** 50,
        [
          [-5, "half \ud83d"],
          [1e12, ""],
        ],
      ]),
    };
    const range = { startMs: -5, endMs: 1e12 };
    const far: Change = { kind: "append", batch: batchOf([4096, at("-60000000000=1 60000000000=-0")]) };
    const changes = [change(1), wide, { kind: "erase" as const, series: 4096, range }, far];
    const copies = structuredClone(changes);
    for (const one of changes) await journal.write(one);
    const found: Change[] = [];
    await recoverJournal({ folder, files: realFiles }, 0, (frame) => void found.push(frame.change));
    assert.deepStrictEqual(found, copies);
    assert.equal(stored.length, copies.length);
  }));

it("a last frame torn at any byte is cut off, and the ones before it are kept", () =>
  play(async ({ folder, journal }) => {
    await journal.write(change(1));
    await journal.write(change(2));
    const whole = journal.bytes;
    await journal.write(change(3));
    const path = await segmentPath(folder);
    const bytes = await readFile(path);
    for (let length = whole; length < bytes.length; length++) {
      await writeFile(path, bytes.subarray(0, length));
      assert.deepEqual(await recovered(folder), { found: [1, 2], damage: [], next: 3 });
      assert.equal((await readFile(path)).length, whole);
    }
    await writeFile(path, Buffer.concat([bytes.subarray(0, whole), Buffer.alloc(bytes.length - whole)]));
    assert.deepEqual(await recovered(folder), { found: [1, 2], damage: [], next: 3 });
  }));

it("a flipped byte in a frame that was acknowledged is reported, and only that frame is missing", () =>
  play(async ({ folder, journal }) => {
    await journal.write(change(1));
    const end = journal.bytes;
    await journal.write(change(2));
    await journal.write(change(3));
    const path = await segmentPath(folder);
    const bytes = await readFile(path);
    for (let offset = segmentHeaderBytes; offset < end; offset += 3) {
      const flipped = Buffer.from(bytes);
      flipped[offset]! ^= 0x10;
      await writeFile(path, flipped);
      const { found, damage, next } = await recovered(folder);
      assert.deepEqual(found, [2, 3], `with byte ${offset} flipped`);
      assert.deepEqual(
        damage.map((one) => [one.offset, one.expected]),
        [[segmentHeaderBytes, "frame 1"]],
      );
      assert.equal(next, 4);
    }
  }));

it("a segment that is missing is reported", () =>
  play(async ({ folder, journal }) => {
    await journal.write(change(1));
    const path = await segmentPath(folder);
    await journal.rotate();
    await journal.write(change(2));
    await rm(path);
    const { found, damage } = await recovered(folder);
    assert.deepEqual(found, [2]);
    assert.deepEqual(
      damage.map((one) => [one.expected, one.found]),
      [["frame 1", "frame 2"]],
    );
  }));

it("changes that come while a sync runs share the next one, in the order they came", () =>
  play(async ({ journal, stored }) => {
    const values = Array.from({ length: 200 }, (_, index) => index);
    await Promise.all(values.map((value) => journal.write(change(value))));
    assert.deepEqual(stored, values);
    assert.ok(journal.syncs <= 3, `${journal.syncs} syncs for ${values.length} changes`);
  }));

it("old segments go when their changes are in blocks, and never one that is still needed", () =>
  play(async ({ folder, journal }) => {
    await journal.write(change(1));
    const boundary = await journal.rotate();
    await journal.write(change(2));
    await journal.drop(boundary - 1);
    assert.deepEqual((await recovered(folder)).found, [1, 2]);
    await journal.drop(boundary);
    const found: number[] = [];
    await recoverJournal(
      { folder, files: realFiles },
      boundary,
      (frame) => void found.push(markOf(frame.change)),
    );
    assert.deepEqual(found, [2]);
  }));

/** A disk that fails when it is told to. */
class BadDisk implements JournalFiles {
  fails: { writev?: "half" | "whole"; datasync?: boolean; truncate?: boolean; open?: boolean } = {};
  readonly unlink = realFiles.unlink;
  readonly rename = realFiles.rename;

  async open(path: string, flags: number): Promise<JournalFile> {
    if (this.fails.open) throw new Error("EIO");
    const file = await realFiles.open(path, flags);
    return {
      writev: async (pieces, position) => {
        const how = this.fails.writev;
        if (how === undefined) return file.writev(pieces, position);
        const bytes = Buffer.concat(pieces);
        await file.writev([how === "half" ? bytes.subarray(0, bytes.length / 2) : bytes], position);
        delete this.fails.writev;
        throw new Error("ENOSPC");
      },
      datasync: async () => {
        if (this.fails.datasync) throw new Error("EIO");
        await file.datasync();
      },
      truncate: async (length) => {
        if (this.fails.truncate) throw new Error("EIO");
        await file.truncate(length);
      },
      close: () => file.close(),
    };
  }
}

const refusedWith = (code: string) => (why: unknown) => why instanceof Failure && why.failure === code;

for (const how of ["half", "whole"] as const) {
  it(`a write that fails with ${how} of its bytes in the file is refused and leaves nothing`, async () => {
    const disk = new BadDisk();
    await play(async ({ folder, journal, stored }) => {
      await journal.write(change(1));
      disk.fails = { writev: how };
      await assert.rejects(journal.write(change(2)), refusedWith("points-not-stored"));
      assert.deepEqual((await recovered(folder)).found, [1]);
      disk.fails = {};
      await journal.write(change(3));
      assert.deepEqual(stored, [1, 3]);
      assert.deepEqual(await recovered(folder), { found: [1, 3], damage: [], next: 3 });
    }, disk);
  });
}

it("after a failed sync nothing is taken any more, and the refused write does not come back", async () => {
  const disk = new BadDisk();
  await play(async ({ folder, journal, stored }) => {
    await journal.write(change(1));
    disk.fails = { datasync: true };
    await assert.rejects(journal.write(change(2)), refusedWith("points-journal-finished"));
    disk.fails = {};
    await assert.rejects(journal.write(change(3)), refusedWith("points-journal-finished"));
    await assert.rejects(journal.rotate(), refusedWith("points-journal-finished"));
    assert.deepEqual(stored, [1]);
    assert.deepEqual(await recovered(folder), { found: [1], damage: [], next: 2 });
  }, disk);
});

it("a refused write that cannot even be cut off is marked, and does not come back", async () => {
  const disk = new BadDisk();
  await play(async ({ folder, journal }) => {
    await journal.write(change(1));
    disk.fails = { writev: "whole", truncate: true };
    await assert.rejects(journal.write(change(2)), refusedWith("points-journal-finished"));
    assert.deepEqual((await recovered(folder)).found, [1]);
  }, disk);
});

it("a mark that the disk did not take whole costs nothing that was acknowledged", () =>
  play(async ({ folder, journal }) => {
    await journal.write(change(1));
    for (const torn of ["", "1", String(journal.bytes)]) {
      await writeFile(`${await segmentPath(folder)}.end`, torn);
      assert.deepEqual((await recovered(folder)).found, [1], `a mark of ${torn.length} digits`);
    }
  }));

it("a new segment that cannot be made leaves the journal going on in the old one", async () => {
  const disk = new BadDisk();
  await play(async ({ folder, journal }) => {
    await journal.write(change(1));
    disk.fails = { open: true };
    await assert.rejects(journal.rotate());
    disk.fails = {};
    await journal.write(change(2));
    assert.deepEqual(await recovered(folder), { found: [1, 2], damage: [], next: 3 });
  }, disk);
});

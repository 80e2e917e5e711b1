// The journal recovers from crashes, flipped bytes and disk failures.
import assert from "node:assert/strict";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { Failure } from "../../errors.ts";
import { at, batchOf } from "../conformance/points.ts";
import type { Change } from "./change.ts";
import { Journal } from "./journal.ts";
import { recoverJournal } from "./journal-recovery.ts";
import { segmentHeaderBytes } from "./segment.ts";
import { type JournalFile, type JournalFiles, realFiles } from "./segment-files.ts";
import { SharedRing, type SharedSlice } from "./shared-ring.ts";

/** A journal in a folder of its own, and the changes that it reported as stored. */
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

async function play(
  work: (play: Play) => Promise<void>,
  files: JournalFiles = realFiles,
  ring = new SharedRing(4096),
): Promise<void> {
  const folder = temporaryFolder();
  const stored: number[] = [];
  const onStored = (one: { change: Change }) => stored.push(markOf(one.change));
  const journal = await Journal.open({ folder, files, ring, onStored }, [], 1);
  try {
    await work({ folder, journal, stored });
  } finally {
    await journal.close();
  }
}

/** The records that recovery finds in the folder. */
async function recovered(folder: string) {
  const found: number[] = [];
  const { damage, next } = await recoverJournal({ folder, files: realFiles }, 0, (record) => {
    found.push(markOf(record.change));
  });
  return { found, damage, next };
}

const segmentPath = async (folder: string): Promise<string> =>
  join(folder, (await readdir(folder)).find((name) => name.endsWith(".log"))!);

it("a damaged last record is damage once a mark says that it was on disk, else a torn end", () =>
  play(async ({ folder, journal }) => {
    const path = await segmentPath(folder);
    await journal.write(change(1));
    await journal.write(change(2));
    const unmarked = await readFile(path);
    journal.writeMark();
    while ((await readFile(path)).length < unmarked.length + 32) await setTimeout(5);
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
    // The next record overwrites the mark, and half a record after a mark is a torn end.
    await journal.write(change(3));
    const whole = await readFile(path);
    const torn = Buffer.concat([marked, whole.subarray(marked.length, whole.length - 8)]);
    await writeFile(path, torn);
    assert.deepEqual(await recovered(folder), { found: [1, 2], damage: [], next: 3 });
    await writeFile(path, whole);
    assert.deepEqual(await recovered(folder), { found: [1, 2, 3], damage: [], next: 4 });
  }));

it("all changes are recovered in order, with all columns", () =>
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
    const changes = [change(1), wide, { kind: "delete" as const, series: 4096, range }, far];
    const copies = structuredClone(changes);
    for (const one of changes) await journal.write(one);
    const found: Change[] = [];
    await recoverJournal({ folder, files: realFiles }, 0, (record) => void found.push(record.change));
    assert.deepStrictEqual(found, copies);
    assert.equal(stored.length, copies.length);
  }));

it("a last record torn at any byte is cut off, and those before it are recovered", () =>
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

it("a flipped byte in a record that was acknowledged is reported, and only that record is missing", () =>
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
        [[segmentHeaderBytes, "record 1"]],
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
      [["record 1", "record 2"]],
    );
  }));

it("changes that arrive during a sync share the next one, in the order of arrival", () =>
  play(async ({ journal, stored }) => {
    const values = Array.from({ length: 200 }, (_, index) => index);
    await Promise.all(values.map((value) => journal.write(change(value))));
    assert.deepEqual(stored, values);
    assert.ok(journal.syncs <= 3, `${journal.syncs} syncs for ${values.length} changes`);
  }));

it("segments are dropped when their changes are in blocks, and not before", () =>
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
      (record) => void found.push(markOf(record.change)),
    );
    assert.deepEqual(found, [2]);
  }));

/** A disk whose calls fail on demand. */
class BadDisk implements JournalFiles {
  fails: { writev?: "half" | "whole"; datasync?: boolean; truncate?: boolean; open?: boolean } = {};
  readonly unlink = realFiles.unlink;
  readonly rename = realFiles.rename;

  async open(path: string, flags: number): Promise<JournalFile> {
    if (this.fails.open) throw new Error("EIO");
    const file = await realFiles.open(path, flags);
    return {
      writev: async (buffers, position) => {
        const how = this.fails.writev;
        if (how === undefined) return file.writev(buffers, position);
        const bytes = Buffer.concat(buffers);
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

/** A ring in which the third allocation fails, as when memory is exhausted. */
class FullRing extends SharedRing {
  readonly allocated: SharedSlice[] = [];
  #allocations = 0;

  override allocate(length: number): SharedSlice {
    if (++this.#allocations === 3) throw new RangeError("Array buffer allocation failed");
    this.allocated.push(super.allocate(length));
    return this.allocated.at(-1)!;
  }

  override free(slice: SharedSlice): void {
    this.allocated.splice(this.allocated.indexOf(slice), 1);
    super.free(slice);
  }
}

it("writes without memory for their records are refused, and later ones are stored", async () => {
  const ring = new FullRing(4096);
  await play(
    async ({ folder, journal, stored }) => {
      await journal.write(change(1));
      const group = await Promise.allSettled([journal.write(change(2)), journal.write(change(3))]);
      for (const one of group)
        assert.ok(one.status === "rejected" && refusedWith("points-not-stored")(one.reason));
      assert.deepEqual(stored, [1]);
      assert.equal(ring.allocated.length, 1, "slices of refused records are freed");
      await journal.write(change(4));
      assert.deepEqual(stored, [1, 4]);
      assert.deepEqual(await recovered(folder), { found: [1, 4], damage: [], next: 3 });
    },
    realFiles,
    ring,
  );
});

it("after a failed sync no write is accepted, and the refused one does not come back", async () => {
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

it("a refused write that cannot be cut off is recorded in an end file, and does not come back", async () => {
  const disk = new BadDisk();
  await play(async ({ folder, journal }) => {
    await journal.write(change(1));
    disk.fails = { writev: "whole", truncate: true };
    await assert.rejects(journal.write(change(2)), refusedWith("points-journal-finished"));
    assert.deepEqual((await recovered(folder)).found, [1]);
  }, disk);
});

it("an incomplete end file cuts off no acknowledged change", () =>
  play(async ({ folder, journal }) => {
    await journal.write(change(1));
    for (const torn of ["", "1", String(journal.bytes)]) {
      await writeFile(`${await segmentPath(folder)}.end`, torn);
      assert.deepEqual((await recovered(folder)).found, [1], `an end file of ${torn.length} digits`);
    }
  }));

it("when a new segment cannot be created, the journal continues in the old one", async () => {
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

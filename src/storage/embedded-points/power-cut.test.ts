// The journal after a power cut, a kill or a failed call at each step, on a disk that loses everything that
// it may lose (test/support/simulated-disk.ts): no acknowledged change is missing, and no refused one comes
// back.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { it } from "node:test";
import { folderInMemory } from "../../../test/support/folder.ts";
import { filesWithoutSyncs } from "../../../test/support/points-store.ts";
import { isLong, times } from "../../../test/support/proof.ts";
import { putWreck, SimulatedDisk, type Wreck } from "../../../test/support/simulated-disk.ts";
import { Failure } from "../../errors.ts";
import { at, batchOf } from "../conformance/points.ts";
import type { Change } from "./change.ts";
import { Journal, type StoredRecord } from "./journal.ts";
import { recoverJournal } from "./journal-recovery.ts";
import { SharedRing } from "./shared-ring.ts";

/** Bytes of a write that reach the disk together or not at all. */
const sectorBytes = times(16, 8);

/** The results that the callers of a journal got. Each change has a number of its own, its mark. */
class Ledger {
  /** Acknowledged changes, in the order of the journal. */
  stored: { readonly sequence: number; readonly mark: number }[] = [];
  /** Changes that are neither acknowledged nor refused yet, in order. */
  undecided: number[] = [];
  readonly refused = new Set<number>();
  /** All changes up to this sequence number are in blocks, and the journal may have dropped them. */
  flushedSequence = 0;

  copy(): Pick<Ledger, "stored" | "undecided" | "flushedSequence"> {
    return { stored: [...this.stored], undecided: this.undecided, flushedSequence: this.flushedSequence };
  }

  readonly store = ({ sequence, change }: Omit<StoredRecord, "slice">): void => {
    const mark = markOf(change);
    this.stored.push({ sequence, mark });
    this.undecided = this.undecided.filter((one) => one !== mark);
  };

  readonly refuse = (mark: number): void => {
    this.refused.add(mark);
    this.undecided = this.undecided.filter((one) => one !== mark);
  };
}

const change = (mark: number): Change =>
  mark % 5 === 0
    ? { kind: "delete", series: mark }
    : { kind: "append", batch: batchOf([4096, at(`1=${mark} 7=2 3=4`)], [8192, [[1, `text ${mark}`]]]) };

const markOf = (one: Change): number => (one.kind === "delete" ? one.series : one.batch.numbers!.values[0]!);

const wreckFolder = folderInMemory();

/** The changes that the next process recovers from a wreck. */
async function recover(wreck: Wreck, flushedSequence: number) {
  await putWreck(wreck, wreckFolder);
  const found: { sequence: number; mark: number }[] = [];
  const settings = { folder: wreckFolder, files: filesWithoutSyncs };
  const { damage } = await recoverJournal(settings, flushedSequence, (record) => {
    found.push({ sequence: record.sequence, mark: markOf(record.change) });
  });
  return { found, damage };
}

/** Asserts that all stored changes are recovered, then perhaps the first undecided ones, and nothing else. */
async function check(
  wreck: Wreck,
  { stored, undecided, flushedSequence }: ReturnType<Ledger["copy"]>,
  when: string,
): Promise<void> {
  const { found, damage } = await recover(wreck, flushedSequence);
  const what = () => `${when}: ${[...wreck].map(([name, { length }]) => `${name} of ${length} bytes`)}`;
  assert.deepEqual(damage, [], what());
  const expected = stored.filter(({ sequence }) => sequence > flushedSequence);
  const more = found.slice(expected.length);
  assert.deepEqual(found.slice(0, expected.length), expected, what());
  assert.deepEqual(
    more.map(({ mark }) => mark),
    undecided.slice(0, more.length),
    what(),
  );
  const first = expected.at(-1)?.sequence ?? flushedSequence;
  assert.deepEqual(
    more.map(({ sequence }) => sequence),
    more.map((_, index) => first + 1 + index),
    what(),
  );
}

/** Recovers a journal and runs all of its operations. `mark` is the first unused one. */
async function live(disk: SimulatedDisk, ledger: Ledger, mark: number): Promise<void> {
  const ring = new SharedRing(4096);
  const settings = { folder: disk.folder, files: disk, ring, onStored: ledger.store };
  const found: Omit<StoredRecord, "slice">[] = [];
  const { segments, next } = await recoverJournal(
    settings,
    ledger.flushedSequence,
    (one) => void found.push(one),
  );
  const journal = await Journal.open(settings, segments, next);
  // Recovered changes are visible from now on, so they count as stored.
  for (const one of found.slice(ledger.stored.filter((old) => old.sequence > ledger.flushedSequence).length))
    ledger.store(one);
  ledger.undecided = [];
  const write = async () => {
    const own = mark++;
    ledger.undecided = [...ledger.undecided, own];
    await journal.write(change(own)).catch(() => ledger.refuse(own));
  };
  const checkpoint = async () => {
    const boundary = await journal.rotate().catch(() => undefined);
    if (boundary === undefined) return;
    ledger.flushedSequence = boundary;
    await journal.drop(boundary).catch(() => undefined);
  };
  await Promise.all([write(), write(), write()]);
  journal.writeMark();
  await Promise.all([write(), checkpoint(), write()]);
  journal.writeMark();
  await write();
  await new Promise(setImmediate);
  journal.writeMark();
  await Promise.all([checkpoint(), write()]);
  await journal.close().catch(() => undefined);
}

const seen = new Set<string>();
/** Most steps change little, so most of the possible states were checked before. */
function isNew(wreck: Wreck, ledgerThen: object): boolean {
  const files = [...wreck].flatMap(([name, bytes]) => [name, Buffer.from(bytes).toString("latin1")]);
  const key = hash("sha1", JSON.stringify([files, ledgerThen]));
  return seen.size < seen.add(key).size;
}

/** Runs a journal, with the power cut in every way after every step. */
async function cutEverywhere(disk: SimulatedDisk, ledger: Ledger, { mark = 1, life = "" } = {}) {
  let wrecks = 0;
  /** Thrown at the end, because the journal takes an error in a step for a disk failure. */
  let problem: unknown;
  let checked = Promise.resolve();
  disk.onStep = () => {
    const [ledgerThen, when] = [ledger.copy(), `${life}power cut after step ${disk.steps}`];
    const all = [...disk.wrecks()].filter((wreck) => isNew(wreck, ledgerThen));
    wrecks += all.length;
    checked = checked.then(async () => {
      for (const wreck of all) if (problem === undefined) await check(wreck, ledgerThen, when);
    });
    checked = checked.catch((why) => {
      problem ??= why;
    });
    return checked;
  };
  const from = disk.steps;
  const lived = live(disk, ledger, mark);
  // A run whose start was refused has no changes.
  await lived.catch((why) => assert.ok(why instanceof Failure || /^EIO/.test(why.message), why));
  await disk.onStep();
  if (problem !== undefined) throw problem;
  return { steps: disk.steps - from, wrecks };
}

const wholeWrites = 2 ** 20;
const fewSectors = times(128, 16);
const { steps: stepsOfALife } = await cutEverywhere(new SimulatedDisk(wholeWrites), new Ledger());

it("power cut after every step, with every way of losing unsynced bytes", async (t) => {
  const { steps, wrecks } = await cutEverywhere(new SimulatedDisk(sectorBytes), new Ledger());
  t.diagnostic(`${steps} steps, ${wrecks} states of the disk`);
  assert.ok(wrecks > 10 * steps, `${wrecks} states`);
});

it("killed before every step, then power cut after every step of the next start", async (t) => {
  let all = 0;
  for (let killAt = 1; killAt < stepsOfALife; killAt++) {
    const [disk, ledger] = [new SimulatedDisk(fewSectors), new Ledger()];
    disk.killAt = killAt;
    await Promise.race([live(disk, ledger, 1), disk.killed]);
    disk.killAt = Infinity;
    const { wrecks } = await cutEverywhere(disk, ledger, {
      mark: 100,
      life: `killed before step ${killAt}, `,
    });
    all += wrecks;
  }
  t.diagnostic(`${all} states of the disk`);
});

it("every step fails in turn: refused changes do not come back, whenever the power is cut", async (t) => {
  let all = 0;
  for (let fails = 0; fails < stepsOfALife; fails++) {
    for (const apart of isLong ? [0, 1, 2, 3, 4, 5, 6] : [0, 1 + (fails % 4)]) {
      const disk = new SimulatedDisk(fewSectors);
      disk.failsAt = (step) => step === fails || step === fails + apart;
      const life = `steps ${fails} and ${fails + apart} failed, `;
      const { wrecks } = await cutEverywhere(disk, new Ledger(), { life });
      all += wrecks;
    }
  }
  t.diagnostic(`${all} states of the disk`);
});

// The journal after a power cut, a kill or a failed call at each of its steps, on a disk that is as unkind as
// it may be (test/support/simulated-disk.ts): nothing acknowledged is missing, nothing refused comes back.
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
import { FrameMemory } from "./frame-memory.ts";
import { Journal, recoverJournal, type StoredChange } from "./journal.ts";

/** So many bytes of a write reach the disk together, or not. */
const sectorBytes = times(16, 8);

/** What the callers of a journal were told. Each change has a number of its own, its mark. */
class Ledger {
  /** What was on disk when its writer was told, in the order of the journal. */
  stored: { readonly sequence: number; readonly mark: number }[] = [];
  /** Sent, and neither acknowledged nor refused yet, in order. */
  undecided: number[] = [];
  readonly refused = new Set<number>();
  /** Up to this sequence number all changes are in blocks, and the journal may have dropped them. */
  applied = 0;

  copy(): Pick<Ledger, "stored" | "undecided" | "applied"> {
    return { stored: [...this.stored], undecided: this.undecided, applied: this.applied };
  }

  readonly store = ({ sequence, change }: Omit<StoredChange, "place">): void => {
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
    ? { kind: "erase", series: mark }
    : { kind: "append", batch: batchOf([4096, at(`1=${mark} 7=2 3=4`)], [8192, [[1, `text ${mark}`]]]) };

const markOf = (one: Change): number => (one.kind === "erase" ? one.series : one.batch.numbers!.values[0]!);

const wreckFolder = folderInMemory();

/** What the next process finds in a wreck. */
async function recover(wreck: Wreck, applied: number) {
  await putWreck(wreck, wreckFolder);
  const found: { sequence: number; mark: number }[] = [];
  const settings = { folder: wreckFolder, files: filesWithoutSyncs };
  const { damage } = await recoverJournal(settings, applied, (frame) => {
    found.push({ sequence: frame.sequence, mark: markOf(frame.change) });
  });
  return { found, damage };
}

/** All that was stored is found, then perhaps a beginning of what was undecided, and nothing else. */
async function check(
  wreck: Wreck,
  { stored, undecided, applied }: ReturnType<Ledger["copy"]>,
  when: string,
): Promise<void> {
  const { found, damage } = await recover(wreck, applied);
  const what = () => `${when}: ${[...wreck].map(([name, { length }]) => `${name} of ${length} bytes`)}`;
  assert.deepEqual(damage, [], what());
  const expected = stored.filter(({ sequence }) => sequence > applied);
  const more = found.slice(expected.length);
  assert.deepEqual(found.slice(0, expected.length), expected, what());
  assert.deepEqual(
    more.map(({ mark }) => mark),
    undecided.slice(0, more.length),
    what(),
  );
  const first = expected.at(-1)?.sequence ?? applied;
  assert.deepEqual(
    more.map(({ sequence }) => sequence),
    more.map((_, index) => first + 1 + index),
    what(),
  );
}

/** Recovers, goes on, and does all that a journal does. `mark` is the first free one. */
async function live(disk: SimulatedDisk, ledger: Ledger, mark: number): Promise<void> {
  const memory = new FrameMemory(4096);
  const settings = { folder: disk.folder, files: disk, memory, onStored: ledger.store };
  const found: Omit<StoredChange, "place">[] = [];
  const { segments, next } = await recoverJournal(settings, ledger.applied, (one) => void found.push(one));
  const journal = await Journal.open(settings, segments, next);
  // From now on queries are answered from what was found.
  for (const one of found.slice(ledger.stored.filter((old) => old.sequence > ledger.applied).length))
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
    ledger.applied = boundary;
    await journal.drop(boundary).catch(() => undefined);
  };
  await Promise.all([write(), write(), write()]);
  journal.mark();
  await Promise.all([write(), checkpoint(), write()]);
  journal.mark();
  await write();
  await new Promise(setImmediate);
  journal.mark();
  await Promise.all([checkpoint(), write()]);
  await journal.close().catch(() => undefined);
}

const seen = new Set<string>();
/** Most steps change little, so most of what they could leave was looked at before. */
function isNew(wreck: Wreck, told: object): boolean {
  const files = [...wreck].flatMap(([name, bytes]) => [name, Buffer.from(bytes).toString("latin1")]);
  const key = hash("sha1", JSON.stringify([files, told]));
  return seen.size < seen.add(key).size;
}

/** Plays a life with the power cut in every way after every step. */
async function cutEverywhere(disk: SimulatedDisk, ledger: Ledger, { mark = 1, life = "" } = {}) {
  let wrecks = 0;
  /** Thrown at the end: the journal takes what is thrown in a step for a failure of the disk. */
  let problem: unknown;
  let checked = Promise.resolve();
  disk.onStep = () => {
    const [told, when] = [ledger.copy(), `${life}power cut after step ${disk.steps}`];
    const all = [...disk.wrecks()].filter((wreck) => isNew(wreck, told));
    wrecks += all.length;
    checked = checked.then(async () => {
      for (const wreck of all) if (problem === undefined) await check(wreck, told, when);
    });
    checked = checked.catch((why) => {
      problem ??= why;
    });
    return checked;
  };
  const from = disk.steps;
  const lived = live(disk, ledger, mark);
  // A life whose start was refused is one without changes.
  await lived.catch((why) => assert.ok(why instanceof Failure || /^EIO/.test(why.message), why));
  await disk.onStep();
  if (problem !== undefined) throw problem;
  return { steps: disk.steps - from, wrecks };
}

const wholeWrites = 2 ** 20;
const fewSectors = times(128, 16);
const { steps: stepsOfALife } = await cutEverywhere(new SimulatedDisk(wholeWrites), new Ledger());

it("power cut after every step, with every way of losing what was not synced", async (t) => {
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

it("every step fails in turn: what was refused does not come back, whenever the power is cut", async (t) => {
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

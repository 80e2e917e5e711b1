// Examines a whole store that no process has open (shards, blocks and journal), and repairs damage where
// possible.
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Finding, noDatabase } from "../findings.ts";
import { openEmbeddedPoints, shardFileOf } from "./embedded-points.ts";
import { recoverJournal } from "./journal-recovery.ts";
import type { JournalFile, JournalFiles } from "./segment-files.ts";
import { type ExpectedShard, ShardDoctor } from "./shard-doctor.ts";
import { readStoreFile } from "./store-file.ts";

/** Folder for removed blocks and segments, so that more of them can be recovered by hand. */
const setAsideName = "set-aside";

export interface Examination {
  readonly findings: readonly Finding[];
  /** Bytes at the end of the journal of a write that was never acknowledged, as after a crash. */
  readonly tornBytes: number;
}

interface ExaminationSettings {
  /** A folder without a store is damage. */
  readonly mustExist?: boolean;
  readonly repair: boolean;
  readonly onRepaired: (finding: Finding) => void;
}

/**
 * Reads every block and every journal record of the store in `folder`, and returns the damage. Changes
 * nothing, except that SQLite recovers its own write-ahead logs. With `repair`, applies each remedy, calls
 * `onRepaired` for it, and returns the damage that remains.
 */
export async function examineStore(
  folder: string,
  { mustExist = false, repair, onRepaired }: ExaminationSettings,
): Promise<Examination> {
  const examination = await examine(folder, mustExist);
  if (!repair || examination.findings.length === 0) return examination;
  await mkdir(join(folder, setAsideName), { recursive: true });
  await examine(folder, mustExist, async (finding) => {
    await finding.remedy?.apply();
    if (finding.remedy !== undefined) onRepaired(finding);
  });
  return examine(folder, mustExist);
}

async function examine(
  folder: string,
  mustExist: boolean,
  onFinding: (finding: Finding) => Promise<void> = async () => undefined,
): Promise<Examination> {
  const findings: Finding[] = [];
  const report = async (finding: Finding) => {
    findings.push(finding);
    await onFinding(finding);
  };
  const storeFile = await readStoreFile(folder).catch(async (error: Error) => {
    await report({ file: "store.json", offset: 0, expected: "the number of shards", found: error.message });
    return undefined;
  });
  if (mustExist && !existsSync(join(folder, "store.json")))
    await report({ file: "store.json", offset: 0, expected: "the number of shards", found: "no file" });
  let flushedSequence = Infinity;
  for (let shard = 0; storeFile !== undefined && shard < storeFile.shards; shard++) {
    const one = { store: storeFile.store, shard, file: shardFileOf(shard) };
    flushedSequence = Math.min(flushedSequence, await examineShard(folder, one, report));
  }
  // Without the state of a shard, it is not known which records the journal must still have.
  const tornBytes = Number.isFinite(flushedSequence)
    ? await examineJournal(folder, flushedSequence, report)
    : 0;
  return { findings, tornBytes };
}

type Report = (finding: Finding) => Promise<void>;

/**
 * Resolves with the sequence number up to which the shard has every change in blocks; with NaN when it cannot
 * be read.
 */
async function examineShard(folder: string, one: ExpectedShard, report: Report): Promise<number> {
  const { file } = one;
  const { size } = await stat(join(folder, file)).catch(() => ({ size: undefined }));
  if (!size) {
    const found = size === 0 ? "an empty file" : "none";
    await report({ file, offset: 0, expected: "the file of a shard", found });
    return Number.NaN;
  }
  let doctor: ShardDoctor | undefined;
  try {
    doctor = new ShardDoctor(folder, one, join(folder, setAsideName));
    const fatal = [...doctor.integrityFindings(), ...doctor.identityFindings()];
    for (const finding of fatal) await report(finding);
    if (fatal.length > 0) return Number.NaN;
    for (const finding of [...doctor.findings()]) await report(finding);
    return doctor.flushedSequence;
  } catch (error) {
    await report(noDatabase(file, error));
    return Number.NaN;
  } finally {
    doctor?.close();
  }
}

/** Resolves with the size of the torn end. */
async function examineJournal(folder: string, flushedSequence: number, report: Report): Promise<number> {
  const files = new ReadOnlyFiles();
  const { damage } = await recoverJournal({ folder, files }, flushedSequence, () => undefined);
  for (const one of damage) {
    const says = `skip it, with the segment kept in ${setAsideName}`;
    await report({ ...one, remedy: { says, apply: () => setAside(folder) } });
  }
  return files.tornBytes;
}

/**
 * Opening and closing the store applies all whole records and sets damaged segments aside; these are moved
 * here.
 */
async function setAside(folder: string): Promise<void> {
  await (await openEmbeddedPoints({ folder })).close();
  for (const name of await readdir(folder))
    if (name.startsWith("damaged-")) await rename(join(folder, name), join(folder, setAsideName, name));
}

/** Lets recovery run without changing a file, and counts the bytes that it would cut off. */
class ReadOnlyFiles implements JournalFiles {
  tornBytes = 0;

  async open(path: string): Promise<JournalFile> {
    return {
      writev: async () => ({ bytesWritten: 0 }),
      datasync: async () => undefined,
      truncate: async (length) => {
        this.tornBytes += (await stat(path)).size - length;
      },
      close: async () => undefined,
    };
  }

  async unlink(): Promise<void> {}
  async rename(): Promise<void> {}
}

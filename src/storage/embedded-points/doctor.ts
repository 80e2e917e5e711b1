// Looks through a whole store that nobody has open: shards, blocks and journal; mends what can be mended.
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Finding, noDatabase } from "../findings.ts";
import { openEmbeddedPoints, shardFileOf } from "./embedded-points.ts";
import { type JournalFile, type JournalFiles, recoverJournal } from "./journal.ts";
import { type Examined, ShardDoctor } from "./shard-doctor.ts";
import { readStoreFile } from "./store-file.ts";

/** What is taken out of the store goes here, for whoever wants to save some of it. */
const asideName = "set-aside";

export interface Examination {
  readonly findings: readonly Finding[];
  /** Bytes at the end of the journal of a write that was never acknowledged: what a crash leaves. */
  readonly tornBytes: number;
}

interface ExaminationSettings {
  /** A folder without a store is damage. */
  readonly mustExist?: boolean;
  readonly repair: boolean;
  readonly told: (finding: Finding) => void;
}

/**
 * Reads every block and every frame of the store in `folder` and answers what is damaged. Changes nothing,
 * except that SQLite brings its own logs in order. With `repair` it first applies each remedy (`told` hears
 * of each) and lets the store take in its journal; the answer is then what is left.
 */
export async function examineStore(
  folder: string,
  { mustExist = false, repair, told }: ExaminationSettings,
): Promise<Examination> {
  const found = await examine(folder, mustExist);
  if (!repair || found.findings.length === 0) return found;
  await mkdir(join(folder, asideName), { recursive: true });
  await examine(folder, mustExist, async (finding) => {
    await finding.remedy?.apply();
    if (finding.remedy !== undefined) told(finding);
  });
  return examine(folder, mustExist);
}

async function examine(
  folder: string,
  mustExist: boolean,
  each: (finding: Finding) => Promise<void> = async () => undefined,
): Promise<Examination> {
  const findings: Finding[] = [];
  const hear = async (finding: Finding) => {
    findings.push(finding);
    await each(finding);
  };
  const made = await readStoreFile(folder).catch(async (why: Error) => {
    await hear({ file: "store.json", offset: 0, expected: "the number of shards", found: why.message });
    return undefined;
  });
  if (mustExist && !existsSync(join(folder, "store.json")))
    await hear({ file: "store.json", offset: 0, expected: "the number of shards", found: "no file" });
  let applied = Infinity;
  for (let shard = 0; made !== undefined && shard < made.shards; shard++) {
    const one = { store: made.store, shard, file: shardFileOf(shard) };
    applied = Math.min(applied, await examineShard(folder, one, hear));
  }
  // Where a shard cannot be read, nobody knows which frames the journal must still hold.
  const tornBytes = Number.isFinite(applied) ? await examineJournal(folder, applied, hear) : 0;
  return { findings, tornBytes };
}

type Hear = (finding: Finding) => Promise<void>;

/** Resolves with what the shard has applied; with NaN when nobody can say. */
async function examineShard(folder: string, one: Examined, hear: Hear): Promise<number> {
  const { file } = one;
  const { size } = await stat(join(folder, file)).catch(() => ({ size: undefined }));
  if (!size) {
    const found = size === 0 ? "an empty file" : "none";
    await hear({ file, offset: 0, expected: "the file of a shard", found });
    return Number.NaN;
  }
  let doctor: ShardDoctor | undefined;
  try {
    doctor = new ShardDoctor(folder, one, join(folder, asideName));
    const broken = [...doctor.integrity(), ...doctor.stranger()];
    for (const finding of broken) await hear(finding);
    if (broken.length > 0) return Number.NaN;
    for (const finding of [...doctor.findings()]) await hear(finding);
    return doctor.applied;
  } catch (why) {
    await hear(noDatabase(file, why));
    return Number.NaN;
  } finally {
    doctor?.close();
  }
}

/** Resolves with the bytes of a torn end. */
async function examineJournal(folder: string, applied: number, hear: Hear): Promise<number> {
  const files = new FilesLeftAlone();
  const { damage } = await recoverJournal({ folder, files }, applied, () => undefined);
  for (const one of damage) {
    const says = `pass over it, with the segment kept in ${asideName}`;
    await hear({ ...one, remedy: { says, apply: () => setAside(folder) } });
  }
  return files.tornBytes;
}

/** The store takes in all whole frames and puts damaged segments aside; these then leave its folder. */
async function setAside(folder: string): Promise<void> {
  await (await openEmbeddedPoints({ folder })).close();
  for (const name of await readdir(folder))
    if (name.startsWith("damaged-")) await rename(join(folder, name), join(folder, asideName, name));
}

/** Lets recovery read without changing anything, and hears what it would have cut off. */
class FilesLeftAlone implements JournalFiles {
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

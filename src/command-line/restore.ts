// `millrace restore`: writes a backup into a new data folder.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { DamagedChunk } from "../backup/pool.ts";
import { chooseBackup, requireKept, restoreBackup } from "../backup/restore.ts";
import { count, StatusLine } from "../client/progress.ts";
import { StartRefused } from "../data-folder.ts";
import { makeFilesPrivate } from "../file-modes.ts";
import { type Command, Misused } from "./command.ts";
import { namedPlace } from "./named-place.ts";
import { expectWords } from "./words.ts";

const options = {
  to: { type: "string" },
  backup: { type: "string" },
  until: { type: "string" },
  "passphrase-file": { type: "string" },
} as const;

export const restore: Command = {
  usage: `Usage: millrace restore <folder> --to <data folder> [--backup ID | --until TIME]
                        [--passphrase-file FILE]

Writes a backup into a data folder, which must not exist or be empty: the newest backup of <folder>, the
newest one with a snapshot not after --until (such as 2026-11-23T14:00:00+01:00), or that of --backup
(millrace backup --list <folder>). <folder> may be in an S3 store: s3://bucket/prefix?endpoint=...
Verifies every chunk on the way. The data folder appears when it is complete; an interrupted restore leaves
<data folder>.restoring, and the same command starts again. A folder that exists, such as a mount point, is
filled in place; servers refuse it until it is complete.
Then start the server with MILLRACE_DATA. Stop the old server for good: both have the same keys and secret.

Exit codes: 0, complete; 1, refused, or the backup is damaged.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    expectWords(positionals, 1, "Name the folder or the S3 store of the backups.");
    const { to, backup: id, until, "passphrase-file": passphraseFile } = values;
    if (to === undefined) throw new Misused("--to names the data folder.");
    if (id !== undefined && until !== undefined) throw new Misused("Give --backup or --until, not both.");
    const untilMs = until === undefined ? undefined : timeIn(until);
    const target = resolve(to);
    makeFilesPrivate();
    const place = await namedPlace(positionals[0]!);
    await using _ = await place.lock("read");
    const backup = await chooseBackup(place, { id, untilMs, passphraseFile });
    const { manifest } = backup;
    const line = new StatusLine(process.stderr);
    try {
      await restoreBackup(backup, target, (bytesDone) =>
        line.show(() => ({
          share: bytesDone / manifest.bytes,
          text: `  ${count(bytesDone)} of ${count(manifest.bytes)} bytes`,
        })),
      );
    } catch (problem) {
      if (!(problem instanceof DamagedChunk)) throw problem;
      await requireKept(backup);
      throw new StartRefused(`The backup ${manifest.id} is damaged: ${problem.message}.
Nothing was restored. Try another backup (--backup), and run millrace verify.`);
    } finally {
      line.end();
    }
    const snapshot = new Date(manifest.snapshotMs).toISOString();
    console.log(`Restored ${count(manifest.files)} files, ${count(manifest.bytes)} bytes to ${target}.
It has the state of ${snapshot}. Start the server with MILLRACE_DATA=${target}`);
    return 0;
  },
};

/** A time with a zone: without one, the zone of this machine would decide which backup it is. */
function timeIn(text: string): number {
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const timeMs = isWhole ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs))
    throw new Misused(`--until is a time with its zone, such as 2026-11-23T14:00:00Z, not ${text}.`);
  return timeMs;
}

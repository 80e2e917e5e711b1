// `millrace verify`: checks every part of a backup.
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { chooseBackup, requireKept } from "../backup/restore.ts";
import { verifyBackup } from "../backup/verify.ts";
import { VerifyFolder } from "../backup/verify-folder.ts";
import { count, StatusLine } from "../client/progress.ts";
import { makeFilesPrivate } from "../file-modes.ts";
import type { Command } from "./command.ts";
import { namedPlace } from "./named-place.ts";
import { expectWords } from "./words.ts";

const damageFound = 3;
const interrupted = 130;

const options = {
  backup: { type: "string" },
  "passphrase-file": { type: "string" },
  temporary: { type: "string" },
} as const;

export const verify: Command = {
  usage: `Usage: millrace verify <folder> [--backup ID] [--passphrase-file FILE] [--temporary FOLDER]

Verifies the newest backup of <folder>, which may be in an S3 store (s3://bucket/prefix?endpoint=...), else
that of --backup. Reads every chunk and its checksum. Restores
catalog, datapoints and journal to a folder below --temporary (else that of the system), and examines them as
millrace doctor does. Compares a random sample of the datapoints with those that the server had at the time
of the snapshot. Changes no backup, and needs no server. Removes the folders that killed calls left below
--temporary.

Exit codes: 0, in order; 1, refused; ${damageFound}, damaged; ${interrupted}, interrupted.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    expectWords(positionals, 1, "Name the folder or the S3 store of the backups.");
    const { backup: id, "passphrase-file": passphraseFile, temporary } = values;
    makeFilesPrivate();
    const place = await namedPlace(positionals[0]!);
    await using _ = await place.lock("read");
    const backup = await chooseBackup(place, { id, passphraseFile });
    const { manifest } = backup;
    const line = new StatusLine(process.stderr);
    const report = (bytesDone: number) =>
      line.show(() => ({
        share: bytesDone / manifest.bytes,
        text: `  ${count(bytesDone)} of ${count(manifest.bytes)} bytes`,
      }));
    const { findings, files, bytes, series } = await inTemporaryFolder(temporary, (folder) =>
      verifyBackup(backup, { folder, report }),
    ).finally(() => line.end());
    if (findings.length > 0) {
      await requireKept(backup);
      for (const finding of findings) console.log(finding);
      console.log(`The backup ${manifest.id} is damaged: ${findings.length} findings`);
      return damageFound;
    }
    console.log(`The backup ${manifest.id} is in order: ${count(files)} files, ${count(bytes)} bytes; \
${series} series compared with the server`);
    return 0;
  },
};

/** Interrupted, it removes the folder as well: it has a catalog in the clear. */
async function inTemporaryFolder<Result>(
  temporary: string | undefined,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  using folder = VerifyFolder.make(temporary ?? tmpdir());
  const stop = () => {
    folder[Symbol.dispose]();
    process.exit(interrupted);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  return await work(folder.path);
}

// The process that verifies a new backup for the server, and then removes old ones.
import { StartRefused } from "../data-folder.ts";
import { makeFilesPrivate } from "../file-modes.ts";
import { limits } from "../limits.ts";
import { endWithServer, failedBy } from "./background-process.ts";
import {
  type Examined,
  type ExamineTask,
  type FromExamineProcess,
  firstFindings,
  type Removal,
} from "./messages.ts";
import { openPlace } from "./open-place.ts";
import { Pace } from "./pace.ts";
import type { BackupPlace } from "./place.ts";
import { pruneAt } from "./prune.ts";
import { chooseBackup, requireKept } from "./restore.ts";
import { verifyBackup } from "./verify.ts";
import { VerifyFolder } from "./verify-folder.ts";

class ExamineProcess {
  /** The temporary folder. A second disposal does nothing. */
  #opened: DisposableStack | undefined;

  async examine(task: ExamineTask): Promise<Examined> {
    makeFilesPrivate();
    const place = await openPlace(task.place, task.s3);
    const findings = await this.#verify(place, task);
    if (findings.length > 0 || task.keep === undefined)
      return firstFindings({ findings }, limits.backupFindingsMax);
    return { findings, removal: await removeOld(place, task) };
  }

  /** The restored catalog is in the clear, so the folder goes also when the process is stopped. */
  stop(): never {
    this.#opened?.dispose();
    process.exit(1);
  }

  async #verify(
    place: BackupPlace,
    { id, passphraseFile, temporary }: ExamineTask,
  ): Promise<readonly string[]> {
    await using _ = await place.lock("read");
    const backup = await chooseBackup(place, { id, passphraseFile });
    using opened = new DisposableStack();
    const folder = opened.use(VerifyFolder.make(temporary));
    this.#opened = opened;
    const pace = new Pace();
    const { findings } = await verifyBackup(backup, {
      folder: folder.path,
      report: (bytesDone) => pace.wait(bytesDone),
    });
    if (findings.length > 0) await requireKept(backup);
    return findings;
  }
}

async function removeOld(
  place: BackupPlace,
  { id, passphraseFile, keep, damaged }: ExamineTask,
): Promise<Removal> {
  try {
    return await pruneAt(place, { keep: keep!, good: id, damaged, passphraseFile });
  } catch (problem) {
    if (!(problem instanceof StartRefused)) throw problem;
    return { problem: problem.message };
  }
}

function serve(examining: ExamineProcess): void {
  endWithServer(() => examining.stop());
  const send = (message: FromExamineProcess) => process.send!(message, undefined, {}, () => process.exit(0));
  process.on("message", (task: ExamineTask) => {
    examining.examine(task).then(
      (result) => send({ kind: "examined", result }),
      (problem: Error) => send(failedBy(problem)),
    );
  });
}

serve(new ExamineProcess());

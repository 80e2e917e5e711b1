// The process that copies a data folder to a folder of backups. It reads databases as plain files: in the
// process of the server that would release SQLite's locks on them, which belong to the process (POSIX).
import { join } from "node:path";
import { makeFilesPrivate } from "../file-modes.ts";
import { invariant } from "../lib/invariant.ts";
import { endWithServer, failedBy } from "./background-process.ts";
import { copyDataFolder } from "./copy-data-folder.ts";
import { copyIncrement } from "./copy-increment.ts";
import { FrozenCatalog } from "./frozen-catalog.ts";
import type { CopyTask, FromCopyProcess, ToCopyProcess } from "./messages.ts";
import { openPlace } from "./open-place.ts";
import { passphraseIn, Repository } from "./repository.ts";

interface Started {
  readonly task: CopyTask;
  readonly repository: Repository;
  readonly catalog: FrozenCatalog;
  readonly lock: AsyncDisposable;
}

class CopyProcess {
  #started: Started | undefined;

  /** Without it, the lock of an S3 store would last for its term. */
  async unlock(): Promise<void> {
    await this.#started?.lock[Symbol.asyncDispose]();
  }

  async receive(message: ToCopyProcess): Promise<void> {
    if (message.kind === "start") {
      this.#started = await start(message);
      return send({ kind: "ready" });
    }
    invariant(this.#started !== undefined, "the first message starts");
    const { task, repository, catalog } = this.#started;
    if (message.kind === "freezeCatalog")
      return send({ kind: "catalogFrozen", isFrozen: await catalog.freeze(message.waitMs) });
    const copy = message.increment ? copyIncrement : copyDataFolder;
    const result = await copy({ ...task, snapshot: message, repository, catalog }, (progress) =>
      process.send!({ kind: "progress", progress } satisfies FromCopyProcess),
    );
    await this.unlock();
    await send({ kind: "done", result });
    process.exit(0);
  }
}

async function start(task: CopyTask): Promise<Started> {
  makeFilesPrivate();
  const passphrase = passphraseIn(task.passphraseFile);
  const place = await openPlace(task.place, task.s3);
  // Before anything is written: without its disk, the folder may be an empty mount point.
  if (task.mustExist) await Repository.open(place, passphrase);
  const lock = await place.lock("write");
  const openRepository = task.mustExist ? Repository.open : Repository.openOrMake;
  const repository = await openRepository(place, passphrase);
  return { task, repository, lock, catalog: new FrozenCatalog(join(task.data, "catalog.db")) };
}

const send = (message: FromCopyProcess): Promise<void> =>
  new Promise((resolve) => process.send!(message, undefined, {}, () => resolve()));

function serve(copyProcess: CopyProcess): void {
  endWithServer(() => void copyProcess.unlock().finally(() => process.exit(1)));
  process.on("message", (message: ToCopyProcess) => {
    copyProcess.receive(message).catch(async (problem: Error) => {
      await copyProcess.unlock();
      await send(failedBy(problem));
      process.exit(1);
    });
  });
}

serve(new CopyProcess());

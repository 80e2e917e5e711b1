// A temporary folder in which `millrace verify` restores a catalog in the clear. It is removed even if the
// process is killed: the next call does that.
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { holderOf, lockFolder, StartRefused } from "../data-folder.ts";

const prefix = "millrace-verify-";

export class VerifyFolder implements Disposable {
  /** Empty at first. */
  readonly path: string;
  readonly #root: string;
  readonly #unlock: () => void;

  private constructor(root: string, unlock: () => void) {
    this.#root = root;
    this.#unlock = unlock;
    this.path = join(root, "data");
    mkdirSync(this.path, { mode: 0o700 });
  }

  /** Throws `StartRefused` if the folder cannot be made in `temporary`. */
  static make(temporary: string): VerifyFolder {
    try {
      removeLeftovers(temporary);
      const root = mkdtempSync(join(temporary, prefix));
      return new VerifyFolder(root, lockFolder(root) as () => void);
    } catch (problem) {
      throw new StartRefused(`Cannot use the temporary folder ${temporary}: ${(problem as Error).message}`);
    }
  }

  [Symbol.dispose](): void {
    remove(this.#root);
    this.#unlock();
  }
}

/** Removes the folders of this user that no living process has locked. */
function removeLeftovers(temporary: string): void {
  for (const name of readdirSync(temporary).filter((one) => one.startsWith(prefix))) {
    const root = join(temporary, name);
    const found = lstatSync(root, { throwIfNoEntry: false });
    // A folder of another user could lead the lock elsewhere. One without a holder was made just now.
    if (!found?.isDirectory() || found.uid !== process.getuid?.() || !existsSync(holderOf(root))) continue;
    const unlock = lockFolder(root);
    if (unlock === "busy") continue;
    remove(root);
    unlock();
  }
}

/** Threads of this process may still write in it. */
const remove = (root: string): void => rmSync(root, { recursive: true, force: true, maxRetries: 5 });

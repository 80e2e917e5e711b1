// The folder that holds everything: made on the first start, owned by one process at a time, with its secret.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { World } from "./lib/world.ts";

export interface DataFolder {
  readonly path: string;
  /** 32 random bytes, made with the folder: what keys and cursors are signed with is derived from them. */
  readonly secret: Uint8Array;
  /** Lets another process open the folder. */
  release(): void;
}

/** A reason not to start that the operator can do something about. */
export class StartRefused extends Error {}

/** Opens the folder, makes it if need be, and locks it; `StartRefused` when another process holds it. */
export function openDataFolder(path: string, world: World): DataFolder {
  try {
    mkdirSync(path, { recursive: true });
  } catch (problem) {
    throw new StartRefused(`Cannot make the data folder ${path}: ${(problem as Error).message}`);
  }
  const unlock = lock(path);
  return { path, secret: secretOf(path, world), release: unlock };
}

/** The secret of a folder that another process may hold. */
export function secretOf(path: string, world: World): Uint8Array {
  const file = join(path, "secret");
  try {
    return Buffer.from(readFileSync(file, "utf8"), "base64url");
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code !== "ENOENT") throw problem;
  }
  const secret = world.randomBytes(32);
  writeFileSync(file, Buffer.from(secret).toString("base64url"), { mode: 0o600, flag: "wx", flush: true });
  chmodSync(file, 0o600);
  return secret;
}

const busy = 5;

/** SQLite's lock on a file belongs to the process: the system takes it back also after kill -9. */
function lock(path: string): () => void {
  const holderFile = join(path, "holder.pid");
  try {
    const database = new DatabaseSync(join(path, "lock"));
    database.exec(
      "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (x); COMMIT",
    );
    writeFileSync(holderFile, String(process.pid));
    return () => {
      rmSync(holderFile, { force: true });
      database.close();
    };
  } catch (problem) {
    const { errcode, message } = problem as Error & { readonly errcode?: number };
    if (errcode !== busy) throw new StartRefused(`Cannot use the data folder ${path}: ${message}`);
    throw new StartRefused(
      `The data folder ${path} is in use by another process (pid ${holderOf(holderFile)})`,
    );
  }
}

function holderOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "unknown";
  }
}

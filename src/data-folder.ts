// The folder that holds everything: made on the first start, owned by one process at a time, with its secret.
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFilesPrivate, makeFolderPrivate } from "./file-modes.ts";
import type { System } from "./lib/system.ts";

export interface DataFolder {
  readonly path: string;
  /** 32 random bytes, made with the folder: what keys and cursors are signed with is derived from them. */
  readonly secret: Uint8Array;
  /** Lets another process open the folder. */
  release(): void;
}

/** A reason not to start that the operator can do something about. */
export class StartRefused extends Error {}

/**
 * Opens the folder, makes it if need be, and locks it; `StartRefused` when another process holds it. Closes
 * it to other users; `tell` hears of modes that had to change.
 */
export function openDataFolder(path: string, system: System, tell: (text: string) => void): DataFolder {
  makeFilesPrivate();
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (problem) {
    throw unusable(path, problem);
  }
  const unlock = lockDataFolder(path);
  try {
    closeToOthers(path, tell);
    return { path, secret: secretOf(path, system), release: unlock };
  } catch (problem) {
    unlock();
    throw problem;
  }
}

function closeToOthers(path: string, tell: (text: string) => void): void {
  try {
    const changed = makeFolderPrivate(path);
    if (changed.length === 0) return;
    const named = changed.slice(0, changedShownMax).map((one) => relative(path, one) || ".");
    const more = changed.length > named.length ? ` and ${changed.length - named.length} more` : "";
    tell(
      `Other users had access to the data folder ${path}. Only its owner has now: ${named.join(", ")}${more}`,
    );
  } catch (problem) {
    const { message } = problem as Error;
    throw new StartRefused(
      `Other users have access to the data folder ${path}, and it cannot be taken away: ${message}.
Give the folder to the user who runs the server (chown -R), or set MILLRACE_DATA to a folder inside it.`,
    );
  }
}

const changedShownMax = 10;

const unusable = (path: string, problem: unknown) =>
  new StartRefused(
    `Cannot use the data folder ${path}: ${(problem as Error).message}.
Let this user write there, or set MILLRACE_DATA to another folder.`,
  );

/** The catalog's file; a folder without it is new. */
export const catalogFileOf = (path: string): string => join(path, "catalog.db");

/** Which file the catalog of a folder is: a restored or copied one is another file. */
export function catalogPlaceOf(path: string): string {
  const { ino, birthtimeNs } = statSync(catalogFileOf(path), { bigint: true });
  return `${ino} ${birthtimeNs}`;
}

const secretBytes = 32;

/**
 * The secret of a folder that another process may hold. Only a new folder gets one made: another secret
 * would void every key without a word, and a short one could be guessed; both are refused.
 */
export function secretOf(path: string, system: System): Uint8Array {
  const file = join(path, "secret");
  if (!existsSync(file) && !existsSync(catalogFileOf(path))) makeSecret(file, system);
  const secret = Buffer.from(textOf(file), "base64url");
  if (secret.length === secretBytes) return secret;
  throw new StartRefused(
    `The file ${file} is missing or damaged, and the API keys are void without it.
Put it back from a backup; docs/operations.md says how to go on without one.`,
  );
}

/** Gives a new folder the secret of another installation. Throws `StartRefused` if it has a different one. */
export function adoptSecret(path: string, secret: Uint8Array): void {
  const file = join(path, "secret");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) writeSecret(file, secret);
  if (textOf(file) === Buffer.from(secret).toString("base64url")) return;
  throw new StartRefused(`${path} belongs to another installation; choose an empty folder`);
}

const makeSecret = (file: string, system: System) => writeSecret(file, system.randomBytes(secretBytes));

/** Whole or not at all: half a secret would be refused for ever. */
function writeSecret(file: string, secret: Uint8Array): void {
  const text = Buffer.from(secret).toString("base64url");
  writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Only a help for who starts a second process: a full disk must not keep the first one from starting. */
function noteHolder(file: string): void {
  try {
    writeFileSync(file, String(process.pid));
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code !== "ENOSPC") throw problem;
  }
}

/** The name of a file that marks a folder whose restore is not complete. */
export const restoreMarkName = "restore-under-way";

const busy = 5;

/**
 * Locks an existing data folder until the returned function is called; throws `StartRefused` when another
 * process has locked it.
 */
export function lockDataFolder(path: string): () => void {
  if (existsSync(join(path, restoreMarkName)))
    throw new StartRefused(
      `The data folder ${path} is incomplete: its restore was interrupted. Run millrace restore again.`,
    );
  let unlock: ReturnType<typeof lockFolder>;
  try {
    unlock = lockFolder(path);
  } catch (problem) {
    throw unusable(path, problem);
  }
  if (unlock !== "busy") return unlock;
  throw new DataFolderInUse(path, textOf(holderOf(path)) || "unknown");
}

export class DataFolderInUse extends StartRefused {
  /** Its pid. */
  readonly holder: string;

  constructor(path: string, holder: string) {
    super(
      `The data folder ${path} is in use by another process (pid ${holder}).
Stop that one, or set MILLRACE_DATA to another folder.`,
    );
    this.holder = holder;
  }
}

export const holderOf = (path: string): string => join(path, "holder.pid");

/**
 * Locks an existing folder until the returned function is called, unless another process has locked it.
 * SQLite's file lock belongs to the process, so the operating system releases it even after kill -9.
 */
export function lockFolder(path: string): (() => void) | "busy" {
  const holderFile = holderOf(path);
  try {
    const database = new DatabaseSync(join(path, "lock"));
    database.exec(
      "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (x); COMMIT",
    );
    noteHolder(holderFile);
    return () => {
      rmSync(holderFile, { force: true });
      database.close();
    };
  } catch (problem) {
    if ((problem as { readonly errcode?: number }).errcode === busy) return "busy";
    throw problem;
  }
}

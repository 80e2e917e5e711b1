// Runs the scripts of a bundle with the code that V8 compiled in an earlier process. Node's compile cache has
// the code of a module as it is after loading, without that of functions which only requests call. This one
// is written later, so the first requests find their code, too. A script without usable code is compiled.
import {
  closeSync,
  constants as fileFlags,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { constants, Script } from "node:vm";
import { threadId } from "node:worker_threads";
import { crc32 } from "node:zlib";
import { DefaultGrowth } from "./lib/heap-limits.ts";

/**
 * Each script of a bundle is a function with these parameters, which `scriptStart` and `scriptEnd` enclose.
 */
type RunScript = (
  exports: unknown,
  require: (id: string) => unknown,
  module: { exports: unknown },
  ...place: [file: string, folder: string]
) => void;

export const scriptStart = '(function (exports, require, module, __filename, __dirname) {"use strict";';
/** On a line of its own, because the script may end with a comment. */
export const scriptEnd = "\n})";

/**
 * Without stored code: from the start to the first script that is stored. The first requests are over then.
 * A process or thread that ends earlier, as a short command, stores nothing: its code would lack most
 * functions of a server, and is not replaced.
 */
const storeAfterMs = 20_000;
/** The build sets this variable: its server stores its code when it ends, however early. */
export const storesAtEnd = "STORE_COMPILED_CODE";
/** A stop waits so long for the code. A later process stores the rest. */
const storeAtStopMsMax = 2_000;
/** After each script: writing one blocks the thread for up to 20 ms. */
const storePauseMs = 100;

/** Where the first script of a thread is; the code of each kind of thread is stored by itself. */
export interface ScriptEntry {
  readonly thread: string;
  /** A file in the folder of the bundle. Its name changes with its content. */
  readonly file: string;
}

/** Runs the script of the entry, and those that it requires; returns its exports. */
export function runScripts(folder: string, { thread, file: first }: ScriptEntry): unknown {
  const cache = new CodeCache(thread);
  const requireOther = createRequire(join(folder, first));
  const modules = new Map<string, { exports: unknown }>();
  const require = (id: string): unknown => (id.startsWith("./") ? load(id.slice(2)) : requireOther(id));
  const load = (file: string): unknown => {
    const loaded = modules.get(file);
    if (loaded !== undefined) return loaded.exports;
    const module = { exports: {} as unknown };
    modules.set(file, module);
    const path = join(folder, file);
    const run = cache.compile(path) as RunScript;
    try {
      run(module.exports, require, module, path, folder);
    } catch (error) {
      modules.delete(file); // The next import of it runs it again.
      throw error;
    }
    return module.exports;
  };
  if (process.env[storesAtEnd]) process.once("exit", () => cache.store());
  else setTimeout(() => storeFromNowOn(cache), storeAfterMs).unref();
  return load(first);
}

function storeFromNowOn(cache: CodeCache): void {
  cache.storeSlowly();
  process.once("exit", () => cache.store(storeAtStopMsMax));
}

/** Below the folder of Node's compile cache; undefined where that is switched off. */
function storageOf(thread: string, tag: number): string | undefined {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE } = process.env;
  if (!NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE || NODE_V8_COVERAGE) return undefined;
  // V8 refuses the code of another version, of other flags, or for another processor.
  const kind = [process.version, process.arch, tag.toString(16), ownId];
  return join(NODE_COMPILE_CACHE, `scripts-${kind.join("-")}`, thread);
}

const ownId = process.getuid?.() ?? 0;

class CodeCache {
  #folder: string | undefined;
  /** By file name. */
  readonly #unstored = new Map<string, Script>();
  /** V8 refuses code that was stored with other flags. */
  readonly #growth = new DefaultGrowth();

  constructor(thread: string) {
    const folder = storageOf(thread, this.#growth.tag);
    if (folder !== undefined && isUsable(dirname(folder)) && isUsable(folder)) this.#folder = folder;
  }

  /** The value of the script at this path. */
  compile(path: string): unknown {
    const name = basename(path);
    const cachedData = this.#read(name);
    const source = readFileSync(path, "utf8");
    const options = {
      filename: path,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    };
    const script =
      this.#growth.run(() => new Script(source, { ...options, ...(cachedData && { cachedData }) })) ??
      new Script(source, options);
    if (script.cachedDataRejected) this.#remove(name);
    if (cachedData === undefined || script.cachedDataRejected) this.#unstored.set(name, script);
    return script.runInThisContext();
  }

  /** V8 does not notice most damages, and some end the process. */
  #read(name: string): Buffer | undefined {
    if (this.#folder === undefined) return undefined;
    try {
      const stored = readOwn(join(this.#folder, name));
      if (stored === undefined) return undefined;
      const code = stored.subarray(checksumBytes);
      return stored.readUInt32LE() === crc32(code) ? code : undefined;
    } catch {
      return undefined; // There is none, or it is empty.
    }
  }

  /** Stores the code of the scripts that had none at the start; begins with none after this time. */
  store(msMax = Number.POSITIVE_INFINITY): void {
    const untilMs = performance.now() + msMax;
    for (const name of this.#unstored.keys()) if (performance.now() < untilMs) this.#store(name);
  }

  /** The same, with pauses. */
  storeSlowly(): void {
    const [name] = this.#unstored.keys();
    if (name === undefined) return;
    this.#store(name);
    setTimeout(() => this.storeSlowly(), storePauseMs).unref();
  }

  #store(name: string): void {
    const script = this.#unstored.get(name)!;
    this.#unstored.delete(name);
    if (this.#folder === undefined) return;
    const code = this.#growth.run(() => script.createCachedData());
    if (code === undefined) return;
    const checksum = Buffer.alloc(checksumBytes);
    checksum.writeUInt32LE(crc32(code));
    const path = join(this.#folder, name);
    const draft = `${name}.${process.pid}-${threadId}`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      // Of threads of one kind, the one that had more requests has more code.
      if (this.#read(name) !== undefined && statSync(path).size >= checksumBytes + code.length) return;
      writeFileSync(join(this.#folder, draft), Buffer.concat([checksum, code]), { mode: 0o600 });
      renameSync(join(this.#folder, draft), path);
    } catch {
      // Nothing can be written here, so each start compiles.
      this.#remove(draft);
      this.#folder = undefined;
    }
  }

  #remove(name: string): void {
    try {
      rmSync(join(this.#folder!, name), { force: true });
    } catch {
      // It stays, and is refused at each start.
    }
  }
}

const checksumBytes = 4;

/** Stored code runs as it is, so that of another user is not used. Windows has no such owners. */
const isOwn = (found: Stats): boolean => process.getuid === undefined || found.uid === ownId;

/** An own folder, or none so far. */
function isUsable(folder: string): boolean {
  try {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    return found === undefined || (found.isDirectory() && isOwn(found));
  } catch {
    return false; // It cannot be read.
  }
}

/** Undefined if another user may have written the file. */
function readOwn(path: string): Buffer | undefined {
  const file = openSync(path, fileFlags.O_RDONLY | (fileFlags.O_NOFOLLOW ?? 0));
  try {
    const found = fstatSync(file);
    const isShared = process.getuid !== undefined && (found.mode & writableByOthers) !== 0;
    return isOwn(found) && !isShared ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
}

/** By the group or by all. */
const writableByOthers = 0o022;

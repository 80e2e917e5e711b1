// Preloaded into a server (`--import`): kills the process with SIGKILL before the file change number
// KILL_AT of all its threads; KILL_STEPS names the file with the count.
import { fstatSync, openSync, writeSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { DatabaseSync } from "node:sqlite";

const require = createRequire(import.meta.url);
const countFile = process.env["KILL_STEPS"]!;
const killAt = Number(process.env["KILL_AT"]);
const counter = openSync(countFile, "a");

/** Appending a byte is atomic, also between threads. */
function step(): void {
  writeSync(counter, ".");
  if (fstatSync(counter).size === killAt) process.kill(process.pid, "SIGKILL");
}

type Call = (...given: unknown[]) => unknown;

function counted(owner: object, names: readonly string[]): void {
  const calls = owner as Record<string, Call>;
  for (const name of names) {
    const call = calls[name]!;
    calls[name] = function (this: unknown, ...given: unknown[]) {
      step();
      return call.apply(this, given);
    };
  }
}

const fs = require("node:fs") as typeof import("node:fs");
counted(fs, ["mkdirSync", "writeFileSync", "renameSync"]);
counted(fs.promises, ["mkdir", "rename", "open", "unlink"]);
counted(DatabaseSync.prototype, ["exec"]);
syncBuiltinESMExports();

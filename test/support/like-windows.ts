// Loaded before a process of Millrace (`--import`): it then runs as on Windows, as far as Linux can imitate
// that. Names with characters that Windows refuses, folders that are synced, modes and users all fail.
import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { sep } from "node:path";

Object.defineProperty(process, "platform", { value: "win32" });
for (const name of ["getuid", "geteuid", "getgid", "setuid", "setgid", "umask"])
  Object.defineProperty(process, name, { value: undefined });

const refusal = (code: string, call: string) =>
  Object.assign(new Error(`${code}: refused as on Windows, ${call}`), { code, syscall: call });

/** A character, an end or a name that no file of Windows has. */
const refusedName = /[<>:"|?*\\]|[ .]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

function requireName(path: unknown, call: string): void {
  if (typeof path !== "string") return;
  const refused = path.split(sep).some((part) => !/^\.{0,2}$/.test(part) && refusedName.test(part));
  if (refused) throw refusal("EINVAL", `${call} ${path}`);
}

type Call = (...given: unknown[]) => unknown;

/** Runs the check, which throws for refused arguments, before the call. */
function check(owner: object, name: string, refuse: (...given: unknown[]) => void): void {
  const calls = owner as Record<string, Call>;
  const original = calls[name]!;
  const isPromise = owner === fs.promises;
  calls[name] = function (this: unknown, ...given: unknown[]) {
    try {
      refuse(...given);
    } catch (problem) {
      if (isPromise) return Promise.reject(problem);
      throw problem;
    }
    return original.apply(this, given);
  };
}

for (const name of ["open", "mkdir", "writeFile", "rename", "link"]) {
  const paths = (...given: unknown[]) => {
    for (const path of given.slice(0, 2)) requireName(path, name);
  };
  const first = (path: unknown) => requireName(path, name);
  const refuse = name === "rename" || name === "link" ? paths : first;
  check(fs.promises, name, refuse);
  check(fs, `${name}Sync`, refuse);
}
for (const name of ["chmod", "chown"]) {
  const refuse = () => {
    throw refusal("EPERM", name);
  };
  check(fs.promises, name, refuse);
  check(fs, `${name}Sync`, refuse);
}
check(childProcess, "spawn", (command) => {
  if (String(command).startsWith("/bin/")) throw refusal("ENOENT", `spawn ${command}`);
});

const handle = await fs.promises.open(import.meta.filename, "r");
const handles = Object.getPrototypeOf(handle) as Record<string, Call>;
await handle.close();
for (const name of ["sync", "datasync"]) {
  const original = handles[name]!;
  handles[name] = async function (this: fs.promises.FileHandle, ...given: unknown[]) {
    if ((await this.stat()).isDirectory()) throw refusal("EPERM", "fsync");
    return original.apply(this, given);
  };
}
syncBuiltinESMExports();

// Preloaded into a server (`--import`): if the file named by FAILING_SYNC exists, it is deleted and the
// next sync of the journal fails, as on a disk with a bad sector.
import { existsSync, readlinkSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const trigger = process.env["FAILING_SYNC"]!;
const handle = await open(import.meta.filename);
const kind = Object.getPrototypeOf(handle) as FileHandle;
await handle.close();
const { datasync } = kind;

kind.datasync = async function (this: FileHandle) {
  if (existsSync(trigger) && /journal-\d+\.log$/.test(readlinkSync(`/proc/self/fd/${this.fd}`))) {
    rmSync(trigger);
    throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO", syscall: "fdatasync" });
  }
  return datasync.call(this);
};

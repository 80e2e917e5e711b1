// Blobs as files in a folder: `<project>/<id>`, and `<project>/<id>.part` until it is sealed.
import { constants } from "node:fs";
import { type FileHandle, mkdir, mkdtemp, open, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fail } from "../../errors.ts";
import { syncFolder } from "../../lib/durable-files.ts";
import { invariant } from "../../lib/invariant.ts";
import { freeChunk } from "../../lib/streams.ts";
import { limits } from "../../limits.ts";
import type { BlobKey, BlobStore } from "../blobs.ts";
import { boundlessDisk, type DiskSpace } from "../disk-space.ts";
import { linkSigner } from "./links.ts";

/** The file of a sealed blob. */
export const blobPath = (folder: string, { project, id }: BlobKey): string =>
  join(folder, String(project), String(id));

/** Opens the store in `folder`, which is made when it is missing; links are signed with `secret`. */
export async function openLocalBlobs(options: {
  readonly folder: string;
  readonly secret: Uint8Array;
  /** Says whether bytes are taken; a store that is used alone takes all. */
  readonly disk?: DiskSpace;
}): Promise<BlobStore> {
  const { folder, secret, disk = boundlessDisk } = options;
  const unfinished = new UnfinishedParts(disk);
  const signer = linkSigner(secret);
  const pathOf = (key: BlobKey) => blobPath(folder, key);
  const partOf = (key: BlobKey) => `${pathOf(key)}.part`;
  await mkdir(folder, { recursive: true });
  return {
    put: ({ key, at, bytes }) => stored(() => writeAt({ path: partOf(key), at, bytes }, unfinished)),
    async seal(key) {
      await stored(() => seal(partOf(key), pathOf(key)));
      unfinished.forget(partOf(key));
    },
    async open(key, range) {
      const file = await unlessMissing(open(pathOf(key), constants.O_RDONLY | constants.O_NOFOLLOW));
      const piece = range && { start: range.start, end: range.end - 1 };
      return file?.createReadStream({ highWaterMark: readBytes, ...piece });
    },
    async stat(key) {
      const found = await unlessMissing(stat(pathOf(key)));
      return found && { bytes: found.size };
    },
    async check() {
      await rmdir(await mkdtemp(join(folder, "probe-")));
    },
    async remove(key) {
      await rm(partOf(key), { force: true });
      unfinished.forget(partOf(key));
      await rm(pathOf(key), { force: true });
    },
    link: (link, baseUrl) => `${baseUrl}/blobs/${signer.sign(link)}`,
    permitted: (token) => signer.read(token),
  };
}

const readBytes = 256 * 1024;

interface Writing {
  readonly path: string;
  readonly at: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

async function writeAt(writing: Writing, unfinished: UnfinishedParts): Promise<number> {
  const { path, at } = writing;
  const file = await openPart(path);
  try {
    invariant((await file.stat()).size >= at, "what a put goes on from is there");
    await file.truncate(at);
    return await writeAll(file, writing, unfinished).catch(async (problem: unknown) => {
      // What is refused holds no disk.
      await file.truncate(at).catch(() => undefined);
      unfinished.note(path, at);
      throw problem;
    });
  } finally {
    await file.close();
  }
}

/** Returns where the bytes end, which are on disk then. */
async function writeAll(
  file: FileHandle,
  { path, at, bytes }: Writing,
  unfinished: UnfinishedParts,
): Promise<number> {
  let end = at;
  let lookAt = at;
  for await (const chunk of bytes) {
    unfinished.note(path, end + chunk.length);
    if (end >= lookAt) {
      await unfinished.requireRoom();
      lookAt = end + limits.uploadBytesPerLook;
    }
    await writeChunk(file, chunk, end);
    end += chunk.length;
    freeChunk(chunk);
  }
  await file.sync();
  return end;
}

/** How much the parts hold that were written to since the start; the disk itself tells of all. */
class UnfinishedParts {
  readonly #disk: DiskSpace;
  readonly #bytes = new Map<string, number>();
  #total = 0;

  constructor(disk: DiskSpace) {
    this.#disk = disk;
  }

  note(path: string, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(path) ?? 0);
    this.#bytes.set(path, bytes);
  }

  forget(path: string): void {
    this.note(path, 0);
    this.#bytes.delete(path);
  }

  async requireRoom(): Promise<void> {
    const problem = await this.#disk.refusalOfUpload(this.#total);
    if (problem !== undefined) throw fail("file-not-stored", { problem });
  }
}

async function openPart(path: string): Promise<FileHandle> {
  const known = await unlessMissing(open(path, constants.O_RDWR | constants.O_NOFOLLOW));
  if (known) return known;
  await mkdir(dirname(path), { recursive: true });
  const made = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL);
  await syncFolder(dirname(path));
  return made;
}

async function writeChunk(file: FileHandle, chunk: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at + done);
    done += bytesWritten;
  }
}

async function seal(part: string, path: string): Promise<void> {
  const renamed = await unlessMissing(rename(part, path).then(() => true));
  if (!renamed) await stat(path); // Sealed before; anything else is a fault.
  await syncFolder(dirname(path));
}

async function unlessMissing<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw problem;
  }
}

/** What a disk says when it has no room or no right to write. */
const refusals = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS", "EFBIG"]);

async function stored<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (problem) {
    const { code = "" } = problem as NodeJS.ErrnoException;
    throw refusals.has(code) ? fail("file-not-stored", { problem: code }) : problem;
  }
}

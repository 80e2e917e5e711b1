// Stores blobs as files in a folder: `<project>/<id>.part` while incomplete, `<project>/<id>` when complete.
import { constants } from "node:fs";
import { type FileHandle, mkdir, mkdtemp, open, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fail } from "../../errors.ts";
import { syncFolder } from "../../lib/durable-files.ts";
import { freeChunk } from "../../lib/free-memory.ts";
import { invariant } from "../../lib/invariant.ts";
import { unlessMissing } from "../../lib/missing-file.ts";
import { limits } from "../../limits.ts";
import { linkSigner } from "../blob-links.ts";
import type { BlobKey, BlobStore } from "../blobs.ts";
import { refuseDiskErrors } from "../disk-errors.ts";
import { boundlessDisk, type DiskSpace } from "../disk-space.ts";

/** The path of a complete blob. */
export const blobPath = (folder: string, { project, id }: BlobKey): string =>
  join(folder, String(project), String(id));

/** Opens the store in `folder` and creates the folder when it is missing. Links are signed with `secret`. */
export async function openLocalBlobs(options: {
  readonly folder: string;
  readonly secret: Uint8Array;
  /** Refuses uploads when the disk gets full. Without it, no upload is refused in advance. */
  readonly disk?: DiskSpace;
}): Promise<BlobStore> {
  const { folder, secret, disk = boundlessDisk } = options;
  const unfinished = new UnfinishedParts(disk);
  const signer = linkSigner(secret);
  const pathOf = (key: BlobKey) => blobPath(folder, key);
  const partOf = (key: BlobKey) => `${pathOf(key)}.part`;
  await mkdir(folder, { recursive: true });
  return {
    put: ({ key, offset, bytes }) =>
      refuseDiskErrors(() => writePart({ path: partOf(key), offset, bytes }, unfinished)),
    async complete(key) {
      await refuseDiskErrors(() => complete(partOf(key), pathOf(key)));
      unfinished.remove(partOf(key));
    },
    async open(key, range) {
      const file = await unlessMissing(open(pathOf(key), constants.O_RDONLY | constants.O_NOFOLLOW));
      const inclusive = range && { start: range.start, end: range.end - 1 };
      return file?.createReadStream({ highWaterMark: readChunkBytes, ...inclusive });
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
      unfinished.remove(partOf(key));
      await rm(pathOf(key), { force: true });
    },
    link: (link, baseUrl) => `${baseUrl}/blobs/${signer.sign(link)}`,
    readLink: (token) => signer.read(token),
    close: async () => {},
  };
}

const readChunkBytes = 256 * 1024;

interface PartWrite {
  readonly path: string;
  readonly offset: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

async function writePart(write: PartWrite, unfinished: UnfinishedParts): Promise<number> {
  const { path, offset } = write;
  const file = await openPart(path);
  try {
    invariant((await file.stat()).size >= offset, "a put continues within the bytes of earlier puts");
    await file.truncate(offset);
    return await appendChunks(file, write, unfinished).catch(async (problem: unknown) => {
      // A refused part must not occupy the disk.
      await file.truncate(offset).catch(() => undefined);
      unfinished.setSize(path, offset);
      throw problem;
    });
  } finally {
    await file.close();
  }
}

/** Appends the chunks and syncs them. Returns the new size of the file. */
async function appendChunks(
  file: FileHandle,
  { path, offset, bytes }: PartWrite,
  unfinished: UnfinishedParts,
): Promise<number> {
  let end = offset;
  let nextSpaceCheck = offset;
  for await (const chunk of bytes) {
    unfinished.setSize(path, end + chunk.length);
    if (end >= nextSpaceCheck) {
      await unfinished.requireDiskSpace();
      nextSpaceCheck = end + limits.uploadBytesPerDiskCheck;
    }
    await writeChunk(file, chunk, end);
    end += chunk.length;
    freeChunk(chunk);
  }
  await file.sync();
  return end;
}

/**
 * Sizes of the incomplete blobs written since the start of the process. One entry for each; it is removed
 * when the blob is completed or removed.
 */
class UnfinishedParts {
  readonly #disk: DiskSpace;
  readonly #bytes = new Map<string, number>();
  #total = 0;

  constructor(disk: DiskSpace) {
    this.#disk = disk;
  }

  setSize(path: string, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(path) ?? 0);
    this.#bytes.set(path, bytes);
  }

  remove(path: string): void {
    this.setSize(path, 0);
    this.#bytes.delete(path);
  }

  async requireDiskSpace(): Promise<void> {
    const problem = await this.#disk.refusalOfUpload(this.#total);
    if (problem !== undefined) throw fail("file-not-stored", { problem });
  }
}

async function openPart(path: string): Promise<FileHandle> {
  const existing = await unlessMissing(open(path, constants.O_RDWR | constants.O_NOFOLLOW));
  if (existing) return existing;
  await mkdir(dirname(path), { recursive: true });
  const created = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL);
  await syncFolder(dirname(path));
  return created;
}

async function writeChunk(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, position + done);
    done += bytesWritten;
  }
}

async function complete(part: string, path: string): Promise<void> {
  const renamed = await unlessMissing(rename(part, path).then(() => true));
  if (!renamed) await stat(path); // Completed earlier, or the rejection reports the missing blob.
  await syncFolder(dirname(path));
}

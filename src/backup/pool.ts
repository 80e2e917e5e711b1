// The pool of a backup folder: chunks of files under the checksum of their bytes, so that no chunk is stored
// twice, also for several backups and files.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { limits } from "../limits.ts";
import type { ChunkEncoding } from "./encoding.ts";
import type { BackupPlace } from "./place.ts";

/** The size of a chunk. A small change of a large database costs one chunk. */
export const chunkBytes = 256 * 1024;

/** A chunk of the pool is missing or damaged. */
export class DamagedChunk extends Error {
  readonly path: string;
  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.name = "DamagedChunk";
    this.path = path;
  }
}

/** The first byte of a stored chunk. */
const [plain, zstd] = [0, 1];
/** Level 1 is fast on blocks of datapoints, which are compressed already. */
const level = 1;

export class Pool {
  readonly #place: BackupPlace;
  readonly #encoding: ChunkEncoding;
  /** The names in each folder of the pool, read once. */
  readonly #known = new Map<string, Promise<Set<string>>>();
  /** Bytes and chunks that this process has stored. */
  readonly stored = { chunks: 0, bytes: 0 };

  constructor(place: BackupPlace, encoding: ChunkEncoding) {
    this.#place = place;
    this.#encoding = encoding;
  }

  /** Stores the bytes unless the pool has them; returns their name. */
  async add(bytes: Uint8Array): Promise<string> {
    const name = this.#encoding.nameOf(bytes);
    if (await this.has(name)) return name;
    const known = await this.#namesLike(name);
    const stored = this.#encoding.encode(name, packed(bytes));
    await this.#place.write(pathOf(name), stored);
    known.add(name);
    this.stored.chunks += 1;
    this.stored.bytes += stored.length;
    return name;
  }

  /** Whether the pool has the chunk. If so, `sync` of the place makes sure that its name is durable. */
  async has(name: string): Promise<boolean> {
    const isKnown = (await this.#namesLike(name)).has(name);
    // A backup that was killed, or whose machine lost power, may not have synced the folder.
    if (isKnown) this.#place.syncLater(folderOf(name));
    return isKnown;
  }

  /** Throws `DamagedChunk`. */
  async read(name: string): Promise<Uint8Array> {
    const path = pathOf(name);
    const stored = await this.#place.read(path);
    if (stored === undefined) throw new DamagedChunk(path, "it is missing");
    try {
      const bytes = unpacked(this.#encoding.decode(name, stored));
      if (this.#encoding.nameOf(bytes) === name) return bytes;
    } catch {
      // Any failure of the decoder means that the bytes are not those that were stored.
    }
    throw new DamagedChunk(path, "its checksum is wrong");
  }

  /** Reads chunks in order. It begins some reads before the caller needs them: a store may be slow. */
  *readAhead(names: readonly string[]): Generator<Promise<Uint8Array>> {
    const reads: Promise<Uint8Array>[] = [];
    let begun = 0;
    for (let at = 0; at < names.length; at++) {
      for (; begun < Math.min(names.length, at + limits.backupReadsMax); begun++) {
        const read = this.read(names[begun]!);
        read.catch(() => undefined); // The caller gets the error when it awaits the read.
        reads.push(read);
      }
      yield reads.shift()!;
    }
  }

  #namesLike(name: string): Promise<Set<string>> {
    const folder = folderOf(name);
    const found = this.#known.get(folder) ?? this.#place.list(folder).then((names) => new Set(names));
    this.#known.set(folder, found);
    return found;
  }
}

const folderOf = (name: string): string => `${poolFolder}/${name.slice(0, 2)}`;
const pathOf = (name: string): string => `${folderOf(name)}/${name}`;
const poolFolder = "pool";
/** The folders of the pool. */
export const poolFolders: readonly string[] = Array.from(
  { length: 256 },
  (_, number) => `${poolFolder}/${number.toString(16).padStart(2, "0")}`,
);

function packed(bytes: Uint8Array): Uint8Array {
  const compressed = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } });
  const isSmaller = compressed.length < bytes.length;
  return Buffer.concat([Uint8Array.of(isSmaller ? zstd : plain), isSmaller ? compressed : bytes]);
}

function unpacked(stored: Uint8Array): Uint8Array {
  if (stored[0] === plain) return stored.subarray(1);
  return zstdDecompressSync(stored.subarray(1), { maxOutputLength: chunkBytes });
}

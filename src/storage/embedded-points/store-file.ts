// `store.json`: what is decided once, when a store is made.
import { open, readFile, rename } from "node:fs/promises";
import { endianness } from "node:os";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { invariant } from "../../lib/invariant.ts";
import { parseJson } from "../../lib/json.ts";

const format = 2;

export interface StoreFile {
  readonly shards: number;
}

/** What the folder's store was made with; a folder without a store gets one made as `made` says. */
export async function readOrMakeStoreFile(folder: string, made: StoreFile): Promise<StoreFile> {
  invariant(endianness() === "LE", "the formats of the store are little-endian, as is this machine");
  const path = join(folder, "store.json");
  const text = await readFile(path, "utf8").catch((why: NodeJS.ErrnoException) => {
    if (why.code === "ENOENT") return undefined;
    throw why;
  });
  if (text === undefined) return make(folder, path, made);
  return readStoreFile(text, path);
}

/** What the text of a `store.json` says. Throws for one of another version or that is damaged. */
export function readStoreFile(text: string, path: string): StoreFile {
  const found = parseJson(text) as StoreFile & { format: number; crc?: number };
  if (found.format !== format) {
    throw new Error(`${path} has format ${found.format}; this version reads format ${format}`);
  }
  const { shards } = found;
  // With another number every series would be looked for in another shard, and not be found.
  const isWhole = found.crc === undefined || found.crc === checksumOf({ shards });
  if (!isWhole || !Number.isSafeInteger(shards) || shards < 1) throw new Error(`${path} is damaged: ${text}`);
  return { shards };
}

const checksumOf = ({ shards }: StoreFile): number => crc32(JSON.stringify({ format, shards }));

/** Whole or not at all, also when the power fails. */
async function make(folder: string, path: string, made: StoreFile): Promise<StoreFile> {
  const draft = `${path}.new`;
  const file = await open(draft, "w");
  try {
    await file.writeFile(`${JSON.stringify({ format, ...made, crc: checksumOf(made) })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  for (const changed of [folder, dirname(folder)]) await syncFolder(changed);
  return made;
}

/** The folder's own name lies in its parent. */
async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

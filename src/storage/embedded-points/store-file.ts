// `store.json`: the properties of a store that are fixed when it is created.
import { randomInt } from "node:crypto";
import { endianness } from "node:os";
import { isIntact, readUnchecked, writeChecked } from "../../lib/durable-files.ts";
import { invariant } from "../../lib/invariant.ts";
import { CannotOpen, refuseOtherFormat } from "../cannot-open.ts";

const format = "millrace-points";
const version = 1;
const name = "store.json";

export interface StoreFile {
  /** A random number that all shards have too, so that a shard of another store is recognised. */
  readonly store: number;
  readonly shards: number;
}

const storeNumberMax = 2 ** 48 - 1;
export const newStore = (shards: number): StoreFile => ({ store: randomInt(storeNumberMax), shards });

/**
 * Reads the file; undefined for a folder without a store. Throws when it is damaged or of another version.
 */
export async function readStoreFile(folder: string): Promise<StoreFile | undefined> {
  invariant(endianness() === "LE", "the formats of the store are little-endian, as is this machine");
  const found = await readUnchecked(folder, name);
  if (found === undefined) return undefined;
  const path = `${folder}/${name}`;
  if (typeof found["format"] === "number")
    throw new CannotOpen(`${path} was written by a development version before 0.1.0`, "older");
  refuseOtherFormat(path, found["version"], version);
  if (!isIntact(found)) throw new CannotOpen(`${path} is damaged: ${JSON.stringify(found)}`, "damaged");
  const { store, shards } = found as unknown as StoreFile;
  return { store, shards };
}

/** Call when the files of all shards are on disk: once `store.json` exists, each of them must exist. */
export const writeStoreFile = (folder: string, { store, shards }: StoreFile): Promise<void> =>
  writeChecked(folder, name, { format, version, store, shards });

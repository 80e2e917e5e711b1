// `store.json`: what is decided once, when a store is made.
import { randomInt } from "node:crypto";
import { endianness } from "node:os";
import { isIntact, readUnchecked, writeChecked } from "../../lib/durable-files.ts";
import { invariant } from "../../lib/invariant.ts";
import { CannotOpen, refuseOtherFormat } from "../cannot-open.ts";

const format = "millrace-points";
const version = 1;
const name = "store.json";

export interface StoreFile {
  /** A random number that all shards carry: those of another store are not taken for these. */
  readonly store: number;
  readonly shards: number;
}

const storesBelow = 2 ** 48 - 1;
export const newStore = (shards: number): StoreFile => ({ store: randomInt(storesBelow), shards });

/**
 * What the folder's store was made with; undefined for a folder without a store. Throws for one of another
 * version or that is damaged.
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

/** Written after the files of all shards: once it is there, each of them must be. */
export const writeStoreFile = (folder: string, { store, shards }: StoreFile): Promise<void> =>
  writeChecked(folder, name, { format, version, store, shards });

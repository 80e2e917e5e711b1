// The parts of a data folder: a record in the catalog, and a mark in each folder that belongs to it.
//
// The record and the marks hold the same random number and the same generation, which grows with each start.
// So a start notices a part that is missing, of another data folder, or from an older backup than the rest.
// Where the catalog is outside of the data folder, it has a record for each folder, and the data folder has a
// mark too.

import { isIntact, readUnchecked, writeChecked } from "../lib/durable-files.ts";
import { oneOf } from "../query/filter.ts";
import { refuseOtherFormat } from "./cannot-open.ts";
import type { Catalog, Table } from "./catalog.ts";

export interface Manifest {
  /** `ownFolder` in the catalog of the folder; the number of the folder in a catalog outside of it. */
  readonly id: number;
  readonly folder: number;
  readonly generation: number;
  /**
   * `creating`: the first start is under way, so parts may be missing. `starting`: marks may still have the
   * generation before. `open`: all parts are there with this generation.
   */
  readonly phase: "creating" | "starting" | "open";
}

export const ownFolder = 1;

export const manifestTable: Table<Manifest> = {
  name: "manifest",
  belongsTo: "system",
  columns: {
    id: { type: "integer", optional: false },
    folder: { type: "integer", optional: false },
    generation: { type: "integer", optional: false },
    phase: { type: "text", optional: false },
  },
  indexes: [],
  unique: [],
  wordsOf: [],
};

export const writeManifest = (catalog: Catalog, manifest: Manifest): Promise<void> =>
  catalog.write("system", async (tx) => {
    const isNew = (await tx.get(manifestTable, [manifest.id])).length === 0;
    await tx[isNew ? "insert" : "replace"](manifestTable, [manifest]);
  });

/** Whether a start has opened all stores of a catalog, in whichever data folder. */
export const wasOpened = (catalog: Catalog): Promise<boolean> =>
  catalog.read("system", async (tx) => (await tx.count(manifestTable, opened)) > 0);
const opened = oneOf("phase", ["starting", "open"] satisfies Manifest["phase"][]);

/** The mark of a folder: the data folder that it belongs to. */
export type Mark = Pick<Manifest, "folder" | "generation">;

const format = 1;
export const markName = "identity.json";

export const writeMark = (folder: string, { folder: number, generation }: Mark): Promise<void> =>
  writeChecked(folder, markName, { format, folder: number, generation });

/** Reads the mark of a folder; undefined if there is none. Throws for a damaged one. */
export async function readMark(folder: string): Promise<Mark | undefined> {
  const found = await readUnchecked(folder, markName);
  if (found === undefined) return undefined;
  refuseOtherFormat(`${folder}/${markName}`, found["format"], format);
  if (!isIntact(found)) throw new Error(`${folder}/${markName} is damaged: ${JSON.stringify(found)}`);
  const { folder: number, generation } = found as unknown as Mark;
  return { folder: number, generation };
}

// The record of a copy of the whole installation, in the catalogs of its source and of its target. As long as
// a catalog has one, no server and no command changes this installation.
import { StartRefused } from "../data-folder.ts";
import { everything } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { Catalog, Table } from "../storage/catalog.ts";

export interface CopyRecord {
  /** Higher than the ids of all records of the source, so that the target gives none of them again. */
  readonly id: number;
  readonly role: "source" | "target";
  /** A random number that the source and the target of one copy have in common. */
  readonly copy: number;
  /** `moved`: the copy is complete and verified, and the target has replaced the source. */
  readonly phase: "copying" | "moved";
  /** The other side, as its operator named it. */
  readonly other: string;
}

export const copyTable: Table<CopyRecord> = {
  name: "installation_copies",
  belongsTo: "system",
  columns: {
    id: { type: "integer", optional: false },
    role: { type: "text", optional: false },
    copy: { type: "integer", optional: false },
    phase: { type: "text", optional: false },
    other: { type: "text", optional: false },
  },
  indexes: [],
  unique: [],
  wordsOf: [],
};

/** The record of the catalog, if a copy reads or writes it. */
export async function copyRecordOf(catalog: Catalog): Promise<CopyRecord | undefined> {
  const query = { filter: everything, order: byId, page: { limit: 1 } };
  const [record] = await catalog.read("system", (tx) => tx.find(copyTable, query));
  return record;
}

/** Replaces the record of the catalog; without one, removes it. */
export const writeCopyRecord = (catalog: Catalog, record: CopyRecord | undefined): Promise<void> =>
  catalog.write("system", async (tx) => {
    await tx.remove(copyTable, everything);
    if (record) await tx.insert(copyTable, [record]);
  });

/** Throws `StartRefused` if a copy reads or writes this catalog. */
export async function refuseWhileCopied(catalog: Catalog): Promise<void> {
  const record = await copyRecordOf(catalog);
  if (record === undefined) return;
  throw new StartRefused(reasonOf(record));
}

function reasonOf({ role, phase, other }: CopyRecord): string {
  if (role === "target")
    return `This installation is an unfinished copy of ${other}.
Run the same \`millrace copy\` again to finish it (docs/scale.md#moving-an-installation).`;
  if (phase === "copying")
    return `This installation is being copied to ${other}, and accepts no changes until then.
Run the same \`millrace copy\` again, which serves reads; or give the copy up: \`millrace copy --release\`.`;
  return `This installation was moved to ${other}: start the servers of that one.
To use this one again, without what has changed there since: \`millrace copy --release\`.`;
}

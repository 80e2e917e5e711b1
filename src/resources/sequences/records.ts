// Records of sequences in a transaction: those a caller may touch, and what must hold before a write.
import { existingRecords, type IdsNamed } from "../../query/existing.ts";
import type { Filter } from "../../query/filter.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { type Sequence, sequenceTable } from "./schema.ts";

/** With the noun for them in a refusal. */
export const sequenceType = { table: sequenceTable, noun: "sequence" };

/** What a path names. */
export const inPath = (id: number): IdsNamed => ({ ids: [id], field: "sequenceId", status: 404 });

/** These sequences in the order asked. Refuses repeated ids (400), and ids outside of `scope` as unknown. */
export const existingSequences = (tx: CatalogReader, scope: Filter, named: IdsNamed): Promise<Sequence[]> =>
  existingRecords(tx, sequenceTable, scope, named);

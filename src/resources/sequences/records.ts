// Sequence rows in a transaction: reads of rows that the caller may use.

import type { Filter } from "../../query/filter.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { existingRecords, type IdsNamed } from "../../storage/existing-records.ts";
import { type Sequence, sequenceTable } from "./schema.ts";

/** The sequence table, with the noun for its records in refusals. */
export const sequenceType = { table: sequenceTable, noun: "sequence" };

/** The sequence of a path parameter. */
export const inPath = (id: number): IdsNamed => ({ ids: [id], field: "sequenceId", status: 404 });

/**
 * The rows of the ids, in the same order. Refuses (400) repeated ids, and unknown ids; ids outside
 * `permitted` count as unknown.
 */
export const existingSequences = (
  tx: CatalogReader,
  permitted: Filter,
  named: IdsNamed,
): Promise<Sequence[]> => existingRecords(tx, sequenceTable, permitted, named);

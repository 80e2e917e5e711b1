// Applies updates and restored times to file records.
import { limits } from "../../limits.ts";
import type { CatalogWriter } from "../../storage/catalog.ts";
import {
  type CommonChange,
  changeList,
  changeRecord,
  type ListChange,
  nullIfEmpty,
} from "../common/changes.ts";
import { type RecordTimes, timedRecords } from "../common/restored-times.ts";
import { fileTable, type StoredFile } from "./schema.ts";

/** Values to set; `null` clears a member, an absent member leaves it. */
export interface FileChange extends CommonChange {
  readonly name?: string | undefined;
  readonly directory?: string | null | undefined;
  readonly source?: string | null | undefined;
  readonly sourceId?: string | null | undefined;
  readonly fileType?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly assetIds?: ListChange<number> | undefined;
  readonly tags?: ListChange<string> | undefined;
}

/** Applies the change. Returns the same object if nothing changes. */
export function changeFile(file: StoredFile, change: FileChange, nowMs: number): StoredFile {
  const boundsOf = (field: string) => ({ field, limit: limits.fileLinksMax });
  const values = {
    ...change,
    directory: change.directory === null ? "" : change.directory,
    metadata: change.metadata === null ? {} : change.metadata,
    assetIds: nullIfEmpty(changeList(file.assetIds, change.assetIds, boundsOf("assetIds"))),
    tags: nullIfEmpty(changeList(file.tags, change.tags, boundsOf("tags"))),
  };
  return changeRecord(file, values, nowMs);
}

export const timedFiles = timedRecords(fileTable, {
  acl: "filesAcl",
  restoreMore: (tx, _, times) => restoreUploadTimes(tx, times),
});

async function restoreUploadTimes(tx: CatalogWriter, times: readonly RecordTimes[]): Promise<void> {
  const uploaded = times.flatMap(({ id, uploadedTime }) =>
    uploadedTime === undefined ? [] : [{ id, uploadedTime }],
  );
  await tx.setColumns(fileTable, ["uploadedTime"], uploaded);
}

// What an update does to the record of a file.
import { isDeepStrictEqual } from "node:util";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { StoredFile } from "./schema.ts";

/** Values to set; `null` clears a member, an absent one stays. */
export interface FileChange {
  readonly name?: string | undefined;
  readonly directory?: string | null | undefined;
  readonly source?: string | null | undefined;
  readonly sourceId?: string | null | undefined;
  readonly fileType?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly assetIds?: ListChange<number> | undefined;
  readonly tags?: ListChange<string> | undefined;
}

/** First `set`, or what the file has, then what to add, then what to take away. */
export interface ListChange<Item> {
  readonly set?: readonly Item[] | undefined;
  readonly add?: readonly Item[] | undefined;
  readonly remove?: readonly Item[] | undefined;
}

/** The record with the change in it; the very same record when nothing is new. */
export function changeFile(file: StoredFile, change: FileChange, nowMs: number): StoredFile {
  const { assetIds, tags, ...members } = change;
  const asked = Object.entries(members).filter(([, value]) => value !== undefined);
  const lists = {
    assetIds: changeList("assetIds", file.assetIds, assetIds),
    tags: changeList("tags", file.tags, tags),
  };
  const present = Object.entries({ ...file, ...Object.fromEntries(asked), ...lists });
  const kept = present.filter(([, value]) => value !== null && value !== undefined);
  const changed = {
    ...(Object.fromEntries(kept) as unknown as StoredFile),
    directory: change.directory === undefined ? file.directory : (change.directory ?? ""),
    metadata: change.metadata === undefined ? file.metadata : (change.metadata ?? {}),
  };
  return isDeepStrictEqual(changed, file) ? file : { ...changed, lastUpdatedTime: nowMs };
}

function changeList<Item>(
  field: string,
  held: readonly Item[] | undefined,
  change: ListChange<Item> | undefined,
): readonly Item[] | undefined {
  if (!change) return held;
  const removed = new Set(change.remove);
  const items = [...new Set([...(change.set ?? held ?? []), ...(change.add ?? [])])];
  const left = items.filter((item) => !removed.has(item));
  const limit = limits.fileLinksMax;
  if (left.length > limit) throw fail("too-many", { field, limit, got: left.length });
  return left.length === 0 ? undefined : left;
}

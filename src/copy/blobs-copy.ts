// Copies the bytes of files to another store, and compares the two.
import { createHash } from "node:crypto";
import { limits } from "../limits.ts";
import { equals, not } from "../query/filter.ts";
import { byId, type Position } from "../query/page.ts";
import { attachmentTable, fileTable } from "../resources/files/schema.ts";
import type { BlobKey, BlobStore } from "../storage/blobs.ts";
import type { Catalog, ProjectId } from "../storage/catalog.ts";
import type { Sum } from "./catalog-copy.ts";

/** The blobs that the records of a project name, a page at a time. */
export async function* blobsOf(catalog: Catalog, project: ProjectId): AsyncGenerator<BlobKey[]> {
  for (const table of [fileTable, attachmentTable] as const) {
    let after: Position | undefined;
    for (;;) {
      const page = { limit: limits.copyRecordsAtOnce, ...(after && { after }) };
      const query = { filter: not(equals("content", null)), order: byId, page, fields: ["id", "content"] };
      const found: { readonly id: number; readonly content?: number }[] = await catalog.read(project, (tx) =>
        tx.find<{ id: number; content?: number }>(table as never, query),
      );
      const last = found.at(-1);
      if (last === undefined) break;
      yield found.flatMap(({ content }) => (content === undefined ? [] : [{ project, id: content }]));
      after = [last.id];
    }
  }
}

export interface BlobCopyStores {
  readonly from: BlobStore;
  readonly to: BlobStore;
}

/** Copies a blob unless the target has it. The source may lack one after a loss of files. */
export async function copyBlob({ from, to }: BlobCopyStores, key: BlobKey): Promise<void> {
  if (await to.stat(key)) return;
  const bytes = await from.open(key);
  if (bytes === undefined) return;
  await to.put({ key, offset: 0, bytes });
  await to.complete(key);
}

/** The size of a blob, and a checksum over its bytes; undefined without one. */
export async function sumOfBlob(store: BlobStore, key: BlobKey): Promise<Sum | undefined> {
  const bytes = await store.open(key);
  if (bytes === undefined) return undefined;
  const hash = createHash("sha256");
  let count = 0;
  for await (const chunk of bytes as AsyncIterable<Uint8Array>) {
    hash.update(chunk);
    count += chunk.length;
  }
  return { count, sha256: hash.digest("hex") };
}

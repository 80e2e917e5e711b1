// Compares the sizes of files with the catalog, for `millrace doctor`.
import { stat } from "node:fs/promises";
import { blobsFolderOf, type DataPlace } from "../data-parts.ts";
import type { BlobKey } from "../storage/blobs.ts";
import type { Finding } from "../storage/findings.ts";
import { blobPath } from "../storage/local-blobs/local-blobs.ts";
import { S3Bucket } from "../storage/s3-blobs/s3-bucket.ts";
import { objectsOf } from "../storage/s3-blobs/upload-record.ts";

/** Files whose size is not the size in the catalog, which is that of `named`. */
export async function findingsOfBlobs(
  place: DataPlace,
  named: Iterable<SizedBlob> | AsyncIterable<SizedBlob>,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  await using sizes = await blobSizes(place);
  const examineBlob = async ({ project, id, bytes }: SizedBlob) => {
    const size = await sizes.of({ project, id });
    if (size === bytes) return;
    const found = size === undefined ? "no file" : `${size} bytes`;
    findings.push({ file: `${sizes.folder}/${project}/${id}`, offset: 0, expected: `${bytes} bytes`, found });
  };
  let batch: Promise<void>[] = [];
  for await (const blob of named) {
    batch.push(examineBlob(blob));
    if (batch.length < blobsAtOnce) continue;
    await Promise.all(batch);
    batch = [];
  }
  await Promise.all(batch);
  return findings;
}

export type SizedBlob = BlobKey & { readonly bytes: number };

const blobsAtOnce = 32;

interface BlobSizes extends AsyncDisposable {
  /** Where the blobs are, for findings. */
  readonly folder: string;
  readonly of: (key: BlobKey) => Promise<number | undefined>;
}

/** Reads sizes without opening a store: that would create folders. */
async function blobSizes({ data, blobs }: DataPlace): Promise<BlobSizes> {
  if (blobs === undefined)
    return {
      folder: "blobs",
      of: async (key) => (await stat(blobPath(blobsFolderOf(data), key)).catch(() => undefined))?.size,
      [Symbol.asyncDispose]: async () => {},
    };
  const { bucket, prefix } = blobs.location;
  const opened = await S3Bucket.open(blobs.location, blobs.credentials);
  return {
    folder: `s3://${bucket}/${prefix}files`,
    of: async (key) => (await opened.head(objectsOf(prefix, key).blob))?.bytes,
    [Symbol.asyncDispose]: async () => opened.close(),
  };
}

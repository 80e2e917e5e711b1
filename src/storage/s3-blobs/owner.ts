// The owner of the objects: the data folder, or the shared catalog, that names them. Without it, two catalogs
// that use one bucket and prefix would overwrite each other's files.
import { text } from "node:stream/consumers";
import { parseJson } from "../../lib/json.ts";
import { contentOf } from "./content.ts";
import { S3Refusal } from "./retry.ts";
import type { S3Bucket } from "./s3-bucket.ts";

/** The objects belong to another data folder or shared catalog. */
export class ForeignBucket extends Error {
  override readonly name = "ForeignBucket";
}

interface Identity {
  readonly format: 1;
  readonly folder: number;
}

/** Records the data folder as owner, or throws `ForeignBucket` when another one is recorded. */
export async function claimBucket(bucket: S3Bucket, prefix: string, folder: number): Promise<void> {
  const key = `${prefix}identity.json`;
  const owner = (await ownerIn(bucket, key)) ?? (await recordOwner(bucket, key, folder));
  if (owner !== folder)
    throw new ForeignBucket(
      `The S3 store has files of another data folder or catalog (${owner}) under "${prefix}", ` +
        `not of this one (${folder})`,
    );
}

async function ownerIn(bucket: S3Bucket, key: string): Promise<number | undefined> {
  const found = await bucket.get(key);
  return found && (parseJson(await text(found.stream)) as Identity).folder;
}

/** Of two servers that record at the same time, the second one sees the owner that the first recorded. */
async function recordOwner(bucket: S3Bucket, key: string, folder: number): Promise<number | undefined> {
  try {
    const identity: Identity = { format: 1, folder };
    await bucket.put(key, contentOf(JSON.stringify(identity)), { etag: undefined });
    return folder;
  } catch (problem) {
    if (!(problem instanceof S3Refusal)) throw problem;
    return ownerIn(bucket, key);
  }
}

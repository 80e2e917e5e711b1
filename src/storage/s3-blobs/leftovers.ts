// Removes the leftovers of interrupted uploads from the store: multipart uploads and segments that no record
// names, and records that no link can continue.
import { limits } from "../../limits.ts";
import type { BlobKey } from "../blobs.ts";
import { S3Refusal } from "./retry.ts";
import type { ListedObject, S3Bucket } from "./s3-bucket.ts";
import {
  blobsPrefix,
  namesIn,
  objectsOf,
  recordName,
  stagingPrefix,
  UploadRecord,
  type UploadState,
} from "./upload-record.ts";

interface Place {
  readonly bucket: S3Bucket;
  readonly prefix: string;
  /** Removes a blob, complete or not. */
  readonly remove: (key: BlobKey) => Promise<void>;
}

/** Any server may run it at any time. */
export async function removeLeftovers(place: Place, nowMs: number): Promise<void> {
  await abortForgottenUploads(place, nowMs - limits.s3LeftoverMs);
  await removeForgottenObjects(place, nowMs - limits.s3LeftoverMs);
}

async function abortForgottenUploads({ bucket, prefix }: Place, beforeMs: number): Promise<void> {
  try {
    for await (const { key, upload, startedMs } of bucket.listUploads(prefix + blobsPrefix)) {
      if (startedMs > beforeMs) continue;
      const state = await stateOf(bucket, prefix, keyIn(key, prefix + blobsPrefix));
      if (state?.upload !== upload) await bucket.abortUpload(key, upload);
    }
  } catch (problem) {
    // Such a store needs a lifecycle rule that aborts multipart uploads (docs/scale.md#leftovers).
    if (!(problem instanceof S3Refusal) || problem.code !== "NotImplemented") throw problem;
  }
}

async function removeForgottenObjects({ bucket, prefix, remove }: Place, beforeMs: number): Promise<void> {
  for await (const object of bucket.list(prefix + stagingPrefix)) {
    if (object.modifiedMs > beforeMs) continue;
    const key = keyIn(object.key, prefix + stagingPrefix);
    if (key === undefined) continue;
    if (isDeadRecord(object, beforeMs)) await remove(key);
    else if (!object.key.endsWith(`/${recordName}`)) await removeUnlessNamed(bucket, prefix, object.key, key);
  }
}

/** A link to an upload is valid for a week at most. */
const isDeadRecord = ({ key, modifiedMs }: ListedObject, beforeMs: number): boolean =>
  key.endsWith(`/${recordName}`) && modifiedMs < beforeMs - limits.resumableLinkMs;

async function removeUnlessNamed(
  bucket: S3Bucket,
  prefix: string,
  object: string,
  key: BlobKey,
): Promise<void> {
  const state = await stateOf(bucket, prefix, key);
  const name = object.slice(object.lastIndexOf("/") + 1);
  if (!namesIn(state).includes(name)) await bucket.delete(object);
}

async function stateOf(
  bucket: S3Bucket,
  prefix: string,
  key: BlobKey | undefined,
): Promise<UploadState | undefined> {
  return key && (await UploadRecord.load(bucket, objectsOf(prefix, key))).state;
}

/** The blob of an object; undefined for an object that this program has not written. */
function keyIn(name: string, prefix: string): BlobKey | undefined {
  const [, project, id] = /^(\d{1,16})\/(\d{1,16})(\/|$)/.exec(name.slice(prefix.length)) ?? [];
  return project === undefined ? undefined : { project: Number(project), id: Number(id) };
}

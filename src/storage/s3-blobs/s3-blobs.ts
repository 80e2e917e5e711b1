// Stores blobs as objects in a bucket of an S3 store, for any number of servers.
//
// `files/<project>/<id>` is a complete blob. `uploads/<project>/<id>/` has the record and the segments of an
// incomplete one (upload-record.ts).
import type { System } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { linkSigner } from "../blob-links.ts";
import type { BlobKey, BlobStore } from "../blobs.ts";
import { refuseDiskErrors } from "../disk-errors.ts";
import { boundlessDisk, type DiskSpace } from "../disk-space.ts";
import { contentOf } from "./content.ts";
import { removeLeftovers } from "./leftovers.ts";
import { claimBucket } from "./owner.ts";
import { readObject } from "./read.ts";
import { S3Bucket, type S3Credentials } from "./s3-bucket.ts";
import type { S3Location } from "./s3-location.ts";
import { objectsOf } from "./upload-record.ts";
import { appendBytes, completeBlob, removeBlob } from "./write.ts";

/** Where the blobs are. Without credentials, those of the machine are used. */
export interface S3Setting {
  readonly location: S3Location;
  readonly credentials?: S3Credentials;
}

export interface S3Opening {
  readonly setting: S3Setting;
  /** The number of the data folder whose catalog names the blobs. */
  readonly owner: number;
  /** Signs links. */
  readonly secret: Uint8Array;
  /** Has one temporary file for each upload that is being received. */
  readonly spoolFolder: string;
  readonly disk?: DiskSpace;
  readonly system: System;
  /** Called when leftovers cannot be removed. */
  readonly onSweepFailure: (problem: unknown) => void;
}

/** Sends no request, so that a server starts while the store is away. */
export async function openS3Blobs(opening: S3Opening): Promise<BlobStore> {
  const { setting, secret, spoolFolder, disk = boundlessDisk, system } = opening;
  const { prefix } = setting.location;
  const bucket = await S3Bucket.open(setting.location, setting.credentials);
  const claim = onceSucceeded(() => claimBucket(bucket, prefix, opening.owner));
  const signer = linkSigner(secret);
  const targetOf = (key: BlobKey) => ({ bucket, objects: objectsOf(prefix, key), spoolFolder, disk });
  const remove = async (key: BlobKey) => {
    await claim();
    await removeBlob(targetOf(key));
  };
  const sweeper = sweepAtIntervals(async () => {
    await claim();
    await removeLeftovers({ bucket, prefix, remove }, system.nowMs());
  }, opening.onSweepFailure);
  return {
    async put({ key, ...part }) {
      await claim();
      return refuseDiskErrors(() => appendBytes(targetOf(key), part));
    },
    async complete(key) {
      await claim();
      await refuseDiskErrors(() => completeBlob(targetOf(key)));
    },
    async open(key, range) {
      await claim();
      return readObject(bucket, objectsOf(prefix, key).blob, range);
    },
    async stat(key) {
      await claim();
      const found = await bucket.head(objectsOf(prefix, key).blob);
      return found && { bytes: found.bytes };
    },
    check: sharedCheck(system, async () => {
      await bucket.probe(`${prefix}health`, contentOf("ok"));
      await claim();
    }),
    remove,
    link: (link, baseUrl) => `${baseUrl}/blobs/${signer.sign(link)}`,
    readLink: (token) => signer.read(token),
    async close() {
      await sweeper.stop();
      bucket.close();
    },
  };
}

/** Runs the task until it succeeds once; callers at the same time share an attempt. */
function onceSucceeded(task: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => {
    result ??= task().catch((problem: unknown) => {
      result = undefined;
      throw problem;
    });
    return result;
  };
}

/** One check at a time, whose result counts for a short time: monitoring may call often. */
function sharedCheck(system: System, check: () => Promise<void>): () => Promise<void> {
  let latest: { readonly result: Promise<void>; readonly startedMs: number } | undefined;
  return () => {
    const nowMs = system.monotonicMs();
    if (latest === undefined || nowMs - latest.startedMs > limits.s3ProbeKeptMs)
      latest = { result: check(), startedMs: nowMs };
    return latest.result;
  };
}

function sweepAtIntervals(
  sweep: () => Promise<void>,
  onFailure: (problem: unknown) => void,
): { readonly stop: () => Promise<void> } {
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(sweep).catch(onFailure);
  }, limits.s3SweepMs);
  return {
    stop() {
      clearInterval(timer);
      return running;
    },
  };
}

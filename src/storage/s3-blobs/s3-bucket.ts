// One bucket: requests to the store with retries, checksums, and bounds of time and sockets.
import type { Readable } from "node:stream";
import type * as Sdk from "@aws-sdk/client-s3";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { ByteRange } from "../blobs.ts";
import type { Content } from "./content.ts";
import { ChecksumMismatch, S3Refusal, withRetries } from "./retry.ts";
import type { S3Location } from "./s3-location.ts";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The part of an object's bytes that a response contains. */
export interface ObjectBytes {
  readonly stream: Readable;
  /** Without quotes. */
  readonly etag: string;
  /** The ETag is a checksum of the bytes. It is not when the store encrypts with a key of its user. */
  readonly hasChecksum: boolean;
}

/** The state that an object must have for a write: this ETag, or absent. */
export type WriteCondition = { readonly etag: string | undefined };

export interface ListedObject {
  readonly key: string;
  readonly modifiedMs: number;
}

export interface ListedUpload {
  readonly key: string;
  readonly upload: string;
  readonly startedMs: number;
}

interface GetOptions {
  /** Without an end, up to the last byte. */
  readonly range?: Pick<ByteRange, "start"> & Partial<Pick<ByteRange, "end">>;
  readonly etag?: string;
  /** The reader may be slow. */
  readonly isDownload?: boolean;
}

export class S3Bucket {
  readonly #sdk: typeof Sdk;
  /** Downloads have sockets of their own: slow readers must not delay anything else. */
  readonly #downloads: Sdk.S3Client;
  readonly #client: Sdk.S3Client;
  readonly #bucket: string;

  private constructor(sdk: typeof Sdk, location: S3Location, credentials: S3Credentials | undefined) {
    const clientWith = (maxSockets: number) => new sdk.S3Client(configOf(location, credentials, maxSockets));
    this.#sdk = sdk;
    this.#bucket = location.bucket;
    this.#client = clientWith(limits.s3SocketsMax);
    this.#downloads = clientWith(limits.s3DownloadSocketsMax);
  }

  /** Without credentials, the client looks for those of the machine. Sends no request. */
  static async open(location: S3Location, credentials?: S3Credentials): Promise<S3Bucket> {
    // 35 MB of memory that a server with a folder does not need.
    return new S3Bucket(await import("@aws-sdk/client-s3"), location, credentials);
  }

  /**
   * Stores an object and returns its ETag. With a condition, refuses (`PreconditionFailed`) another state.
   */
  put(key: string, content: Content, condition?: WriteCondition): Promise<string> {
    return withRetries(() => this.#put(key, content, condition));
  }

  /** Stores a tiny object, with one attempt and little time. */
  async probe(key: string, content: Content): Promise<void> {
    await withRetries(() => this.#put(key, content, undefined, AbortSignal.timeout(limits.s3ProbeMs)), 1);
  }

  #put(key: string, content: Content, condition?: WriteCondition, signal?: AbortSignal): Promise<string> {
    const conditions =
      condition && (condition.etag === undefined ? { IfNoneMatch: "*" } : { IfMatch: condition.etag });
    return this.#send(content, (body, isBroken) => {
      const command = new this.#sdk.PutObjectCommand({ ...this.#at(key), ...body, ...conditions });
      declareChecksum(command, content);
      const abortSignal = signal ? AbortSignal.any([signal, isBroken]) : isBroken;
      return this.#client.send(command, { abortSignal });
    });
  }

  /** Undefined when there is no such object. With an ETag, refuses (`PreconditionFailed`) another object. */
  async get(
    key: string,
    { range, etag, isDownload = false }: GetOptions = {},
  ): Promise<ObjectBytes | undefined> {
    const client = isDownload ? this.#downloads : this.#client;
    const input = {
      ...this.#at(key),
      ...(range && { Range: `bytes=${range.start}-${range.end === undefined ? "" : range.end - 1}` }),
      ...(etag !== undefined && { IfMatch: `"${etag}"` }),
    };
    const found = await unlessMissing(withRetries(() => client.send(new this.#sdk.GetObjectCommand(input))));
    if (!found) return undefined;
    const stream = found.Body as Readable;
    stream.on("error", () => {}); // Its reader gets the error too, if it still reads.
    return { stream, etag: etagOf(found), hasChecksum: hasChecksum(found) };
  }

  async head(key: string): Promise<{ readonly bytes: number; readonly etag: string } | undefined> {
    const found = await unlessMissing(
      withRetries(() => this.#client.send(new this.#sdk.HeadObjectCommand(this.#at(key)))),
    );
    return found && { bytes: found.ContentLength ?? 0, etag: etagOf(found) };
  }

  /** Does nothing when there is no such object. */
  async delete(key: string): Promise<void> {
    await unlessMissing(
      withRetries(() => this.#client.send(new this.#sdk.DeleteObjectCommand(this.#at(key)))),
    );
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    let token: string | undefined;
    do {
      const input = { Bucket: this.#bucket, Prefix: prefix, ContinuationToken: token };
      const page = await withRetries(() => this.#client.send(new this.#sdk.ListObjectsV2Command(input)));
      for (const { Key: key = "", LastModified } of page.Contents ?? [])
        yield { key, modifiedMs: LastModified?.getTime() ?? 0 };
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** Starts a multipart upload and returns its id. */
  async createUpload(key: string): Promise<string> {
    const command = () => new this.#sdk.CreateMultipartUploadCommand(this.#at(key));
    const { UploadId } = await withRetries(() => this.#client.send(command()));
    if (UploadId === undefined)
      throw fail("file-store-away", { problem: "a multipart upload without an id" });
    return UploadId;
  }

  /** Stores one part and returns its ETag. */
  uploadPart(
    { key, upload, number }: { readonly key: string; readonly upload: string; readonly number: number },
    content: Content,
  ): Promise<string> {
    return withRetries(() =>
      this.#send(content, (body, abortSignal) => {
        const at = { ...this.#at(key), UploadId: upload, PartNumber: number };
        const command = new this.#sdk.UploadPartCommand({ ...at, ...body });
        declareChecksum(command, content);
        return this.#client.send(command, { abortSignal });
      }),
    );
  }

  /** Makes an object of these parts. */
  async completeUpload(key: string, upload: string, etags: readonly string[]): Promise<void> {
    const Parts = etags.map((etag, index) => ({ PartNumber: index + 1, ETag: `"${etag}"` }));
    const input = { ...this.#at(key), UploadId: upload, MultipartUpload: { Parts } };
    await withRetries(() => this.#client.send(new this.#sdk.CompleteMultipartUploadCommand(input)));
  }

  /** Does nothing when there is no such upload. */
  async abortUpload(key: string, upload: string): Promise<void> {
    const input = { ...this.#at(key), UploadId: upload };
    await unlessMissing(
      withRetries(() => this.#client.send(new this.#sdk.AbortMultipartUploadCommand(input))),
    );
  }

  /** Refuses (`NotImplemented`) if the store cannot list uploads. */
  async *listUploads(prefix: string): AsyncGenerator<ListedUpload> {
    let markers: { readonly KeyMarker?: string | undefined; readonly UploadIdMarker?: string | undefined } =
      {};
    for (let hasMore = true; hasMore; ) {
      const input = { Bucket: this.#bucket, Prefix: prefix, ...markers };
      const page = await withRetries(() =>
        this.#client.send(new this.#sdk.ListMultipartUploadsCommand(input)),
      );
      for (const { Key: key = "", UploadId: upload = "", Initiated } of page.Uploads ?? [])
        yield { key, upload, startedMs: Initiated?.getTime() ?? 0 };
      hasMore = page.IsTruncated ?? false;
      markers = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  /** Closes the sockets. */
  close(): void {
    this.#client.destroy();
    this.#downloads.destroy();
  }

  readonly #at = (key: string) => ({ Bucket: this.#bucket, Key: key });

  /** Sends the bytes once, and compares their checksum with the one that the store returns. */
  async #send(
    content: Content,
    send: (body: UploadBody, isBroken: AbortSignal) => Promise<Stored>,
  ): Promise<string> {
    const stream = content.read();
    const broken = new AbortController();
    stream.on("error", (problem) => broken.abort(problem));
    try {
      const ContentMD5 = Buffer.from(content.md5, "hex").toString("base64");
      const stored = await send({ Body: stream, ContentLength: content.bytes, ContentMD5 }, broken.signal);
      const etag = etagOf(stored);
      if (hasChecksum(stored) && etag !== content.md5)
        throw new ChecksumMismatch("the store has other bytes than those it was sent");
      return etag;
    } finally {
      stream.destroy();
    }
  }
}

interface UploadBody {
  readonly Body: Readable;
  readonly ContentLength: number;
  readonly ContentMD5: string;
}

type Stored = Pick<Sdk.PutObjectCommandOutput, "ETag" | "ServerSideEncryption" | "SSECustomerAlgorithm">;

function configOf(
  { endpoint, region, pathStyle }: S3Location,
  credentials: S3Credentials | undefined,
  maxSockets: number,
): Sdk.S3ClientConfig {
  const agent = { keepAlive: true, maxSockets };
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(credentials && { credentials }),
    forcePathStyle: pathStyle,
    logger: silent, // It warns of each failed attempt on the console.
    maxAttempts: 1, // withRetries repeats requests: the client cannot read a stream again.
    // The headers with MD5 and SHA-256 are verified by every store, the newer checksums only by some.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    expectContinueHeader: false, // Each such request would open a socket of its own, without a bound.
    requestHandler: {
      connectionTimeout: limits.s3ConnectMs,
      socketTimeout: limits.s3IdleMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}

const ignore = () => {};
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Adds the SHA-256 to the signed headers, so that the store refuses other bytes. */
function declareChecksum(command: Sdk.PutObjectCommand | Sdk.UploadPartCommand, { sha256 }: Content): void {
  const { middlewareStack } = command as Pick<Sdk.PutObjectCommand, "middlewareStack">;
  middlewareStack.add(
    (next) => (given) => {
      const { headers } = given.request as { readonly headers: Record<string, string> };
      headers["x-amz-content-sha256"] = sha256;
      return next(given);
    },
    { step: "build", name: "declareChecksum" },
  );
}

const etagOf = ({ ETag = "" }: { readonly ETag?: string | undefined }): string => ETag.replaceAll('"', "");

const hasChecksum = ({ ETag, ServerSideEncryption, SSECustomerAlgorithm }: Stored): boolean =>
  /^"?[\da-f]{32}(-\d+)?"?$/.test(ETag ?? "") &&
  SSECustomerAlgorithm === undefined &&
  (ServerSideEncryption === undefined || ServerSideEncryption === "AES256");

/** Undefined instead of the refusal of a request for something that does not exist. */
async function unlessMissing<Result>(result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result;
  } catch (problem) {
    const isMissing =
      problem instanceof S3Refusal && ["NoSuchKey", "NotFound", "NoSuchUpload"].includes(problem.code);
    if (isMissing) return undefined;
    throw problem;
  }
}

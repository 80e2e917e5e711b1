// Backups in an S3 store: each file of the place is one object, written by one request, so a store never has
// half of one, and an interrupted backup leaves no multipart uploads.
import { randomUUID } from "node:crypto";
import { StartRefused } from "../data-folder.ts";
import { Failure } from "../errors.ts";
import { limits } from "../limits.ts";
import { contentOf } from "../storage/s3-blobs/content.ts";
import { isForbidden, S3Refusal } from "../storage/s3-blobs/retry.ts";
import type { S3Setting } from "../storage/s3-blobs/s3-blobs.ts";
import { S3Bucket } from "../storage/s3-blobs/s3-bucket.ts";
import { type BackupPlace, existsAt, type LockKind } from "./place.ts";
import { etagAfterTerm, Lease } from "./s3-lease.ts";

interface S3PlaceOptions {
  readonly termMs?: number;
}

const readersPath = "lock-readers/";

export class S3Place implements BackupPlace {
  readonly name: string;
  readonly #bucket: S3Bucket;
  readonly #prefix: string;
  readonly #termMs: number;
  readonly #writes = new Set<Promise<void>>();
  #failure: unknown;
  /** The lock under which backups are changed. */
  #writing: Lease | undefined;

  private constructor(bucket: S3Bucket, prefix: string, { name, termMs }: { name: string; termMs: number }) {
    this.name = name;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#termMs = termMs;
  }

  /** Sends no request. */
  static async open(
    { location, credentials }: S3Setting,
    name: string,
    { termMs = limits.backupLockTermMs }: S3PlaceOptions = {},
  ): Promise<S3Place> {
    return new S3Place(await S3Bucket.open(location, credentials), location.prefix, { name, termMs });
  }

  async lock(kind: LockKind): Promise<AsyncDisposable> {
    if (kind === "read") return await this.#lockForReading();
    const lease = await this.#reach(() =>
      Lease.take(this.#leaseAt(kind === "write" ? "lock" : "lock-removal")),
    );
    if (!lease) throw new StartRefused(`Another process uses the backups in ${this.name}`);
    if (kind === "removal") return await this.#withoutReaders(lease);
    if (!(await this.#reach(() => lease.isRespected())))
      throw new StartRefused(
        `The S3 store of backups ${this.name} ignores the condition If-None-Match of a write, so no lock ` +
          "would keep two servers apart. Use another store, or a folder",
      );
    this.#writing = lease;
    return {
      [Symbol.asyncDispose]: async () => {
        this.#writing = undefined;
        await lease[Symbol.asyncDispose]();
      },
    };
  }

  async list(path: string): Promise<string[]> {
    const prefix = this.#prefix + (path === "" ? "" : `${path}/`);
    return await this.#reach(async () => {
      const names = new Set<string>();
      for await (const { key } of this.#bucket.list(prefix))
        names.add(key.slice(prefix.length).split("/")[0]!);
      return [...names];
    });
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return await this.#reach(async () => {
      for (let attempt = 1; ; attempt++) {
        const found = await this.#bucket.get(this.#prefix + path, { isDownload: true });
        if (!found) return undefined;
        try {
          return Buffer.concat((await found.stream.toArray()) as Buffer[]);
        } catch (problem) {
          if (attempt >= limits.s3AttemptsMax) throw problem;
        }
      }
    });
  }

  /** Some objects are sent at the same time: the store needs much longer for one than a disk does. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.#requireWritable();
    const write = this.#reach(async () => {
      await this.#bucket.put(this.#prefix + path, contentOf(bytes));
    })
      .catch((problem: unknown) => {
        this.#failure ??= problem;
      })
      .finally(() => this.#writes.delete(write));
    this.#writes.add(write);
    if (this.#writes.size >= limits.backupWritesMax) await Promise.race(this.#writes);
  }

  async writeNew(path: string, bytes: Uint8Array): Promise<void> {
    this.#requireWritable();
    try {
      await this.#bucket.put(this.#prefix + path, contentOf(bytes), { etag: undefined });
    } catch (problem) {
      if (problem instanceof S3Refusal && problem.code === "PreconditionFailed")
        throw new StartRefused(existsAt(this.name, path));
      throw this.#described(problem);
    }
  }

  async remove(path: string): Promise<void> {
    this.#requireWritable();
    await this.#reach(() => this.#bucket.delete(this.#prefix + path));
  }

  /** An object is durable when the store has accepted it. */
  syncLater(): void {}

  /** Nothing is half-written. */
  async removeDrafts(): Promise<void> {}

  async sync(): Promise<void> {
    await Promise.all(this.#writes);
    await this.#reach(async () => this.#writing?.renew());
    this.#requireWritable();
  }

  async requireSpaceBeside(): Promise<void> {}

  /** Closes the sockets. */
  close(): void {
    this.#bucket.close();
  }

  #requireWritable(): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#writing?.requireHeld();
  }

  readonly #leaseAt = (name: string) => ({
    ...{ bucket: this.#bucket, key: this.#prefix + name, termMs: this.#termMs },
  });

  /**
   * A reader writes its object before it looks for a removal, and a removal looks for readers after it has
   * written its own: at least one of them sees the other. Without the permission to write, there is no lock;
   * a reader finds out at its end that the backup was removed.
   */
  async #lockForReading(): Promise<AsyncDisposable> {
    const lease = await Lease.take(this.#leaseAt(readersPath + randomUUID())).catch((problem: unknown) => {
      if (isForbidden(problem)) return undefined;
      throw this.#described(problem);
    });
    if (!lease) return { [Symbol.asyncDispose]: async () => undefined };
    try {
      const removal = this.#leaseAt("lock-removal");
      const isRemoved = await this.#reach(async () => (await this.#bucket.head(removal.key)) !== undefined);
      if (!isRemoved || (await this.#reach(() => etagAfterTerm(removal))) !== "alive") return lease;
      throw new StartRefused(`Old backups in ${this.name} are being removed; try again`);
    } catch (problem) {
      await lease[Symbol.asyncDispose]();
      throw problem;
    }
  }

  /** Removes the objects of readers that were killed. */
  async #withoutReaders(lease: Lease): Promise<Lease> {
    try {
      for (const name of await this.list(readersPath.slice(0, -1))) {
        const reader = this.#leaseAt(readersPath + name);
        if ((await this.#reach(() => etagAfterTerm(reader))) === "alive")
          throw new StartRefused(`A backup in ${this.name} is being verified or restored`);
        await this.#reach(() => this.#bucket.delete(reader.key));
      }
      return lease;
    } catch (problem) {
      await lease[Symbol.asyncDispose]();
      throw problem;
    }
  }

  /** Throws `StartRefused` if the store does not respond, or refuses. */
  async #reach<Result>(request: () => Promise<Result>): Promise<Result> {
    try {
      return await request();
    } catch (problem) {
      throw this.#described(problem);
    }
  }

  #described(problem: unknown): unknown {
    const away = problem instanceof Failure ? (problem.details as { problem: string }).problem : undefined;
    const refused = problem instanceof S3Refusal ? problem.code : away;
    if (refused === undefined) return problem;
    return new StartRefused(`The S3 store of backups ${this.name} is not available (${refused})`);
  }
}

// Groups writes: those that arrive while an insert is running, or within an interval, share the next insert.
// Writes get their versions in the order of the calls.
//
// ClickHouse makes a part of each insert and merges parts in the background, so it accepts some tens of
// inserts a second, of any size.
import { fail } from "../../errors.ts";
import { BufferPool } from "../../lib/buffer-pool.ts";
import { limits } from "../../limits.ts";
import type { PointBatch } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import { RowBlock, rowsOf } from "./row-block.ts";
import { sql } from "./sql.ts";
import { type DeletedRange, insertTombstones, readTombstones } from "./tombstones.ts";
import type { TakeVersions } from "./versions.ts";

type Write = { readonly batch: PointBatch; readonly rows: number } | { readonly deleted: DeletedRange };

interface Waiting {
  readonly write: Write;
  readonly resolve: () => void;
  readonly reject: (problem: unknown) => void;
}

/** Of a small insert, and of the blocks that wait for the next insert. */
const [blockBytesMin, idleBlockBytesMax] = [2 ** 16, 2 ** 22];

export class WriteQueue {
  readonly #client: ClickHouseClient;
  readonly #takeVersions: TakeVersions;
  /** Of blocks: new memory for each would make the garbage collector run after every few inserts. */
  readonly #buffers = new BufferPool({ bytesMin: blockBytesMin, idleBytesMax: idleBlockBytesMax });
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #lastStartMs = -Infinity;
  /** Writes of the last group. */
  #lastWrites = 0;
  #endPause: (() => void) | undefined;

  constructor(client: ClickHouseClient, takeVersions: TakeVersions) {
    this.#client = client;
    this.#takeVersions = takeVersions;
  }

  /** Resolves when ClickHouse has confirmed the insert with the batch. */
  append(batch: PointBatch): Promise<void> {
    const rows = rowsOf(batch);
    return rows === 0 ? Promise.resolve() : this.#add({ batch, rows });
  }

  /** Resolves when ClickHouse has confirmed the tombstone, which deletes points that were written before. */
  delete(deleted: DeletedRange): Promise<void> {
    return this.#add({ deleted });
  }

  async close(): Promise<void> {
    await this.#running;
  }

  #add(write: Write): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      if (this.#waiting.length >= this.#lastWrites) this.#endPause?.();
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#pause();
      this.#lastStartMs = performance.now();
      const group = this.#nextGroup();
      this.#lastWrites = group.length;
      try {
        await this.#insert(group);
        for (const { resolve } of group) resolve();
      } catch (problem) {
        for (const { reject } of group) reject(problem);
      }
    }
    this.#running = undefined;
  }

  /** Waits within the interval for as many writes as the last group had: the same clients may write again. */
  async #pause(): Promise<void> {
    const pauseMs = this.#lastStartMs + limits.clickHouseInsertIntervalMs - performance.now();
    if (pauseMs <= 0 || this.#waiting.length >= this.#lastWrites) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endPause = undefined;
  }

  /** The first writes of one kind: at least one, and together at most the rows of an insert. */
  #nextGroup(): Waiting[] {
    const [first] = this.#waiting;
    const isDelete = "deleted" in first!.write;
    let rows = 0;
    const beyond = this.#waiting.findIndex(({ write }) => {
      rows += "rows" in write ? write.rows : 1;
      return "deleted" in write !== isDelete || rows > limits.clickHouseInsertRowsMax;
    });
    return this.#waiting.splice(0, beyond < 0 ? this.#waiting.length : Math.max(1, beyond));
  }

  async #insert(group: readonly Waiting[]): Promise<void> {
    const accepted = await this.#refuseMany(group);
    const ranges = accepted.flatMap(({ write }) => ("deleted" in write ? write.deleted : []));
    if (ranges.length > 0) {
      const [version] = await this.#takeVersions(1);
      const tombstones = ranges.map((range) => ({ ...range, version: version! }));
      await insertTombstones(this.#client, tombstones);
    }
    const batches = accepted.flatMap(({ write }) => ("batch" in write ? write.batch : []));
    if (batches.length > 0) await this.#insertPoints(batches);
  }

  /** Refuses deletions of series that have too many tombstones, and returns the other writes. */
  async #refuseMany(group: readonly Waiting[]): Promise<readonly Waiting[]> {
    const series = group.flatMap(({ write }) => ("deleted" in write ? write.deleted.series : []));
    if (series.length === 0) return group;
    const bySeries = Map.groupBy(
      await readTombstones(this.#client, [...new Set(series)]),
      (one) => one.series,
    );
    return group.filter(({ write, reject }) => {
      const ranges = "deleted" in write ? (bySeries.get(write.deleted.series)?.length ?? 0) : 0;
      const isAccepted = ranges < limits.clickHouseTombstonesMax;
      if (!isAccepted) reject(fail("points-deletes-pending", { ranges }));
      return isAccepted;
    });
  }

  async #insertPoints(batches: readonly PointBatch[]): Promise<void> {
    const rows = new RowBlock(batches);
    const block = rows.encode(await this.#takeVersions(rows.versionCount), this.#buffers);
    const { hasNumbers, hasStrings } = rows;
    if (hasNumbers && hasStrings)
      await this.#client.insert(sql`INSERT INTO points (series, t, version, v, s)`, block);
    else if (hasStrings) await this.#client.insert(sql`INSERT INTO points (series, t, version, s)`, block);
    else await this.#client.insert(sql`INSERT INTO points (series, t, version, v)`, block);
    // After a failure, a connection may still be sending it.
    this.#buffers.putBack(block);
  }
}

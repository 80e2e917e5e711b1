// Groups writes: those that arrive while an insert is running, or within an interval, share the next insert.
// Writes get their versions in the order of the calls.
//
// ClickHouse makes a part of each insert and merges parts in the background, so it accepts some tens of
// inserts a second, of any size.
import { setTimeout as sleep } from "node:timers/promises";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { PointBatch, PointRuns } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import { encodeBlock, type NativeColumn } from "./native-format.ts";
import { sql } from "./sql.ts";
import { type DeletedRange, insertTombstones, readTombstones } from "./tombstones.ts";
import type { TakeVersions } from "./versions.ts";

type Write = { readonly batch: PointBatch; readonly rows: number } | { readonly deleted: DeletedRange };

interface Waiting {
  readonly write: Write;
  readonly resolve: () => void;
  readonly reject: (problem: unknown) => void;
}

export class WriteQueue {
  readonly #client: ClickHouseClient;
  readonly #takeVersions: TakeVersions;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #lastStartMs = -Infinity;

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
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const pauseMs = this.#lastStartMs + limits.clickHouseInsertIntervalMs - performance.now();
      if (pauseMs > 0) await sleep(pauseMs);
      this.#lastStartMs = performance.now();
      const group = this.#nextGroup();
      try {
        await this.#insert(group);
        for (const { resolve } of group) resolve();
      } catch (problem) {
        for (const { reject } of group) reject(problem);
      }
    }
    this.#running = undefined;
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
    const rows = new RowColumns(batches);
    const versions = await this.#takeVersions(rows.versionCount);
    const block = encodeBlock(rows.count, rows.columns(versions));
    const { hasNumbers, hasStrings } = rows;
    if (hasNumbers && hasStrings)
      await this.#client.insert(sql`INSERT INTO points (series, t, version, v, s)`, block);
    else if (hasStrings) await this.#client.insert(sql`INSERT INTO points (series, t, version, s)`, block);
    else await this.#client.insert(sql`INSERT INTO points (series, t, version, v)`, block);
  }
}

const pointsIn = (runs: PointRuns<unknown> | undefined): number => runs?.ends.at(-1) ?? 0;
const rowsOf = ({ numbers, strings }: PointBatch): number => pointsIn(numbers) + pointsIn(strings);

/** The batches as columns of one block. */
class RowColumns {
  readonly count: number;
  readonly hasNumbers: boolean;
  readonly hasStrings: boolean;
  readonly #series: Float64Array;
  readonly #times: Float64Array;
  /** The index of the version of each row. */
  readonly #versions: Float64Array;
  readonly #numbers: Float64Array;
  readonly #strings: string[] = [];
  #at = 0;
  #version = 0;

  constructor(batches: readonly PointBatch[]) {
    this.count = batches.reduce((sum, batch) => sum + rowsOf(batch), 0);
    this.hasNumbers = batches.some(({ numbers }) => pointsIn(numbers) > 0);
    this.hasStrings = batches.some(({ strings }) => pointsIn(strings) > 0);
    this.#series = new Float64Array(this.count);
    this.#times = new Float64Array(this.count);
    this.#versions = new Float64Array(this.count);
    this.#numbers = new Float64Array(this.hasNumbers ? this.count : 0);
    for (const { numbers, strings } of batches) {
      if (numbers !== undefined) {
        this.#numbers.set(numbers.values.subarray(0, pointsIn(numbers)), this.#at);
        this.#addKeys(numbers);
        if (this.hasStrings) for (let i = pointsIn(numbers); i > 0; i--) this.#strings.push("");
      }
      if (strings !== undefined) {
        for (let i = 0; i < pointsIn(strings); i++) this.#strings.push(strings.values[i]!);
        this.#addKeys(strings);
      }
    }
  }

  get versionCount(): number {
    return this.#version + 1;
  }

  columns(versions: Float64Array): NativeColumn[] {
    const version = this.#versions.map((index) => versions[index]!);
    return [
      { name: "series", type: "UInt64", values: this.#series },
      { name: "t", type: "Int64", values: this.#times },
      { name: "version", type: "UInt64", values: version },
      ...(this.hasNumbers ? [{ name: "v", type: "Float64", values: this.#numbers } as const] : []),
      ...(this.hasStrings ? [{ name: "s", type: "String", values: this.#strings } as const] : []),
    ];
  }

  /**
   * Rows in ascending order of series and time share a version, because their keys differ. Any other row
   * begins the next version. So of equal keys the later row wins, and the column compresses well.
   */
  #addKeys({ series, ends, times }: PointRuns<unknown>): void {
    let [index, at] = [0, this.#at];
    let [lastSeries, lastMs] = at > 0 ? [this.#series[at - 1]!, this.#times[at - 1]!] : [-1, 0];
    for (let run = 0; run < ends.length; run++) {
      const one = series[run]!;
      for (const end = ends[run]!; index < end; index++, at++) {
        const timeMs = times[index]!;
        if (one < lastSeries || (one === lastSeries && timeMs <= lastMs)) this.#version++;
        this.#series[at] = one;
        this.#times[at] = timeMs;
        this.#versions[at] = this.#version;
        lastSeries = one;
        lastMs = timeMs;
      }
    }
    this.#at = at;
  }
}

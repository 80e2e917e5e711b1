// Takes records from a source and puts them into the buffer, many in one commit.
import { setTimeout as pause } from "node:timers/promises";
import { limits } from "../limits.ts";
import type { ForwardBuffer } from "./forward-buffer.ts";
import type { Health } from "./health.ts";
import type { SourcePoint, SourceRecords } from "./records.ts";

/** What happens to new records when the buffer is full. */
export type WhenFull = "drop-oldest" | "wait";

interface Waiting {
  readonly records: SourceRecords;
  readonly items: number;
  readonly settle: () => void;
}

export interface IntakeOptions {
  readonly whenFull: WhenFull;
  /** Called after each commit. */
  readonly onStored: () => void;
  readonly health: Health;
  /** Ends the waiting for space. */
  readonly signal: AbortSignal;
}

/** A rough size of a record in the buffer, to know whether it fits. */
const bytesPerItem = 64;
const fullRetryMs = 500;

export class Intake {
  readonly #buffer: ForwardBuffer;
  readonly #options: IntakeOptions;
  #waiting: Waiting[] = [];
  #items = 0;
  #isCommitting = false;

  constructor(buffer: ForwardBuffer, options: IntakeOptions) {
    this.#buffer = buffer;
    this.#options = options;
  }

  /**
   * Resolves when the records are on disk. If the buffer is full it waits, or the oldest records are dropped.
   */
  add(given: SourceRecords): Promise<void> {
    const records = this.#withoutInvalid(given);
    const { promise, resolve } = Promise.withResolvers<void>();
    const items = (records.points?.length ?? 0) + (records.events?.length ?? 0) + (records.rows?.length ?? 0);
    this.#waiting.push({ records, items, settle: resolve });
    this.#items += items;
    if (!this.#isCommitting) {
      this.#isCommitting = true;
      void this.#commitAll();
    }
    return promise;
  }

  /**
   * As `add`, for a source that cannot wait and holds nothing back. When too many points wait for the disk,
   * these are dropped and counted.
   */
  offer(records: SourceRecords): void {
    const points = records.points ?? [];
    if (this.#items + points.length <= limits.connectorPointsWaitingMax) {
      void this.add(records);
      return;
    }
    const times = points.map(({ timestamp }) => timestamp);
    this.#buffer.dropUnstored(points.length, Math.min(...times), Math.max(...times));
  }

  /** Counts records that cannot be kept, and shows why. */
  refuse(items: number, why: string): void {
    this.#buffer.refuse(items);
    this.#options.health.note("records", why);
  }

  mark(name: string): string | undefined {
    return this.#buffer.mark(name);
  }

  /** Resolves when nothing waits. */
  async drain(): Promise<void> {
    if (this.#waiting.length > 0 || this.#isCommitting) await this.add({});
  }

  /** The server would refuse the other points of the request as well. */
  #withoutInvalid(records: SourceRecords): SourceRecords {
    const { points } = records;
    const invalid = points?.filter((point) => problemOf(point) !== undefined) ?? [];
    if (!points || invalid.length === 0) return records;
    const first = invalid[0]!;
    this.refuse(invalid.length, `A point of ${first.series.name} ${problemOf(first)}`);
    return { ...records, points: points.filter((point) => problemOf(point) === undefined) };
  }

  async #commitAll(): Promise<void> {
    await pause(limits.connectorCommitWaitMs);
    while (this.#waiting.length > 0) {
      await this.#waitForRoom();
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#commit(batch);
      this.#items -= batch.reduce((sum, { items }) => sum + items, 0);
      for (const { settle } of batch) settle();
      this.#options.onStored();
      // Lets the source hand over what arrived during the commit.
      await pause(1);
    }
    this.#isCommitting = false;
  }

  async #waitForRoom(): Promise<void> {
    const { whenFull, signal, health } = this.#options;
    if (whenFull === "drop-oldest") return;
    while (!this.#buffer.hasRoomFor(this.#items * bytesPerItem) && !signal.aborted) {
      health.problem("buffer", "The buffer is full: the source waits");
      await pause(fullRetryMs);
    }
    health.solved("buffer");
  }

  /** Repeats until the disk takes the records: nothing that was taken is given up. */
  async #commit(batch: readonly Waiting[]): Promise<void> {
    const records = merged(batch);
    for (;;) {
      try {
        this.#buffer.put(records);
        this.#options.health.solved("disk");
        return;
      } catch (problem) {
        this.#options.health.problem("disk", `The buffer cannot be written: ${(problem as Error).message}`);
        if (this.#options.signal.aborted) throw problem;
        await pause(fullRetryMs);
      }
    }
  }
}

function problemOf({ timestamp, value, series }: SourcePoint): string | undefined {
  if (!Number.isInteger(timestamp) || timestamp < limits.timeMsMin || timestamp > limits.timeMsMax)
    return `has the time ${timestamp}, which is none in ms since 1970`;
  if ((typeof value === "string") !== (series.isString === true))
    return `is a ${typeof value}, which is not the type of its series`;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `has the value ${value}`;
  const { length } = value;
  const lengthMax = limits.stringValueLengthMax;
  return length > lengthMax ? `has ${length} characters, more than ${lengthMax}` : undefined;
}

function merged(batch: readonly Waiting[]): SourceRecords {
  if (batch.length === 1) return batch[0]!.records;
  const all = batch.map(({ records }) => records);
  return {
    points: all.flatMap(({ points = [] }) => points),
    events: all.flatMap(({ events = [] }) => events),
    rows: all.flatMap(({ rows = [] }) => rows),
    marks: Object.assign({}, ...all.map(({ marks }) => marks)) as Record<string, string>,
  };
}

// Takes records from a source and puts them into the buffer, many in one commit.
import { setTimeout as pause } from "node:timers/promises";
import { isStorable, isWithinLength, shortened } from "../lib/text.ts";
import { limits } from "../limits.ts";
import { type ForwardBuffer, rangeOf, type UnstoredDrop, type WhenFull } from "./forward-buffer.ts";
import type { Health } from "./health.ts";
import type { SourceEvent, SourcePoint, SourceRecords, SourceRow } from "./records.ts";

interface Waiting {
  readonly records: SourceRecords;
  readonly items: number;
  /** Of a source that holds nothing back. */
  readonly isOffered: boolean;
  readonly stored: () => void;
  readonly notStored: (problem: Error) => void;
}

export interface IntakeOptions {
  readonly whenFull: WhenFull;
  /** Called after each commit. */
  readonly onStored: () => void;
  readonly health: Health;
  /** Ends the waiting for space. */
  readonly signal: AbortSignal;
}

const fullRetryMs = 500;

export class Intake {
  readonly #buffer: ForwardBuffer;
  readonly #options: IntakeOptions;
  #waiting: Waiting[] = [];
  #items = 0;
  #committing: Promise<void> | undefined;
  /** Counts that the disk has not taken yet. */
  #refused = 0;
  readonly #drops = new Map<UnstoredDrop["why"], UnstoredDrop>();

  constructor(buffer: ForwardBuffer, options: IntakeOptions) {
    this.#buffer = buffer;
    this.#options = options;
  }

  /**
   * Resolves when the records are on disk. If the buffer is full it waits, or the oldest records are dropped.
   * Rejects if the connector stops before: the source must not acknowledge the records then.
   */
  add(given: SourceRecords): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#take(given, { isOffered: false, stored: resolve, notStored: reject });
    return promise;
  }

  /**
   * As `add`, for a source that cannot wait and holds nothing back. When too many records wait for the disk,
   * or the connector stops before they are on it, these are dropped and counted.
   */
  offer(records: SourceRecords): void {
    if (this.#items + countOf(records) > limits.connectorPointsWaitingMax) this.#drop("memory", records);
    else this.#take(records, { isOffered: true, stored: () => {}, notStored: () => {} });
  }

  /** Counts records that cannot be kept, and shows why. */
  refuse(items: number, why: string): void {
    this.#options.health.note("records", why);
    this.#refused += items;
    this.#storeCounts();
  }

  mark(name: string): string | undefined {
    return this.#buffer.mark(name);
  }

  /** Resolves when nothing waits. */
  async drain(): Promise<void> {
    await this.#committing;
  }

  #take(given: SourceRecords, waiting: Omit<Waiting, "records" | "items">): void {
    const records = this.#withoutInvalid(given);
    const items = countOf(records);
    this.#waiting.push({ ...waiting, records, items });
    this.#items += items;
    this.#committing ??= this.#commitAll();
  }

  /**
   * The server would refuse the other points of the request as well, and a time that is none could not be
   * stored at all.
   */
  #withoutInvalid(records: SourceRecords): SourceRecords {
    const { points = [], events = [], rows = [] } = records;
    const valid = {
      points: this.#valid(points, problemOf),
      events: this.#valid(events, problemOfEvent),
      rows: this.#valid(rows, problemOfRow),
    };
    const isSame = valid.points === points && valid.events === events && valid.rows === rows;
    return isSame ? records : { ...records, ...valid };
  }

  /** The same array if all of it is valid. */
  #valid<Item>(items: readonly Item[], problemOfItem: (item: Item) => string | undefined): readonly Item[] {
    const first = items.find((item) => problemOfItem(item) !== undefined);
    if (first === undefined) return items;
    const valid = items.filter((item) => problemOfItem(item) === undefined);
    this.refuse(items.length - valid.length, problemOfItem(first)!);
    return valid;
  }

  async #commitAll(): Promise<void> {
    await pause(limits.connectorCommitWaitMs);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const isStored = await this.#commit(batch);
      this.#items -= batch.reduce((sum, { items }) => sum + items, 0);
      if (isStored) for (const { stored } of batch) stored();
      else this.#giveUp(batch);
      this.#storeCounts();
      this.#options.onStored();
      // Lets the source hand over the records that arrived during the commit.
      await pause(1);
    }
    this.#committing = undefined;
  }

  /**
   * Repeats until the buffer takes the records. Returns whether it did: not if the connector stops while the
   * buffer or its disk is full.
   */
  async #commit(batch: readonly Waiting[]): Promise<boolean> {
    const { health, signal, whenFull } = this.#options;
    const records = merged(batch);
    for (;;) {
      try {
        const isStored = this.#buffer.put(records, whenFull);
        health.solved("disk");
        if (isStored) {
          health.solved("buffer");
          return true;
        }
        health.problem("buffer", "The buffer is full: the source waits");
      } catch (problem) {
        health.problem("disk", `The buffer cannot be written: ${(problem as Error).message}`);
      }
      if (signal.aborted) return false;
      await pause(fullRetryMs, undefined, { signal }).catch(() => {});
    }
  }

  #giveUp(batch: readonly Waiting[]): void {
    const problem = new Error("The connector stops before the records are on disk");
    for (const { isOffered, records, notStored } of batch) {
      if (isOffered) this.#drop("stopped", records);
      notStored(problem);
    }
  }

  #drop(why: UnstoredDrop["why"], { points = [], events = [], rows = [] }: SourceRecords): void {
    const items = points.length + events.length + rows.length;
    if (items === 0) return;
    const times = [
      ...points.map(({ timestamp }) => timestamp),
      ...events.map(({ startTime }) => startTime),
      ...rows.map(() => Date.now()),
    ];
    const { fromMs, toMs } = rangeOf(times);
    const before = this.#drops.get(why) ?? { why, items: 0, fromMs, toMs };
    this.#drops.set(why, {
      ...{ why, items: before.items + items },
      ...{ fromMs: Math.min(fromMs, before.fromMs), toMs: Math.max(toMs, before.toMs) },
    });
    this.#storeCounts();
  }

  /** A full disk takes them later. */
  #storeCounts(): void {
    if (this.#refused === 0 && this.#drops.size === 0) return;
    try {
      if (this.#refused > 0) this.#buffer.refuse(this.#refused);
      this.#refused = 0;
      for (const drop of this.#drops.values()) {
        this.#buffer.dropUnstored(drop);
        this.#drops.delete(drop.why);
      }
    } catch (problem) {
      this.#options.health.note("disk", `The buffer cannot be written: ${(problem as Error).message}`);
    }
  }
}

const countOf = ({ points = [], events = [], rows = [] }: SourceRecords): number =>
  points.length + events.length + rows.length;

const isTime = (time: unknown): boolean =>
  Number.isInteger(time) && Number(time) >= limits.timeMsMin && Number(time) <= limits.timeMsMax;

function problemOf({ timestamp, value, series }: SourcePoint): string | undefined {
  const why = (problem: string): string => `A point of ${series.name} ${problem}`;
  if (!isTime(timestamp)) return why(`has the time ${timestamp}, which is none in ms since 1970`);
  if (typeof value === "bigint") return why(`is ${value}, an integer that no number holds exactly`);
  if ((typeof value === "string") !== (series.isString === true))
    return why(`is a ${typeof value}, which is not the type of its series`);
  if (typeof value === "number") return Number.isFinite(value) ? undefined : why(`has the value ${value}`);
  const { length } = value;
  const lengthMax = limits.stringValueLengthMax;
  return length > lengthMax ? why(`has ${length} characters, more than ${lengthMax}`) : undefined;
}

const isName = (text: unknown): boolean => typeof text === "string" && text !== "";

/** Requires a source id and valid times: without a source id a repetition would be another event. */
function problemOfEvent({ sourceId, startTime, endTime }: SourceEvent): string | undefined {
  if (!isName(sourceId)) return "An event has no sourceId";
  if (!isTime(startTime)) return `The event ${sourceId} has the startTime ${quoted(startTime)}, none in ms`;
  if (endTime === undefined || isTime(endTime)) return undefined;
  return `The event ${sourceId} has the endTime ${quoted(endTime)}, none in ms`;
}

/**
 * Database and table are in the path of the request. With an invalid name it does not reach the server, which
 * could refuse it: the row would be sent for ever.
 */
function problemOfRow({ database, table, key }: SourceRow): string | undefined {
  const isValid = {
    database: isPathName(database),
    table: isPathName(table),
    key: isTextOf(key, limits.rawKeyLengthMax),
  };
  const [wrong] = Object.entries(isValid).find(([, valid]) => !valid) ?? [];
  if (wrong === undefined) return undefined;
  const given = Object.entries({ database, table, key }).map(([name, value]) => `${name} ${quoted(value)}`);
  return `A row has no valid ${wrong}: ${given.join(", ")}`;
}

/** Clients remove `.` and `..` from paths, also percent-encoded. */
const isPathName = (name: string): boolean =>
  isTextOf(name, limits.nameLengthMax) && name !== "." && name !== "..";

const isTextOf = (text: string, lengthMax: number): boolean =>
  isName(text) && isWithinLength(text, lengthMax) && isStorable(text);

/** As JSON: it may be of any type, and reports to the server cannot have U+0000. */
const quoted = (value: unknown): string => shortened(JSON.stringify(value) ?? "undefined");

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

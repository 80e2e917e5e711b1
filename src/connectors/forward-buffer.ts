// The connector's buffer on disk: everything that a source handed over and the server has not acknowledged.
//
// It is an SQLite database: a commit is on disk when `put` returns, and the records of one `put` are there
// together with the marks of the source, or not at all. Entries are removed when the server has acknowledged
// them, so that after a kill some are sent again. That changes nothing: equal points, events with equal
// source ids and rows with equal keys are the same records.
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { UsageError } from "../client/command.ts";
import { parseJson } from "../lib/json.ts";
import { realSystem } from "../lib/system.ts";
import { BufferClock, type WallAndSteadyClock } from "./buffer-clock.ts";
import { encodeNumbers, encodeStrings, type StringSourcePoint } from "./point-columns.ts";
import type { SeriesDescription, SourceEvent, SourcePoint, SourceRecords, SourceRow } from "./records.ts";

export interface BufferBounds {
  /** Bytes of entries. */
  readonly bytesMax: number;
  /** Entries that have waited longer are dropped. */
  readonly ageMsMax: number;
}

/** The treatment of new records when the buffer is full. */
export type WhenFull = "drop-oldest" | "wait";

export type EntryKind = "numbers" | "strings" | "events" | "rows";

/** Records of one kind that were put together. */
export interface Entry {
  readonly id: number;
  readonly kind: EntryKind;
  readonly items: number;
  readonly body: Uint8Array;
}

/** Records that were dropped because the buffer was full or they were too old. */
export interface Drop {
  readonly id: number;
  readonly why: "full" | "age" | "memory" | "stopped";
  readonly items: number;
  /** Of the records, in ms. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Records that were dropped before they were in the buffer. */
export type UnstoredDrop = Omit<Drop, "id"> & { readonly why: "memory" | "stopped" };

/** Records since the buffer was made. */
export interface Counts {
  readonly received: number;
  readonly written: number;
  readonly refused: number;
  readonly dropped: number;
}

export interface BufferState {
  readonly items: number;
  readonly bytes: number;
  /** When the oldest entry was put. */
  readonly oldestMs: number | undefined;
}

interface Draft {
  readonly kind: EntryKind;
  readonly items: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly body: Uint8Array;
}

const schema = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE;
  CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL,
    items INTEGER NOT NULL, fromMs REAL NOT NULL, toMs REAL NOT NULL, putMs REAL NOT NULL,
    body BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS series
    (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, description TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS counts (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS drops (id INTEGER PRIMARY KEY AUTOINCREMENT, why TEXT NOT NULL,
    items INTEGER NOT NULL, fromMs REAL NOT NULL, toMs REAL NOT NULL, isFinal INTEGER NOT NULL DEFAULT 0);
`;

export class ForwardBuffer {
  /** Of this buffer, for its lifetime. */
  readonly instance: string;
  readonly #database: DatabaseSync;
  readonly #bounds: BufferBounds;
  readonly #clock: BufferClock;
  readonly #insert: StatementSync;
  readonly #count: StatementSync;
  readonly #storeSeries: StatementSync;
  readonly #series = new Map<string, { readonly id: number; description: SeriesDescription; text: string }>();
  readonly #byId: (SeriesDescription | undefined)[] = [];
  #state: { items: number; bytes: number };
  /** The last entry that is being sent: it and those before it are not dropped. */
  #sendingId = 0;

  /** Refuses (`UsageError`) a folder that another connector uses, or that cannot be written. */
  constructor(folder: string, bounds: BufferBounds, clock: WallAndSteadyClock = realSystem) {
    this.#database = opened(folder);
    this.#bounds = bounds;
    this.#insert = this.#database.prepare(
      "INSERT INTO entries (kind, items, fromMs, toMs, putMs, body) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#count = this.#database.prepare(
      "INSERT INTO counts VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
    );
    this.#storeSeries = this.#database.prepare(
      `INSERT INTO series (name, description) VALUES (?, ?)
        ON CONFLICT DO UPDATE SET description = excluded.description RETURNING id`,
    );
    this.instance = this.mark("instance") ?? randomUUID();
    this.#clock = new BufferClock(clock, this.mark("clock"));
    this.#transaction(() => this.#setMarks({ instance: this.instance }));
    for (const { id, name, description } of this.#database.prepare("SELECT * FROM series").all())
      this.#remember(Number(id), String(name), String(description));
    this.#state = this.#stored();
  }

  /**
   * On disk when it returns true. If the buffer would be larger than its bound it drops the oldest entries,
   * or returns false and takes nothing. An empty buffer takes records of any size.
   */
  put(records: SourceRecords, whenFull: WhenFull = "drop-oldest"): boolean {
    return this.#transaction(() => {
      const drafts = this.#draftsOf(records);
      const bytes = drafts.reduce((sum, { body }) => sum + body.length, 0);
      if (whenFull === "wait" && !this.#hasRoomFor(bytes)) return false;
      this.#dropWhile("full", () => !this.#hasRoomFor(bytes));
      for (const { kind, items, fromMs, toMs, body } of drafts) {
        this.#insert.run(kind, items, fromMs, toMs, this.#clock.nowMs(), body);
        this.#state.items += items;
        this.#count.run("received", items);
      }
      this.#state.bytes += bytes;
      this.#setMarks({ ...records.marks, clock: this.#clock.text });
      return true;
    });
  }

  #hasRoomFor(bytes: number): boolean {
    return this.#state.items === 0 || this.#state.bytes + bytes <= this.#bounds.bytesMax;
  }

  /**
   * The oldest entries of one kind: at least one if there is any, then up to `itemsMax` items. They are not
   * dropped until `remove` or `putBack`.
   */
  take(itemsMax: number): Entry[] {
    const entries = this.oldest(itemsMax);
    this.#sendingId = entries.at(-1)?.id ?? 0;
    return entries;
  }

  /** The entries that were taken could not be sent. */
  putBack(): void {
    this.#sendingId = 0;
  }

  /** As `take`; the entries may be dropped. */
  oldest(itemsMax: number): Entry[] {
    const oldestMs = this.#clock.nowMs() - this.#bounds.ageMsMax;
    this.#transaction(() => this.#dropWhile("age", ({ putMs }) => putMs < oldestMs));
    const found: Entry[] = [];
    let items = 0;
    for (const row of this.#database.prepare("SELECT * FROM entries ORDER BY id").iterate()) {
      const entry = row as unknown as Entry;
      items += entry.items;
      if (found.length > 0 && (items > itemsMax || entry.kind !== found[0]!.kind)) break;
      found.push(entry);
    }
    return found;
  }

  /** The server has these entries, except for the records that it refused. */
  remove(entries: readonly Entry[], refused: number): void {
    this.#transaction(() => {
      const remove = this.#database.prepare("DELETE FROM entries WHERE id = ?");
      let written = -refused;
      for (const { id, items, body } of entries) {
        remove.run(id);
        this.#state.items -= items;
        this.#state.bytes -= body.length;
        written += items;
      }
      this.#count.run("written", written);
      this.#count.run("refused", refused);
      this.#setMarks({ clock: this.#clock.text });
    });
    this.#sendingId = 0;
  }

  seriesOf(id: number): SeriesDescription {
    return this.#byId[id]!;
  }

  mark(name: string): string | undefined {
    return this.#database.prepare("SELECT value FROM marks WHERE name = ?").get(name)?.["value"] as
      | string
      | undefined;
  }

  /** Counts records that are not valid. */
  refuse(items: number): void {
    this.#transaction(() => {
      this.#count.run("received", items);
      this.#count.run("refused", items);
    });
  }

  /** Counts records that did not reach the buffer. */
  dropUnstored(drop: UnstoredDrop): void {
    this.#transaction(() => {
      this.#count.run("received", drop.items);
      this.#noteDrop(drop);
    });
  }

  /** Drops that were not reported to the server yet. They no longer grow: later drops are new entries. */
  finalDrops(): Drop[] {
    this.#transaction(() => this.#database.exec("UPDATE drops SET isFinal = 1"));
    return this.#database.prepare("SELECT * FROM drops ORDER BY id").all() as unknown as Drop[];
  }

  /** Removes drops that were reported to the server. */
  removeDrops(drops: readonly Drop[]): void {
    const remove = this.#database.prepare("DELETE FROM drops WHERE id = ?");
    this.#transaction(() => {
      for (const { id } of drops) remove.run(id);
    });
  }

  get counts(): Counts {
    const found = this.#database.prepare("SELECT name, value FROM counts").all();
    const values = Object.fromEntries(found.map(({ name, value }) => [name, value]));
    return { received: 0, written: 0, refused: 0, dropped: 0, ...values };
  }

  get state(): BufferState {
    const first = this.#database.prepare("SELECT putMs FROM entries ORDER BY id LIMIT 1").get();
    const putMs = first?.["putMs"] as number | undefined;
    return { ...this.#state, oldestMs: putMs === undefined ? undefined : this.#clock.wallMs(putMs) };
  }

  close(): void {
    this.#database.close();
  }

  #draftsOf({ points = [], events = [], rows = [] }: SourceRecords): Draft[] {
    const numbers = points.filter(({ value }) => typeof value === "number");
    const strings = points.filter(({ value }) => typeof value === "string");
    return [
      ...(numbers.length > 0 ? [this.#numbersDraft(numbers)] : []),
      ...(strings.length > 0 ? [this.#stringsDraft(strings)] : []),
      ...(events.length > 0 ? [eventsDraft(events)] : []),
      ...(rows.length > 0 ? [rowsDraft(rows, this.#clock.wallMs())] : []),
    ];
  }

  #numbersDraft(points: readonly SourcePoint[]): Draft {
    const columns = {
      series: Uint32Array.from(points, ({ series }) => this.#idOf(series)),
      times: Float64Array.from(points, ({ timestamp }) => timestamp),
      values: Float64Array.from(points, ({ value }) => value as number),
    };
    return { kind: "numbers", items: points.length, ...rangeOf(columns.times), body: encodeNumbers(columns) };
  }

  #stringsDraft(points: readonly SourcePoint[]): Draft {
    const body = points.map(
      ({ series, timestamp, value }): StringSourcePoint => [this.#idOf(series), timestamp, value as string],
    );
    const range = rangeOf(points.map(({ timestamp }) => timestamp));
    return { kind: "strings", items: points.length, ...range, body: encodeStrings(body) };
  }

  /** Stores a description that is new or has changed. */
  #idOf(description: SeriesDescription): number {
    const known = this.#series.get(description.name);
    if (known?.description === description) return known.id;
    const text = JSON.stringify(description);
    if (known?.text === text) {
      known.description = description;
      return known.id;
    }
    const id = Number(this.#storeSeries.get(description.name, text)!["id"]);
    this.#series.set(description.name, { id, description, text });
    this.#byId[id] = description;
    return id;
  }

  #remember(id: number, name: string, text: string): void {
    const description = parseJson(text) as SeriesDescription;
    this.#series.set(name, { id, description, text });
    this.#byId[id] = description;
  }

  #dropWhile(why: Drop["why"], isDropped: (oldest: { readonly putMs: number }) => boolean): void {
    const first = this.#database.prepare(
      `SELECT id, items, fromMs, toMs, putMs, length(body) AS bytes FROM entries WHERE id > ?
        ORDER BY id LIMIT 1`,
    );
    const remove = this.#database.prepare("DELETE FROM entries WHERE id = ?");
    for (;;) {
      const oldest = first.get(this.#sendingId) as (Drop & { putMs: number; bytes: number }) | undefined;
      if (!oldest || !isDropped(oldest)) return;
      remove.run(oldest.id);
      this.#state.items -= oldest.items;
      this.#state.bytes -= oldest.bytes;
      this.#noteDrop({ ...oldest, why });
    }
  }

  /** One entry for all drops of one reason until they are reported to the server. */
  #noteDrop({ why, items, fromMs, toMs }: Omit<Drop, "id">): void {
    const last = this.#database.prepare("SELECT id FROM drops WHERE why = ? AND isFinal = 0").get(why);
    if (last)
      this.#database
        .prepare(
          "UPDATE drops SET items = items + ?, fromMs = min(fromMs, ?), toMs = max(toMs, ?) WHERE id = ?",
        )
        .run(items, fromMs, toMs, last["id"]!);
    else
      this.#database
        .prepare("INSERT INTO drops (why, items, fromMs, toMs) VALUES (?, ?, ?, ?)")
        .run(why, items, fromMs, toMs);
    this.#count.run("dropped", items);
  }

  #setMarks(marks: Readonly<Record<string, string>>): void {
    const set = this.#database.prepare("INSERT OR REPLACE INTO marks VALUES (?, ?)");
    for (const [name, value] of Object.entries(marks)) set.run(name, value);
  }

  #stored(): { items: number; bytes: number } {
    const sums = this.#database
      .prepare(
        "SELECT coalesce(sum(items), 0) AS items, coalesce(sum(length(body)), 0) AS bytes FROM entries",
      )
      .get()!;
    return { items: Number(sums["items"]), bytes: Number(sums["bytes"]) };
  }

  /** If the commit fails, restores the state in memory. */
  #transaction<Result>(task: () => Result): Result {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = task();
      this.#database.exec("COMMIT");
      return result;
    } catch (problem) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#series.clear();
      for (const { id, name, description } of this.#database.prepare("SELECT * FROM series").all())
        this.#remember(Number(id), String(name), String(description));
      this.#state = this.#stored();
      throw problem;
    }
  }
}

function opened(folder: string): DatabaseSync {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const database = new DatabaseSync(join(folder, "buffer.sqlite"));
    database.exec(schema);
    return database;
  } catch (problem) {
    const isLocked = (problem as { errcode?: number }).errcode === sqliteBusy;
    const why = isLocked ? "Another connector uses the buffer" : (problem as Error).message;
    throw new UsageError(`${why}: ${folder}`);
  }
}

/** https://sqlite.org/rescode.html#busy */
const sqliteBusy = 5;

function eventsDraft(events: readonly SourceEvent[]): Draft {
  const range = rangeOf(events.map(({ startTime }) => startTime));
  return { kind: "events", items: events.length, ...range, body: Buffer.from(JSON.stringify(events)) };
}

function rowsDraft(rows: readonly SourceRow[], nowMs: number): Draft {
  const body = Buffer.from(JSON.stringify(rows));
  return { kind: "rows", items: rows.length, fromMs: nowMs, toMs: nowMs, body };
}

/** The first and the last of at least one time. */
export function rangeOf(times: ArrayLike<number>): { readonly fromMs: number; readonly toMs: number } {
  let [fromMs, toMs] = [times[0]!, times[0]!];
  for (let i = 1; i < times.length; i += 1) {
    fromMs = Math.min(fromMs, times[i]!);
    toMs = Math.max(toMs, times[i]!);
  }
  return { fromMs, toMs };
}

// Reads new CSV and JSON lines files of a folder, each once.
import { type Dirent, existsSync, type Stats, statSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join, matchesGlob, parse } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Static, Type } from "typebox";
import { UsageError } from "../../client/command.ts";
import { type FileRecord, formatOf, recordsOf } from "../../import/records.ts";
import { encodings } from "../../import/text-file.ts";
import { parseJson } from "../../lib/json.ts";
import type { Intake } from "../intake.ts";
import { oneOf } from "../one-of.ts";
import { durationIn } from "../quantities.ts";
import { recordMapping } from "../record-mapping.ts";
import { namingColumns, recordMaker, type SourceTableRow } from "../row-records.ts";
import type { PlantSource, SourceKind, SourceRun } from "../source.ts";

const strict = { additionalProperties: false };

const filesSchema = Type.Object(
  {
    pattern: Type.String({ minLength: 1, description: "Names of files, such as `*.csv`" }),
    format: Type.Optional(oneOf(["csv", "jsonl"], "Default: from the name")),
    delimiter: Type.Optional(Type.String({ minLength: 1, maxLength: 1, description: "Of CSV; default `,`" })),
    encoding: Type.Optional(oneOf(encodings, "Default utf-8")),
    decimalComma: Type.Optional(Type.Boolean({ description: "Whether values are written as `1,5`" })),
    ...recordMapping,
  },
  strict,
);

const schema = Type.Object(
  {
    type: Type.Literal("folder"),
    path: Type.String({ minLength: 1 }),
    every: Type.Optional(Type.String({ description: "How often the folder is listed; default 5s" })),
    settled: Type.Optional(
      Type.String({ description: "A file is read when it has not changed for this time; default 5s" }),
    ),
    afterwards: Type.Optional(
      oneOf(
        ["leave", "delete", "move"],
        "`move` moves the file to the folder `done` in this one; default leave",
      ),
    ),
    files: Type.Array(filesSchema, { minItems: 1 }),
  },
  strict,
);

type Configuration = Static<typeof schema>;
type Files = Static<typeof filesSchema>;

interface FoundFile {
  readonly name: string;
  readonly files: Files;
  readonly stats: Stats;
}

/** The size and the time of a file, and since when they are known, by the steady clock. */
interface SeenState {
  readonly state: string;
  readonly sinceMs: number;
}

interface FileRow extends SourceTableRow {
  readonly line: number;
}

/** The position up to which a file has been read. */
interface FilePosition {
  readonly line: number;
  readonly isWhole: boolean;
}

const recordsPerCommit = 5_000;
const refusedLinesShown = 20;
const doneFolder = "done";

/** The lines of a file that are no record: all are counted, and the log has the first ones. */
class RefusedLines {
  readonly #name: string;
  readonly #first: string[] = [];
  #uncounted = 0;
  count = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(line: number, why: string): void {
    if (this.#first.length < refusedLinesShown) this.#first.push(`line ${line}: ${why}`);
    this.#uncounted += 1;
    this.count += 1;
  }

  /** Once for many lines, because a count is written to disk. */
  countIn(intake: Intake): void {
    if (this.#uncounted > 0) intake.refuse(this.#uncounted, `${this.#name}, ${this.#first.at(-1)}`);
    this.#uncounted = 0;
  }

  get summary(): string {
    const left = this.count - this.#first.length;
    const lines = [...this.#first, ...(left > 0 ? [`and ${left} more`] : [])];
    return [`Refused lines: ${this.count}`, ...lines].join("\n  ");
  }
}

/** The columns that a file needs. A column of the file may be without a value in all lines. */
class NeededColumns {
  readonly #missing: Set<string>;
  #last: readonly string[] = [];

  constructor(needed: readonly string[]) {
    this.#missing = new Set(needed);
  }

  /** Lines of JSON that are all no object have no columns. */
  get areKnown(): boolean {
    return this.#last.length > 0;
  }

  see(columns: readonly string[]): void {
    // All lines of CSV share the header.
    if (columns === this.#last || columns.length === 0) return;
    this.#last = columns;
    for (const column of columns) this.#missing.delete(column);
  }

  require(): void {
    const [missing] = this.#missing;
    if (missing !== undefined) throw new Error(`No line has the column ${missing}`);
  }
}

class FolderSource implements PlantSource {
  readonly address: string;
  readonly #configuration: Configuration;
  readonly #everyMs: number;
  readonly #settledMs: number;
  /**
   * When the file was first seen in its state: the time of a file is of another clock, which may be ahead.
   */
  #seen: ReadonlyMap<string, SeenState> = new Map();

  constructor(configuration: Configuration) {
    const { path, every = "5s", settled = "5s", files } = configuration;
    this.#configuration = configuration;
    this.address = path;
    this.#everyMs = durationIn(every, "source.every");
    this.#settledMs = durationIn(settled, "source.settled");
    for (const one of files) recordMaker(one.pattern, one);
  }

  async check(): Promise<string> {
    const { path } = this.#configuration;
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new UsageError(`${path} is no folder, or may not be read`);
    return `${path} has ${(await this.#found()).length} files that match`;
  }

  async run(run: SourceRun): Promise<void> {
    const { health, signal, intake } = run;
    while (!signal.aborted) {
      try {
        for (const file of await this.#found()) await this.#tryOnce(file, run);
        health.solved("source");
      } catch (problem) {
        if (!signal.aborted) health.problem("source", (problem as Error).message);
      }
      await pause(this.#everyMs, undefined, { signal }).catch(() => {});
    }
    await intake.drain();
  }

  /** A file that cannot be read is tried again later, and does not hold up the others. */
  async #tryOnce(file: FoundFile, run: SourceRun): Promise<void> {
    const { health, signal } = run;
    if (signal.aborted) return;
    const place = `source ${file.name}` as const;
    try {
      await this.#readOnce(file, run);
      health.solved(place);
    } catch (problem) {
      if (!signal.aborted) health.problem(place, (problem as Error).message);
    }
  }

  /** Files that have not changed for some time, the oldest first. */
  async #found(): Promise<FoundFile[]> {
    const { path, files: all } = this.#configuration;
    const found: FoundFile[] = [];
    const seen = new Map<string, SeenState>();
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const files = all.find((one) => isMatch(entry, one));
      const stats = files && (await stat(join(path, entry.name)).catch(() => undefined));
      if (!files || !stats) continue;
      const state = `${stats.size}:${stats.mtimeMs}`;
      const before = this.#seen.get(entry.name);
      const since = before?.state === state ? before : { state, sinceMs: performance.now() };
      seen.set(entry.name, since);
      const unchangedMs = Math.max(Date.now() - stats.mtimeMs, performance.now() - since.sinceMs);
      if (unchangedMs >= this.#settledMs) found.push({ name: entry.name, files, stats });
    }
    this.#seen = seen;
    return found.sort((a, b) => a.stats.mtimeMs - b.stats.mtimeMs || (a.name < b.name ? -1 : 1));
  }

  /** The position in the file is stored with its records in one commit. */
  async #readOnce(file: FoundFile, run: SourceRun): Promise<void> {
    const { name, stats } = file;
    const mark = `${name}:${stats.size}:${Math.round(stats.mtimeMs)}`;
    const stored = run.intake.mark(mark);
    const position = stored === undefined ? { line: 0, isWhole: false } : (parseJson(stored) as FilePosition);
    if (!position.isWhole && !(await this.#read(file, position.line, mark, run))) return;
    if (!run.isDryRun) await this.#finish(file);
  }

  /** Whether the whole file was read; not if the connector is stopped. */
  async #read({ name, files }: FoundFile, after: number, mark: string, run: SourceRun): Promise<boolean> {
    const { health, intake, signal } = run;
    const { format, delimiter = ",", encoding = "utf-8" } = files;
    const file = join(this.#configuration.path, name);
    const reading = {
      file,
      encoding,
      delimiter,
      format: formatOf(name, format),
      map: new Map<string, string>(),
    };
    const makeRecords = recordMaker(files.pattern, files);
    const refused = new RefusedLines(name);
    let rows: FileRow[] = [];
    let line = after;
    const naming = new NeededColumns(namingColumns(files));
    const timeAndValue = new NeededColumns(timeAndValueOf(files));
    const put = (isWhole: boolean) => {
      if (naming.areKnown) naming.require();
      const records = makeRecords(rows, (row, why) => refused.add(row.line, why));
      rows = [];
      refused.countIn(intake);
      return intake.add({ ...records, marks: { [mark]: JSON.stringify({ line, isWhole }) } });
    };
    for await (const record of recordsOf(reading)) {
      if (signal.aborted) return false;
      for (const needed of [naming, timeAndValue]) needed.see(record.columns);
      if (record.line <= after) continue;
      if (record.problem === undefined) rows.push(rowOf(record, files));
      else refused.add(record.line, record.problem);
      ({ line } = record);
      if (rows.length === recordsPerCommit) await put(false);
    }
    // Another kind of file: it must not be moved or deleted as if it had been read.
    if (line > 0) timeAndValue.require();
    await put(true);
    if (refused.count > 0) health.tell(`source ${name}`, refused.summary);
    return true;
  }

  /** A file that has grown meanwhile stays: it is read again. */
  async #finish({ name, stats }: FoundFile): Promise<void> {
    const { path, afterwards = "leave" } = this.#configuration;
    if (afterwards === "leave") return;
    const file = join(path, name);
    const { size, mtimeMs } = await stat(file);
    if (size !== stats.size || mtimeMs !== stats.mtimeMs) return;
    if (afterwards === "delete") {
      await rm(file, { force: true });
      return;
    }
    await mkdir(join(path, doneFolder), { recursive: true });
    await rename(file, freePlace(join(path, doneFolder), name));
  }
}

const timeAndValueOf = ({ points }: Files): string[] => (points ? [points.timestamp, points.value] : []);

/** The name, or the name with the number that no file has yet: `export.2.csv`. */
function freePlace(folder: string, name: string): string {
  const { name: stem, ext } = parse(name);
  for (let n = 1; ; n += 1) {
    const place = join(folder, n === 1 ? name : `${stem}.${n}${ext}`);
    if (!existsSync(place)) return place;
  }
}

const isMatch = (entry: Dirent, { pattern }: Files): boolean =>
  entry.isFile() && matchesGlob(entry.name, pattern);

/** An empty cell is null. A number in JSON is one; cells of CSV are strings. */
function rowOf({ fields, line, written }: FileRecord, files: Files): FileRow {
  const { points, decimalComma } = files;
  const texts: Record<string, string | null> = {};
  const values: Record<string, unknown> = {};
  for (const column of namingColumns(files)) texts[column] = null;
  for (const column of timeAndValueOf(files)) {
    texts[column] = null;
    values[column] = null;
  }
  for (const [name, field] of fields) {
    const text = typeof field === "string" ? field : JSON.stringify(field);
    texts[name] = decimalComma && name === points?.value ? text.replace(",", ".") : text;
    values[name] = written ? parseJson(written.get(name)!) : field;
  }
  return { texts, values, line };
}

export const folderKind: SourceKind = {
  schema,
  make: (configuration: Configuration) => new FolderSource(configuration),
};

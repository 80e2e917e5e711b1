// Turns records of a CSV file into events, and writes them in batches with errors for single rows.
import { detectTimeFormat, timeReader } from "../../../../src/import/times.ts";
import { messageOf, statusOf } from "../../api/errors.ts";
import { getAssets, type NewEvent, postEvents } from "../../api/generated.ts";
import { type CsvFormat, partsOf } from "../../lib/csv-file.ts";

export const importFields = {
  type: "Type",
  subtype: "Subtype",
  description: "Description",
  startTime: "Start",
  endTime: "End",
  assets: "Names of assets",
  assetIds: "Ids of assets",
  source: "Source",
  sourceId: "Id in the source",
  externalId: "External id",
  metadata: "Metadata (JSON)",
  pair: "Metadata, by the column's name",
} as const;
export type ImportField = keyof typeof importFields;

/** For each column of the file the field that it becomes; undefined for one that is left out. */
export interface ImportMapping {
  readonly names: readonly string[];
  readonly fields: readonly (ImportField | undefined)[];
}

export interface RowError {
  /** The number of the row in the file; the header is row 1. */
  readonly row: number;
  readonly message: string;
}

export interface ImportProgress {
  readonly bytesRead: number;
  readonly created: number;
  readonly errors: readonly RowError[];
  /** Rows that were refused, also those that `errors` has no space for. */
  readonly refused: number;
}

const batchRows = 500;
export const errorsShownMax = 200;

const guesses: Readonly<Record<string, ImportField>> = {
  ...Object.fromEntries(
    Object.keys(importFields).map((field) => [field.toLowerCase(), field as ImportField]),
  ),
  ...{ start: "startTime", end: "endTime", asset: "assets", text: "description" },
};

/** The fields that the names of the columns suggest. Ids are assigned by the server. */
export const guessFields = (names: readonly string[]): ImportMapping["fields"] =>
  names.map((name) => guesses[name.replaceAll(/[\s_-]/g, "").toLowerCase()]);

interface Row {
  readonly row: number;
  readonly event: NewEvent;
}

type AssetByName = (name: string) => Promise<number>;

interface ImportOptions {
  readonly project: string;
  readonly file: File;
  readonly format: CsvFormat;
  readonly mapping: ImportMapping;
  readonly signal: AbortSignal;
}

/** Writes the whole file; yields the progress after each batch. Written events stay when it is cancelled. */
export async function* importEvents(options: ImportOptions): AsyncGenerator<ImportProgress> {
  const { project, file, format, mapping, signal } = options;
  const assetByName = assetNames(project, signal);
  let progress: ImportProgress = { bytesRead: 0, created: 0, errors: [], refused: 0 };
  let row = 0;
  let waiting: Row[] = [];
  const write = async (bytesRead: number) => {
    const { created, errors } = await createAll(project, waiting, signal);
    waiting = [];
    progress = { ...withErrors(progress, errors), bytesRead, created: progress.created + created };
  };
  for await (const { records, bytesRead } of partsOf(file, format)) {
    for (const record of records) {
      row += 1;
      if (row === 1) continue;
      try {
        waiting.push({ row, event: await eventOf(record, mapping, assetByName) });
      } catch (problem) {
        if (signal.aborted || !(problem instanceof CellError)) throw problem;
        progress = withErrors(progress, [{ row, message: problem.message }]);
      }
      if (waiting.length < batchRows) continue;
      await write(bytesRead);
      yield progress;
    }
    progress = { ...progress, bytesRead };
  }
  await write(progress.bytesRead);
  yield progress;
}

const withErrors = (progress: ImportProgress, errors: readonly RowError[]): ImportProgress => ({
  ...progress,
  errors: [...progress.errors, ...errors].slice(0, errorsShownMax),
  refused: progress.refused + errors.length,
});

/** The server writes all rows of a request or none: halves of a refused batch lead to the refused rows. */
async function createAll(
  project: string,
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<{ readonly created: number; readonly errors: readonly RowError[] }> {
  if (rows.length === 0) return { created: 0, errors: [] };
  signal.throwIfAborted();
  try {
    await postEvents(project, { items: rows.map(({ event }) => event) }, { signal });
    return { created: rows.length, errors: [] };
  } catch (problem) {
    if (![400, 409, 413].includes(statusOf(problem) ?? 0)) throw problem;
    if (rows.length === 1)
      return { created: 0, errors: [{ row: rows[0]!.row, message: messageOf(problem) }] };
    const middle = Math.ceil(rows.length / 2);
    const first = await createAll(project, rows.slice(0, middle), signal);
    const second = await createAll(project, rows.slice(middle), signal);
    return { created: first.created + second.created, errors: [...first.errors, ...second.errors] };
  }
}

class CellError extends Error {}

interface SampleOptions extends Pick<ImportOptions, "project" | "mapping" | "signal"> {
  readonly records: readonly (readonly string[])[];
}

/** The events of some records, without records that cannot be read. */
export async function sampleOf({ project, records, mapping, signal }: SampleOptions): Promise<NewEvent[]> {
  const assetByName = assetNames(project, signal);
  const read = async (record: readonly string[]): Promise<NewEvent[]> => {
    try {
      return [await eventOf(record, mapping, assetByName)];
    } catch (problem) {
      if (problem instanceof CellError) return [];
      throw problem;
    }
  };
  return (await Promise.all(records.map(read))).flat();
}

/** The event of a record. Throws a CellError for a cell that cannot be read. */
export async function eventOf(
  record: readonly string[],
  { names, fields }: ImportMapping,
  assetByName: AssetByName,
): Promise<NewEvent> {
  const event: NewEvent = {};
  const metadata: Record<string, string> = {};
  const assetIds: number[] = [];
  for (const [index, cell] of record.entries()) {
    const field = fields[index];
    if (field === undefined || cell === "") continue;
    if (field === "startTime" || field === "endTime") event[field] = timeOf(cell);
    else if (field === "assets") assetIds.push(...(await Promise.all(partsOfCell(cell).map(assetByName))));
    else if (field === "assetIds") assetIds.push(...partsOfCell(cell).map(idOf));
    else if (field === "metadata") Object.assign(metadata, metadataOf(cell));
    else if (field === "pair") metadata[names[index]!] = cell;
    else event[field] = cell;
  }
  if (assetIds.length > 0) event.assetIds = [...new Set(assetIds)];
  if (Object.keys(metadata).length > 0) event.metadata = metadata;
  return event;
}

const partsOfCell = (cell: string) =>
  cell
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "");

function timeOf(cell: string): number {
  const timeMs = readTime(cell);
  if (timeMs !== undefined) return timeMs;
  const expected = "2026-03-01 07:30:15, an ISO time, or seconds or milliseconds since 1970";
  throw new CellError(`"${cell}" is no time. Write ${expected}.`);
}

/**
 * Milliseconds of an ISO time, of a date and time of the browser's zone, or of a number that
 * `millrace import csv` takes for seconds or milliseconds; undefined for another cell.
 */
export function readTime(cell: string): number | undefined {
  const text = cell.trim();
  const format = /^-?\d{10,15}(\.\d+)?$/.test(text) ? detectTimeFormat(text) : undefined;
  if (format) return timeReader(format)(text, 0);
  const isTime = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
  if (!isTime) return undefined;
  const timeMs = Date.parse(text.includes(":") ? text.replace(" ", "T") : `${text}T00:00`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

function idOf(text: string): number {
  const id = Number(text);
  if (!Number.isSafeInteger(id) || id <= 0) throw new CellError(`"${text}" is no id of an asset.`);
  return id;
}

function metadataOf(cell: string): Record<string, string> {
  try {
    const parsed: unknown = JSON.parse(cell);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, string>;
  } catch {
    // The message below names the valid values of the cell.
  }
  throw new CellError(`"${cell}" is no JSON object.`);
}

/** Finds assets by name, each name once. */
function assetNames(project: string, signal: AbortSignal): AssetByName {
  const known = new Map<string, Promise<number>>();
  const find = async (name: string) => {
    const { items } = (await getAssets(project, { name, limit: 2 }, { signal })).data;
    if (items.length === 1) return items[0]!.id;
    throw new CellError(
      items.length === 0 ? `There is no asset "${name}".` : `Several assets are called "${name}".`,
    );
  };
  return (name) => {
    const found = known.get(name) ?? find(name);
    known.set(name, found);
    return found;
  };
}

// Which column of the file becomes which series, and how the first rows will be stored.
import { type BatchPlan, batchesOf, type Refusal } from "../../../../src/import/batches.ts";
import type { Row } from "../../../../src/import/row.ts";
import { postTimeseries, type TimeSeries } from "../../api/generated.ts";
import { seriesByNameQuery } from "../../ui/series-hits.ts";
import { batchSettings, type Opening, type PointsSettings, timeFormatOf } from "./points-settings.ts";

/** The choice for a column. A column without a series is left out. */
export interface ColumnChoice {
  readonly index: number;
  readonly header: string;
  readonly series: string;
  /** The kind of a series that is created. */
  readonly isText: boolean;
}

/** Suggests text for a column without any number in the first rows. */
export const choicesOf = ({ header, rows }: Opening): ColumnChoice[] =>
  header.cells.map((name, index) => {
    const filled = rows.map(({ cells }) => cells[index] ?? "").filter((cell) => cell !== "");
    const isText = filled.length > 0 && !filled.some((cell) => /^[+-]?[.,]?\d/.test(cell));
    return { index, header: name, series: name, isText };
  });

/** By name; null for a series that does not exist. */
export type FoundSeries = ReadonlyMap<string, TimeSeries | null>;

const requestsAtOnce = 6;

type ReadSeries = (name: string) => Promise<TimeSeries | null>;

export async function findSeries(names: readonly string[], read: ReadSeries): Promise<FoundSeries> {
  const found = new Map<string, TimeSeries | null>();
  const waiting = [...names];
  const readSome = async () => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop())
      found.set(name, await read(name));
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, readSome));
  return found;
}

export interface PointsPlan extends BatchPlan {
  readonly missing: readonly { readonly name: string; readonly isString: boolean }[];
}

/** The plan, or the reason why there is none yet. */
export function planOf(
  { header }: Opening,
  { timeIndex, timeFormat }: PointsSettings,
  choices: readonly ColumnChoice[],
  found: FoundSeries,
): PointsPlan | { readonly problem: string } {
  const read = timeFormatOf(timeFormat);
  if ("problem" in read) return read;
  const used = usedOf(choices, timeIndex);
  const names = used.map(({ series }) => series.trim());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return { problem: `Several columns go to the series ${twice}.` };
  if (used.length === 0)
    return { problem: "No column goes to a series. Is another character between the columns?" };
  const columns = used.map(({ index, header: name, series, isText }) => ({
    ...{ index, header: name },
    series: { name: series.trim(), isString: found.get(series.trim())?.isString ?? isText },
  }));
  const missing = columns.map(({ series }) => series).filter(({ name }) => !found.get(name));
  return { header, timeIndex, timeFormat: read.format, columns, missing };
}

/** The columns of values that go to a series. */
export const usedOf = (choices: readonly ColumnChoice[], timeIndex: number): ColumnChoice[] =>
  choices.filter(({ index, series }) => index !== timeIndex && series.trim() !== "");

const itemsPerRequest = 1_000;

/**
 * Creates the series that still do not exist: an interrupted import may have created some of them. Throws if
 * a series has another kind than in the plan, as one that was created after the page had looked for it.
 */
export async function createMissing(project: string, { columns, missing }: PointsPlan, signal: AbortSignal) {
  const names = columns.map(({ series }) => series.name);
  const found = await findSeries(names, (name) => seriesByNameQuery(project, name).queryFn({ signal }));
  for (const { index, header, series } of columns) {
    const { isString = series.isString } = found.get(series.name) ?? {};
    if (isString !== series.isString) throw new Error(otherKind(header || `column ${index + 1}`, series));
  }
  const items = missing.filter(({ name }) => !found.get(name));
  for (let at = 0; at < items.length; at += itemsPerRequest)
    await postTimeseries(project, { items: items.slice(at, at + itemsPerRequest) }, { signal });
}

function otherKind(column: string, { name, isString }: PointsPlan["columns"][number]["series"]): string {
  const [planned, actual] = isString ? ["text", "numbers"] : ["numbers", "text"];
  return (
    `The column ${column} has ${planned}, and its series ${name} takes ${actual}: it was created or ` +
    "replaced after the file was opened. Check the column before you continue."
  );
}

export interface StoredRow {
  readonly line: number;
  readonly timeMs: number | undefined;
  /** By the position of the column in the plan; undefined for no point. */
  readonly values: readonly (number | string | undefined)[];
}

export interface Sample {
  readonly stored: readonly StoredRow[];
  readonly refused: readonly Refusal[];
  readonly rowCount: number;
}

const rowsShownMax = 8;

/** The first rows as they will be stored, and the refused cells of all rows of the opening. */
export async function sampleOf(
  { rows }: Opening,
  plan: BatchPlan,
  settings: PointsSettings,
): Promise<Sample> {
  const refused: Refusal[] = [];
  for await (const batch of batchesOf(asStream(rows), plan, batchSettings(settings)))
    refused.push(...batch.refused);
  const stored = await Promise.all(rows.slice(0, rowsShownMax).map((row) => storedRow(row, plan, settings)));
  return { stored, refused, rowCount: rows.length };
}

async function storedRow(row: Row, plan: BatchPlan, settings: PointsSettings): Promise<StoredRow> {
  for await (const { body } of batchesOf(asStream([row]), plan, batchSettings(settings))) {
    if (body === "") break;
    const { items } = JSON.parse(body) as Body;
    const byName = new Map(items.map(({ name, datapoints }) => [name, datapoints[0]!]));
    return {
      ...{ line: row.line, timeMs: items[0]!.datapoints[0]!.timestamp },
      values: plan.columns.map(({ series }) => byName.get(series.name)?.value),
    };
  }
  return { line: row.line, timeMs: undefined, values: plan.columns.map(() => undefined) };
}

interface Body {
  readonly items: readonly {
    readonly name: string;
    readonly datapoints: readonly { readonly timestamp: number; readonly value: number | string }[];
  }[];
}

async function* asStream(rows: readonly Row[]): AsyncGenerator<Row> {
  yield* rows;
}

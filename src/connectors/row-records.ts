// Makes raw rows or points from the rows of a query or of a file.
import { UsageError } from "../client/command.ts";
import { parseIso } from "../import/times.ts";
import { exactNumberIn } from "./integers.ts";
import type { RecordMapping } from "./record-mapping.ts";
import type { SeriesDescription, SourcePoint, SourceRecords, SourceRow } from "./records.ts";
import { fillTemplate } from "./template.ts";

/** The columns of a row, as the text of the source and as JSON values. */
export interface SourceTableRow {
  readonly texts: Readonly<Record<string, string | null>>;
  readonly values: Readonly<Record<string, unknown>>;
}

type RecordMaker = (rows: readonly SourceTableRow[]) => SourceRecords;

/** Refuses (`UsageError`) a mapping that makes nothing; `name` is what has it. */
export function recordMaker(name: string, { rows: raw, points }: RecordMapping): RecordMaker {
  if (!raw && !points) throw new UsageError(`source: ${name} has neither rows nor points`);
  const pointOf = points && pointMaker(points);
  return (rows) => ({
    ...(raw && { rows: rows.map((row) => rawRowOf(row, raw)) }),
    ...(pointOf && { points: rows.flatMap((row) => pointOf(row) ?? []) }),
  });
}

const namesOf = ({ texts }: SourceTableRow): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text ?? ""]));

const rawRowOf = (
  row: SourceTableRow,
  { database, table, key }: NonNullable<RecordMapping["rows"]>,
): SourceRow => ({
  ...{ database, table, key: fillTemplate(key, [], namesOf(row)) },
  columns: row.values,
});

/** A row without a time or a value has no point. */
function pointMaker(
  mapping: NonNullable<RecordMapping["points"]>,
): (row: SourceTableRow) => SourcePoint | undefined {
  const { series: template, timestamp, value: valueColumn, unit, isString, isStep } = mapping;
  const known = new Map<string, SeriesDescription>();
  return (row) => {
    const { texts, values } = row;
    const [time, text] = [values[timestamp], texts[valueColumn]];
    if (time === undefined || text === undefined)
      throw new Error(`There is no column ${time === undefined ? timestamp : valueColumn}`);
    if (time === null || text === null) return undefined;
    const name = fillTemplate(template, [], namesOf(row));
    const series = known.get(name) ?? {
      name,
      ...(isString !== undefined && { isString }),
      ...(isStep !== undefined && { isStep }),
      ...(unit !== undefined && { unit: fillTemplate(unit, [], namesOf(row)) }),
    };
    known.set(name, series);
    const timeMs = typeof time === "number" ? time : (parseIso(String(time)) ?? Number(time));
    return {
      series,
      timestamp: Math.floor(timeMs),
      value: isString ? text : numberIn(values[valueColumn], text),
    };
  };
}

/** A boolean is 0 or 1. What is no number becomes NaN, which is refused and counted. */
const numberIn = (value: unknown, text: string): number | bigint =>
  typeof value === "boolean" ? Number(value) : exactNumberIn(text);

// Makes raw rows or points from the rows of a query or of a file.
import { UsageError } from "../client/command.ts";
import { parseIso } from "../import/times.ts";
import { limits } from "../limits.ts";
import { exactNumberIn } from "./integers.ts";
import type { RecordMapping } from "./record-mapping.ts";
import type { SeriesDescription, SourcePoint, SourceRecords, SourceRow } from "./records.ts";
import { fillTemplate, placeholdersIn } from "./template.ts";

/** The characters of a value in a message. */
const shownMax = 100;

/** The columns of a row, as the text of the source and as JSON values. */
export interface SourceTableRow {
  readonly texts: Readonly<Record<string, string | null>>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** `refuse` receives each row that makes no record, and the reason. */
type RecordMaker = <Row extends SourceTableRow>(
  rows: readonly Row[],
  refuse: (row: Row, why: string) => void,
) => SourceRecords;

type Refuse = (why: string) => void;

/** Refuses (`UsageError`) a mapping that makes nothing; `name` is its query or file pattern. */
export function recordMaker(name: string, mapping: RecordMapping): RecordMaker {
  const { rows: raw, points } = mapping;
  if (!raw && !points) throw new UsageError(`source: ${name} has neither rows nor points`);
  const pointOf = points && pointMaker(points);
  const needed = [...namingColumns(mapping), ...(points ? [points.timestamp, points.value] : [])];
  return (rows, refuse) => {
    for (const { texts } of rows) {
      const missing = needed.find((column) => texts[column] === undefined);
      if (missing !== undefined) throw new Error(`There is no column ${missing}`);
    }
    return {
      ...(raw && { rows: rows.flatMap((row) => rawRowOf(row, raw, (why) => refuse(row, why)) ?? []) }),
      ...(pointOf && { points: rows.flatMap((row) => pointOf(row, (why) => refuse(row, why)) ?? []) }),
    };
  };
}

/**
 * The columns in the key of raw rows and in the names of series. Without one of them, different rows would
 * have the same key or series.
 */
export const namingColumns = ({ rows, points }: RecordMapping): string[] => [
  ...placeholdersIn(rows?.key ?? ""),
  ...placeholdersIn(points?.series ?? ""),
];

const namesOf = ({ texts }: SourceTableRow): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text ?? ""]));

function rawRowOf(
  row: SourceTableRow,
  { database, table, key: template }: NonNullable<RecordMapping["rows"]>,
  refuse: Refuse,
): SourceRow | undefined {
  const key = fillTemplate(template, [], namesOf(row));
  if (key !== "") return { database, table, key, columns: row.values };
  refuse(`there is no key, ${template} is empty`);
  return undefined;
}

/** A row without a time or a value has no point. */
function pointMaker(
  mapping: NonNullable<RecordMapping["points"]>,
): (row: SourceTableRow, refuse: Refuse) => SourcePoint | undefined {
  const { series: template, timestamp, value: valueColumn, unit, isString, isStep } = mapping;
  const known = new Map<string, SeriesDescription>();
  return (row, refuse) => {
    const { texts, values } = row;
    const [time, text] = [values[timestamp], texts[valueColumn]];
    if (time === null || text === null || text === undefined) return undefined;
    const name = fillTemplate(template, [], namesOf(row));
    const series = known.get(name) ?? {
      name,
      ...(isString !== undefined && { isString }),
      ...(isStep !== undefined && { isStep }),
      ...(unit !== undefined && { unit: fillTemplate(unit, [], namesOf(row)) }),
    };
    known.set(name, series);
    const timeMs = timeIn(time);
    const value = isString ? text : numberIn(values[valueColumn], text);
    const written = () => quoted(values[valueColumn]);
    if (Number.isNaN(timeMs)) refuse(`${name}: ${timestamp} is ${quoted(time)}, no time`);
    else if (timeMs < limits.timeMsMin || timeMs > limits.timeMsMax)
      refuse(`${name}: ${timestamp} is ${quoted(time)}, not between the years 1900 and 2099`);
    else if (Number.isNaN(value)) refuse(`${name}: ${valueColumn} is ${written()}, no number`);
    else if (isTooLarge(value)) refuse(`${name}: ${valueColumn} is ${written()}, too large for a number`);
    else return { series, timestamp: Math.floor(timeMs), value };
    return undefined;
  };
}

const quoted = (value: unknown): string => JSON.stringify(value).slice(0, shownMax);

const isTooLarge = (value: string | number | bigint): boolean =>
  typeof value === "number" && !Number.isFinite(value);

/** NaN for a value that is neither ISO 8601 nor a number of milliseconds. */
const timeIn = (time: unknown): number =>
  typeof time === "number" ? time : (parseIso(String(time)) ?? Number(exactNumberIn(String(time))));

/** A boolean is 0 or 1. NaN for a value that is no number. */
const numberIn = (value: unknown, text: string): number | bigint =>
  typeof value === "boolean" ? Number(value) : exactNumberIn(text);

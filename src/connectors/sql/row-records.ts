// Makes raw rows or points from the rows of a query.
import { UsageError } from "../../client/command.ts";
import type { SeriesDescription, SourcePoint, SourceRecords, SourceRow } from "../records.ts";
import { fillTemplate } from "../template.ts";
import type { SqlQuery } from "./sql-configuration.ts";

/** The columns of a row, as the text of the database and as JSON values. */
export interface QueryRow {
  readonly texts: Readonly<Record<string, string | null>>;
  readonly values: Readonly<Record<string, unknown>>;
}

type RecordMaker = (rows: readonly QueryRow[]) => SourceRecords;

/** Refuses (`UsageError`) a query that makes nothing. */
export function recordMaker({ name, rows: raw, points }: SqlQuery): RecordMaker {
  if (!raw && !points) throw new UsageError(`source.queries: ${name} has neither rows nor points`);
  const pointOf = points && pointMaker(points);
  return (rows) => ({
    ...(raw && { rows: rows.map((row) => rawRowOf(row, raw)) }),
    ...(pointOf && { points: rows.flatMap((row) => pointOf(row) ?? []) }),
  });
}

const namesOf = ({ texts }: QueryRow): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text ?? ""]));

const rawRowOf = (row: QueryRow, { database, table, key }: NonNullable<SqlQuery["rows"]>): SourceRow => ({
  ...{ database, table, key: fillTemplate(key, [], namesOf(row)) },
  columns: row.values,
});

/** A row without a time or a value has no point. */
function pointMaker(mapping: NonNullable<SqlQuery["points"]>): (row: QueryRow) => SourcePoint | undefined {
  const { series: template, timestamp, value: valueColumn, unit, isString, isStep } = mapping;
  const known = new Map<string, SeriesDescription>();
  return (row) => {
    const { texts, values } = row;
    const [time, text] = [values[timestamp], texts[valueColumn]];
    if (time === undefined || text === undefined)
      throw new Error(`The query has no column ${time === undefined ? timestamp : valueColumn}`);
    if (time === null || text === null) return undefined;
    const name = fillTemplate(template, [], namesOf(row));
    const series = known.get(name) ?? {
      name,
      ...(isString !== undefined && { isString }),
      ...(isStep !== undefined && { isStep }),
      ...(unit !== undefined && { unit: fillTemplate(unit, [], namesOf(row)) }),
    };
    known.set(name, series);
    const timeMs = typeof time === "number" ? time : Date.parse(String(time));
    return {
      series,
      timestamp: Math.floor(timeMs),
      value: isString ? text : numberIn(values[valueColumn], text),
    };
  };
}

/** A boolean is 0 or 1. What is no number becomes NaN, which is refused and counted. */
const numberIn = (value: unknown, text: string): number =>
  typeof value === "boolean" ? Number(value) : Number(text);

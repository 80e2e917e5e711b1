// JSON messages, which a JSONata expression maps to points, events and raw rows.
import jsonata from "jsonata";
import { UsageError } from "../../client/command.ts";
import { parseJson } from "../../lib/json.ts";
import { shortened } from "../../lib/text.ts";
import type { SeriesDescription, SourceEvent, SourcePoint, SourceRow } from "../records.ts";
import type { MessageReader, MessageRecords } from "./message-reader.ts";

/** The result of the expression, one or a list of them: a point of a series, an event, or a row. */
interface Mapped {
  readonly series?: string;
  readonly value?: unknown;
  /** In ms, or ISO 8601; the time of arrival when absent. */
  readonly timestamp?: number | string;
  readonly unit?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly isStep?: boolean;
  readonly event?: SourceEvent | readonly SourceEvent[];
  readonly row?: SourceRow | readonly SourceRow[];
}

/**
 * The expression sees the message as its input, and `$topic` and `$levels`. Refuses (`UsageError`) an
 * expression that is not valid.
 */
export function jsonReader(map: string): MessageReader {
  const expression = compiled(map);
  const known = new Map<string, SeriesDescription>();
  return async (levels, payload, nowMs) => {
    const message = parseJson(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString());
    const result: unknown = await expression.evaluate(message, { topic: levels.join("/"), levels });
    const { wrong, ...records } = recordsIn(listOf(result), known, nowMs);
    if (wrong.length === 0) return records;
    const why = `A record of ${levels.join("/")} cannot be read: ${shortened(JSON.stringify(wrong[0]))}`;
    return { ...records, refused: { items: wrong.length, why } };
  };
}

/** A list as it is, one value as a list of it, and nothing as an empty list. */
const listOf = (result: unknown): readonly unknown[] =>
  Array.isArray(result) ? result : result === undefined ? [] : [result];

interface MappedRecords extends Required<Pick<MessageRecords, "points" | "events" | "rows">> {
  /** Results that are no record. The others are written. */
  readonly wrong: readonly unknown[];
}

function recordsIn(
  results: readonly unknown[],
  known: Map<string, SeriesDescription>,
  nowMs: number,
): MappedRecords {
  const points: SourcePoint[] = [];
  const wrong: unknown[] = results.filter((result) => !isObject(result));
  const mapped = results.filter(isObject) as Mapped[];
  for (const one of mapped) {
    if (isPoint(one)) points.push(pointOf(one, known, nowMs));
    else if (one.series !== undefined) wrong.push(one);
  }
  const events = mapped.flatMap(({ event }) => event ?? []);
  const rows = mapped.flatMap(({ row }) => row ?? []);
  wrong.push(...[...events, ...rows].filter((one) => !isObject(one)));
  return { points, events: events.filter(isObject), rows: rows.filter(isObject), wrong };
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function compiled(map: string) {
  try {
    return jsonata(map);
  } catch (problem) {
    throw new UsageError(`source.read.map is not valid JSONata: ${(problem as Error).message}`);
  }
}

interface MappedPoint extends Mapped {
  readonly series: string;
  readonly value: number | string | boolean;
}

const isPoint = (mapped: Mapped): mapped is MappedPoint =>
  typeof mapped.series === "string" &&
  ["number", "string", "boolean"].includes(typeof mapped.value) &&
  ["number", "string", "undefined"].includes(typeof mapped.timestamp);

function pointOf(mapped: MappedPoint, known: Map<string, SeriesDescription>, nowMs: number): SourcePoint {
  const { series: name, value, timestamp = nowMs, unit, description, metadata, isStep } = mapped;
  const number = typeof value === "boolean" ? Number(value) : value;
  const timeMs = typeof timestamp === "number" ? timestamp : Date.parse(timestamp);
  const isString = typeof number === "string";
  const before = known.get(name);
  // Compared in parts: a string of each description took more time than the rest.
  const isSame =
    (before?.isString ?? false) === isString &&
    before?.unit === unit &&
    before?.description === description &&
    before?.isStep === isStep &&
    isSameText(before?.metadata, metadata);
  if (before && isSame) return { series: before, timestamp: timeMs, value: number };
  const series: SeriesDescription = {
    name,
    ...(isString && { isString }),
    ...(unit !== undefined && { unit }),
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata }),
    ...(isStep !== undefined && { isStep }),
  };
  known.set(name, series);
  return { series, timestamp: timeMs, value: number };
}

const isSameText = (one: object | undefined, other: object | undefined): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

// JSON messages, which a JSONata expression maps to points, events and raw rows.
import jsonata from "jsonata";
import { UsageError } from "../../client/command.ts";
import { parseJson } from "../../lib/json.ts";
import type { SeriesDescription, SourceEvent, SourcePoint, SourceRow } from "../records.ts";
import type { MessageReader } from "./message-reader.ts";

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
  readonly event?: SourceEvent;
  readonly row?: SourceRow;
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
    const mapped = (Array.isArray(result) ? [...result] : result === undefined ? [] : [result]) as Mapped[];
    return {
      points: mapped.filter(({ series }) => series !== undefined).map((one) => pointOf(one, known, nowMs)),
      events: mapped.flatMap(({ event }) => event ?? []),
      rows: mapped.flatMap(({ row }) => row ?? []),
    };
  };
}

function compiled(map: string) {
  try {
    return jsonata(map);
  } catch (problem) {
    throw new UsageError(`source.read.map is not valid JSONata: ${(problem as Error).message}`);
  }
}

function pointOf(mapped: Mapped, known: Map<string, SeriesDescription>, nowMs: number): SourcePoint {
  const { series: name, value, timestamp = nowMs, unit, description, metadata, isStep } = mapped;
  const number = typeof value === "boolean" ? Number(value) : value;
  if (typeof name !== "string" || (typeof number !== "number" && typeof number !== "string"))
    throw new TypeError(`a point needs a name and a number or a string, not ${JSON.stringify(mapped)}`);
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

// HistoryRead of many variables. Variables that a server refuses for a passing reason are read again.
import { setTimeout as pause } from "node:timers/promises";
import { limits } from "../../limits.ts";
import type { DataValue, HistoryResult } from "./library.ts";
import type { PlantSession } from "./session.ts";
import { timeOf } from "./values.ts";
import type { Variable } from "./variables.ts";

export interface HistoryRange {
  readonly variable: Variable;
  readonly fromMs: number;
}

export interface HistoryRefusal {
  readonly variable: Variable;
  readonly reason: string;
  /** Whether the server may have the history, and did not give it in any attempt. */
  readonly isPassing: boolean;
}

export interface HistoryReading {
  readonly ranges: readonly HistoryRange[];
  readonly toMs: number;
  /** Resolves when the values are on disk. */
  readonly onValues: (variable: Variable, values: readonly DataValue[]) => Promise<unknown>;
  /** The wait after an attempt, from 1 on. */
  readonly waitMs?: (attempt: number) => number;
}

interface Open {
  readonly range: HistoryRange;
  /** The time of the newest value so far. */
  readonly readMs: number;
  readonly continuationPoint: Buffer | null;
}

interface Refused {
  /** The part of the range that is still to be read. */
  readonly range: HistoryRange;
  readonly reason: string;
}

const bothTimestamps = 2;

/** Refusals that no later attempt changes. */
const lasting: ReadonlySet<string> = new Set([
  ...["BadHistoryOperationUnsupported", "BadHistoryOperationInvalid", "BadNotSupported", "BadNotReadable"],
  ...["BadServiceUnsupported", "BadUserAccessDenied", "BadNodeIdUnknown", "BadNodeIdInvalid"],
  ...["BadTimestampNotSupported", "BadInvalidTimestampArgument", "BadNotImplemented"],
]);

/** After the attempts 1 s, 2 s, 4 s and so on. */
const growingWaitMs = (attempt: number): number =>
  Math.min(limits.connectorRetryWaitMsMax, 500 * 2 ** attempt);

/**
 * Reads oldest values first, until `toMs`. Returns the variables that the server refuses. Throws when the
 * session is lost.
 */
export async function readHistory(plant: PlantSession, reading: HistoryReading): Promise<HistoryRefusal[]> {
  const { waitMs = growingWaitMs } = reading;
  const refusals: HistoryRefusal[] = [];
  let ranges = reading.ranges;
  for (let attempt = 1; ; attempt += 1) {
    const refused = await readAll(plant, ranges, reading);
    const passing = refused.filter(({ reason }) => !lasting.has(reason));
    refusals.push(...refused.filter((one) => !passing.includes(one)).map((one) => refusalOf(one, false)));
    if (passing.length === 0) return refusals;
    if (attempt === limits.connectorOpcUaHistoryAttempts)
      return [...refusals, ...passing.map((one) => refusalOf(one, true))];
    await Promise.race([pause(waitMs(attempt), undefined, { ref: false }), plant.lost]);
    ranges = passing.map(({ range }) => range);
  }
}

const refusalOf = ({ range: { variable }, reason }: Refused, isPassing: boolean): HistoryRefusal => ({
  ...{ variable, reason, isPassing },
});

async function readAll(
  plant: PlantSession,
  ranges: readonly HistoryRange[],
  reading: HistoryReading,
): Promise<Refused[]> {
  // One request has one start. Neighbours in this order have about the same.
  const sorted = ranges.toSorted((a, b) => a.fromMs - b.fromMs);
  const refused: Refused[] = [];
  for (let at = 0; at < sorted.length; at += plant.perRequest.history)
    refused.push(...(await readTogether(plant, sorted.slice(at, at + plant.perRequest.history), reading)));
  return refused;
}

async function readTogether(
  plant: PlantSession,
  ranges: readonly HistoryRange[],
  reading: HistoryReading,
): Promise<Refused[]> {
  const { library } = plant;
  const historyReadDetails = new library.ReadRawModifiedDetails({
    ...{ isReadModified: false, returnBounds: false },
    ...{ startTime: new Date(ranges[0]!.fromMs), endTime: new Date(reading.toMs) },
    numValuesPerNode: limits.connectorOpcUaHistoryValues,
  });
  const refused: Refused[] = [];
  let open: Open[] = ranges.map((range) => ({ range, readMs: range.fromMs, continuationPoint: null }));
  while (open.length > 0) {
    const nodesToRead = open.map(({ range, continuationPoint }) => ({
      ...{ nodeId: range.variable.nodeId, continuationPoint },
    }));
    const request = new library.HistoryReadRequest({
      ...{ historyReadDetails, nodesToRead, timestampsToReturn: bothTimestamps },
      releaseContinuationPoints: false,
    });
    const results = await resultsOf(plant, request);
    if (typeof results === "string") {
      refused.push(...open.map((one) => refusedAt(one, results)));
      break;
    }
    const taken = await Promise.all(open.map((one, i) => takeResult(one, results[i], reading)));
    refused.push(...taken.flatMap((one) => (one && "reason" in one ? [one] : [])));
    open = taken.flatMap((one) => (one && "readMs" in one ? [one] : []));
  }
  return refused;
}

/** Returns the reason if the server refuses the request as a whole. Throws when the session is lost. */
async function resultsOf(plant: PlantSession, request: object): Promise<readonly HistoryResult[] | string> {
  if (plant.isLost()) throw new Error("The session was lost");
  try {
    return (await plant.session.historyRead(request)).results ?? [];
  } catch (problem) {
    if (plant.isLost()) throw problem;
    return (problem as Error).message;
  }
}

const refusedAt = ({ range: { variable }, readMs }: Open, reason: string): Refused => ({
  range: { variable, fromMs: readMs },
  reason,
});

/** The rest of the range to read, or why it is refused; nothing at its end. */
async function takeResult(
  open: Open,
  result: HistoryResult | undefined,
  { onValues }: HistoryReading,
): Promise<Open | Refused | undefined> {
  if (!result) return refusedAt(open, "The server returns no result");
  const { statusCode, historyData, continuationPoint } = result;
  if (statusCode.value >>> 30 === 2) return refusedAt(open, statusCode.name);
  const { variable, fromMs } = open.range;
  const values = (historyData?.dataValues ?? []).filter((value) => timeOf(value, 0) >= fromMs);
  if (values.length > 0) await onValues(variable, values);
  if (!continuationPoint || continuationPoint.length === 0) return undefined;
  const readMs = values.reduce((most, value) => Math.max(most, timeOf(value, 0)), open.readMs);
  return { range: open.range, readMs, continuationPoint };
}

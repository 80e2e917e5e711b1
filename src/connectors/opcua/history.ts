// HistoryRead of many variables.
import { limits } from "../../limits.ts";
import type { DataValue, HistoryResult } from "./library.ts";
import type { PlantSession } from "./session.ts";
import { timeOf } from "./values.ts";
import type { Variable } from "./variables.ts";

export interface HistoryRange {
  readonly variable: Variable;
  readonly fromMs: number;
}

export interface HistoryReading {
  readonly ranges: readonly HistoryRange[];
  readonly toMs: number;
  /** Resolves when the values are on disk. */
  readonly onValues: (variable: Variable, values: readonly DataValue[]) => Promise<unknown>;
  readonly onRefused: (variable: Variable, reason: string) => void;
}

interface Open {
  readonly range: HistoryRange;
  readonly continuationPoint: Buffer | null;
}

const bothTimestamps = 2;

/** Reads oldest values first, until `toMs`. Throws when the session is lost. */
export async function readHistory(plant: PlantSession, reading: HistoryReading): Promise<void> {
  // One request has one start. Neighbours in this order have about the same.
  const ranges = reading.ranges.toSorted((a, b) => a.fromMs - b.fromMs);
  for (let at = 0; at < ranges.length; at += plant.perRequest.history)
    await readTogether(plant, ranges.slice(at, at + plant.perRequest.history), reading);
}

async function readTogether(plant: PlantSession, ranges: readonly HistoryRange[], reading: HistoryReading) {
  const { library, session } = plant;
  const historyReadDetails = new library.ReadRawModifiedDetails({
    ...{ isReadModified: false, returnBounds: false },
    ...{ startTime: new Date(ranges[0]!.fromMs), endTime: new Date(reading.toMs) },
    numValuesPerNode: limits.connectorOpcUaHistoryValues,
  });
  let open: Open[] = ranges.map((range) => ({ range, continuationPoint: null }));
  while (open.length > 0) {
    const nodesToRead = open.map(({ range, continuationPoint }) => ({
      ...{ nodeId: range.variable.nodeId, continuationPoint },
    }));
    const request = new library.HistoryReadRequest({
      ...{ historyReadDetails, nodesToRead, timestampsToReturn: bothTimestamps },
      releaseContinuationPoints: false,
    });
    const { results } = await session.historyRead(request);
    const read = open.flatMap(({ range }, i) => (results?.[i] ? [{ range, result: results[i] }] : []));
    await Promise.all(read.map(({ range, result }) => takeResult(range, result, reading)));
    open = read.flatMap(({ range, result: { continuationPoint } }) =>
      continuationPoint && continuationPoint.length > 0 ? [{ range, continuationPoint }] : [],
    );
  }
}

async function takeResult(
  { variable, fromMs }: HistoryRange,
  { statusCode, historyData }: HistoryResult,
  { onValues, onRefused }: HistoryReading,
): Promise<void> {
  if (statusCode.value >>> 30 === 2) {
    onRefused(variable, statusCode.name);
    return;
  }
  const values = (historyData?.dataValues ?? []).filter((value) => timeOf(value, 0) >= fromMs);
  if (values.length > 0) await onValues(variable, values);
}

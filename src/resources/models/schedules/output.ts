// Checks the output of a model for a window, and writes it to the series of the schedule.
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import type { TimeRange } from "../../../lib/time.ts";
import { limits } from "../../../limits.ts";
import { insertPoints } from "../../datapoints/datapoints.ts";
import { IncomingPointsBuilder } from "../../datapoints/inserts/incoming-points.ts";
import type { ScheduleSpec } from "./spec.ts";

/**
 * Writes `{"timeSeries":{alias:[[time,value],...]}}`, all or nothing, and returns the number of points.
 * Refuses other forms, outputs that the schedule does not have, and times outside the window moved by the
 * offset.
 */
export async function writeOutput(
  ctx: RequestContext,
  { outputs }: ScheduleSpec,
  window: TimeRange,
  prediction: unknown,
): Promise<number> {
  const given = Object.entries(seriesIn(prediction));
  const builder = new IncomingPointsBuilder(ctx);
  let count = 0;
  for (const [alias, points] of given) {
    const output = outputs.find((one) => one.alias === alias);
    if (!output)
      throw refused("timeSeries", `the outputs ${outputs.map((one) => one.alias).join(", ")}`, alias);
    if (!Array.isArray(points)) throw refused(alias, "a list of [time, value]", typeof points);
    const range = { startMs: window.startMs + output.offsetMs, endMs: window.endMs + output.offsetMs };
    for (const point of points as unknown[]) addPoint(builder, alias, point, range);
    builder.endRun(output.id);
    count += points.length;
  }
  await insertPoints(
    ctx,
    builder.finish((run, point) => `${given[run]![0]}[${point}]`),
  );
  return count;
}

function seriesIn(prediction: unknown): Readonly<Record<string, unknown>> {
  const found = (prediction as { readonly timeSeries?: unknown } | null)?.timeSeries;
  if (typeof found === "object" && found !== null && !Array.isArray(found))
    return found as Readonly<Record<string, unknown>>;
  throw refused("the prediction", '{"timeSeries":{...}}', JSON.stringify(prediction).slice(0, 100));
}

/** Both ends belong to the range, as predictions are often for the end of the window. */
function addPoint(builder: IncomingPointsBuilder, alias: string, point: unknown, range: TimeRange): void {
  const [time, value] = Array.isArray(point) ? (point as unknown[]) : [];
  const { startMs, endMs } = range;
  const isTime = Number.isInteger(time) && (time as number) >= startMs && (time as number) <= endMs;
  if (!isTime) throw refused(alias, `times from ${startMs} to ${endMs} (ms)`, JSON.stringify(point));
  if (typeof value === "number" && Number.isFinite(value)) builder.addNumber(time as number, value);
  else if (typeof value === "string" && value.length <= limits.stringValueLengthMax)
    builder.addString(time as number, value);
  else throw refused(alias, "numbers or strings as values", JSON.stringify(point).slice(0, 100));
}

const refused = (field: string, expected: string, got: string) =>
  fail("field-invalid", { field, expected, got });

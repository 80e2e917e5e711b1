// Finds the tag sets of a measurement that pass the condition of a statement.
import type { RequestContext } from "../../context.ts";
import { TimeSlice } from "../../lib/time-slice.ts";
import { limits } from "../../limits.ts";
import { isNever, reduceTest, type Test } from "./conditions.ts";
import { isField, type Measurement, ownValue, type TagSet } from "./series-model.ts";

export interface Member {
  readonly tagSet: TagSet;
  /** The part of the condition that depends on fields: each row must pass it. */
  readonly test: Test;
}

/** The tag sets whose tags pass the test, with the rest of the test. */
export async function matchingMembers(
  ctx: RequestContext,
  measurement: Measurement,
  test: Test,
): Promise<Member[]> {
  const members: Member[] = [];
  const turn = new TimeSlice(limits.timeSliceMs);
  for (const tagSet of measurement.tagSets) {
    if (turn.isOver()) await turn.next(ctx.signal);
    const rest = reduceTest(test, (name, type) =>
      isField(measurement, name, type) ? undefined : (ownValue(tagSet.tags, name) ?? ""),
    );
    if (!isNever(rest)) members.push({ tagSet, test: rest });
  }
  return members;
}

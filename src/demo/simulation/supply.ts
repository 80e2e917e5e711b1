// The flows that the units take from each other, as of the step before.
import type { Conditions } from "./conditions.ts";

export interface Supply {
  readonly conditions: Conditions;
  /** How much of the usual steam pressure there is, from 0 to 1. */
  readonly steamShare: number;
  readonly coolingTemperature: number;
  /** From 0 to 1. */
  readonly coolingShare: number;
  /** From unit 23 to the column, in m3/h. */
  readonly columnFeed: number;
}

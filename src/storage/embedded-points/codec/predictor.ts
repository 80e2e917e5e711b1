// Predicts each number of a column from the numbers before it.
//
// The formulas are in FORMAT.md ("Columns"). Each step is exact or rounds as IEEE 754 specifies, so a reader
// repeats the calculation of the writer.

import type { Kernels } from "../../kernels.ts";

interface Predictor {
  /** Count of numbers at the start that are not predicted. */
  readonly first: number;
  /** The differences of all later numbers from their predictions. */
  residualsOf(column: Float64Array): Float64Array;
  /** Replaces the residuals after the first numbers of the column by the numbers. */
  restore(column: Float64Array): void;
  /** `restore` in integers of 32 bits, several times as fast. Divides each number. */
  restoreSmall?(kernels: Kernels, small: SmallColumn): void;
}

/** A column that starts within 2^26, and whose residuals sum up to at most 2^29. */
interface SmallColumn {
  readonly residuals: Int32Array;
  /** Has the first numbers, which are not predicted. */
  readonly column: Float64Array;
  readonly divisor: number;
}

/** By their ids in FORMAT.md. */
export const predictors: readonly Predictor[] = [nothing(), previous(), line(), smoothed(4), smoothed(16)];

const numberBytes = Float64Array.BYTES_PER_ELEMENT;
/** Too few numbers for a choice: each is predicted to equal the one before. */
const countToChoose = 8;
const runs = 4;
const runSize = 64;

function nothing(): Predictor {
  return {
    first: 0,
    residualsOf: (column) => column,
    restore: () => undefined,
    restoreSmall({ restore }, { residuals, column, divisor }) {
      restore.restoreNothing(residuals.byteOffset, residuals.length, divisor, column.byteOffset);
    },
  };
}

/** Predicts the previous number. */
function previous(): Predictor {
  return {
    first: 1,
    residualsOf(column) {
      const count = column.length - 1;
      const residuals = new Float64Array(count);
      let before = column[0]!;
      for (let index = 0; index < count; index++) {
        const number = column[index + 1]!;
        residuals[index] = number - before;
        before = number;
      }
      return residuals;
    },
    restore(column) {
      const count = column.length;
      let number = column[0]!;
      for (let index = 1; index < count; index++) {
        number += column[index]!;
        column[index] = number;
      }
    },
    restoreSmall({ restore }, { residuals, column, divisor }) {
      const first = column[0]!;
      column[0] = first / divisor;
      const after = column.byteOffset + numberBytes;
      restore.restorePrevious(residuals.byteOffset, residuals.length, first, divisor, after);
    },
  };
}

/** Continues the line through the two previous numbers. */
function line(): Predictor {
  return {
    first: 2,
    residualsOf(column) {
      const count = column.length - 2;
      const residuals = new Float64Array(count);
      let before = column[1]!;
      let change = before - column[0]!;
      for (let index = 0; index < count; index++) {
        const number = column[index + 2]!;
        residuals[index] = number - before - change;
        change = number - before;
        before = number;
      }
      return residuals;
    },
    restore(column) {
      const count = column.length;
      let number = column[1]!;
      let change = number - column[0]!;
      for (let index = 2; index < count; index++) {
        change += column[index]!;
        number += change;
        column[index] = number;
      }
    },
  };
}

/** Predicts an exponential moving average, for noise around a slow change. */
function smoothed(parts: number): Predictor {
  const part = 1 / parts;
  return {
    first: 1,
    residualsOf(column) {
      const count = column.length - 1;
      const residuals = new Float64Array(count);
      let mean = column[0]!;
      for (let index = 0; index < count; index++) {
        const residual = column[index + 1]! - Math.floor(mean + 0.5);
        residuals[index] = residual;
        mean += residual * part;
      }
      return residuals;
    },
    restore(column) {
      const count = column.length;
      let mean = column[0]!;
      for (let index = 1; index < count; index++) {
        const residual = column[index]!;
        column[index] = Math.floor(mean + 0.5) + residual;
        mean += residual * part;
      }
    },
    restoreSmall({ restore }, { residuals, column, divisor }) {
      const first = column[0]!;
      column[0] = first / divisor;
      const bits = Math.log2(parts);
      const after = column.byteOffset + numberBytes;
      restore.restoreSmoothed(residuals.byteOffset, residuals.length, first, bits, divisor, after);
    },
  };
}

/** The id of the predictor whose residuals of a sample take the fewest bits; of equals the first. */
export function choosePredictor(column: Float64Array): number {
  if (column.length < countToChoose) return Math.min(1, column.length - 1);
  const samples = sampleOf(column);
  let best = { id: 0, bits: Infinity };
  for (const [id, { first, residualsOf }] of predictors.entries()) {
    if (first >= samples[0]!.length) continue;
    const bits = bitsOf(samples.map(residualsOf), first === 0 ? samples[0]![0]! : 0);
    if (bits < best.bits) best = { id, bits };
  }
  return best.id;
}

/** Runs of consecutive numbers, or the whole column when it is not much longer. */
function sampleOf(column: Float64Array): Float64Array[] {
  if (column.length <= 2 * runs * runSize) return [column];
  const apart = Math.floor((column.length - runSize) / (runs - 1));
  return Array.from({ length: runs }, (_, index) => column.subarray(index * apart, index * apart + runSize));
}

/**
 * Estimates the bits of a residual, measured from `base`: the entropy of its sign and length in bits, plus
 * the bits below its highest.
 */
function bitsOf(samples: readonly Float64Array[], base: number): number {
  const classes = new Uint32Array(128);
  let [bits, count] = [0, 0];
  for (const residuals of samples) {
    for (let index = 0; index < residuals.length; index++) {
      const residual = residuals[index]! - base;
      const whole = residual | 0;
      const length =
        whole === residual
          ? 32 - Math.clz32(Math.abs(whole))
          : 64 - Math.clz32(Math.floor(Math.abs(residual) / 2 ** 32));
      if (length > 1) bits += length - 1;
      classes[residual < 0 ? 64 + length : length]!++;
    }
    count += residuals.length;
  }
  for (const seen of classes) if (seen > 0) bits -= seen * Math.log2(seen / count);
  return bits / count;
}

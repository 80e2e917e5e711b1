// What the numbers before say of the next one, and how far off that is.
//
// The formulas are in FORMAT.md ("Columns"); every step of them is exact or rounds as IEEE 754 says, so that
// reading repeats what writing did.

interface Predictor {
  /** How many numbers at the beginning are not predicted. */
  readonly first: number;
  /** What the predictions leave over of the column behind its first numbers. */
  leave(column: Float64Array): Float64Array;
  /** Turns the residuals behind the first numbers of the column back into numbers, in place. */
  restore(column: Float64Array): void;
}

/** By their ids in FORMAT.md. */
export const predictors: readonly Predictor[] = [none(), last(), line(), smoothed(4), smoothed(16)];

/** Of fewer numbers nothing can be learnt: each is taken to be like the one before. */
const countToChoose = 8;
const stretches = 4;
const stretchSize = 64;

function none(): Predictor {
  return { first: 0, leave: (column) => column, restore: () => undefined };
}

/** Each number is like the one before. */
function last(): Predictor {
  return {
    first: 1,
    leave(column) {
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
  };
}

/** The two before go on in a line. */
function line(): Predictor {
  return {
    first: 2,
    leave(column) {
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

/** A mean of those before that moves a part of the way to each: for noise around what changes slowly. */
function smoothed(parts: number): Predictor {
  const part = 1 / parts;
  return {
    first: 1,
    leave(column) {
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
  };
}

/** The id of the predictor that leaves least over of a sample; of equals the first. */
export function choosePredictor(column: Float64Array): number {
  if (column.length < countToChoose) return Math.min(1, column.length - 1);
  const pieces = sampleOf(column);
  let best = { id: 0, bits: Infinity };
  for (const [id, { first, leave }] of predictors.entries()) {
    if (first >= pieces[0]!.length) continue;
    const bits = bitsOf(pieces.map(leave), first === 0 ? pieces[0]![0]! : 0);
    if (bits < best.bits) best = { id, bits };
  }
  return best.id;
}

/** Stretches of neighbours, or the whole column where it is not much more. */
function sampleOf(column: Float64Array): Float64Array[] {
  if (column.length <= 2 * stretches * stretchSize) return [column];
  const apart = Math.floor((column.length - stretchSize) / (stretches - 1));
  return Array.from({ length: stretches }, (_, index) =>
    column.subarray(index * apart, index * apart + stretchSize),
  );
}

const classes = new Uint32Array(128);

/**
 * About how many bits a residual takes: how surprising its sign and its length in bits are, and the bits
 * below its highest. Residuals are measured from `base`.
 */
function bitsOf(pieces: readonly Float64Array[], base: number): number {
  classes.fill(0);
  let [bits, count] = [0, 0];
  for (const residuals of pieces) {
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

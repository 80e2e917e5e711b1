// The values of the simulated plant. Each follows from its series and its time, so that any read can be
// compared with the written values, without a copy of them.

export interface Point {
  readonly timestamp: number;
  readonly value: number;
}

export const nameOf = (series: number): string => `soak.${String(series).padStart(5, "0")}`;

/** A slow wave and some noise, in whole tenths. */
function tenthsAt(series: number, second: number): number {
  const noise = (Math.imul(series ^ Math.imul(second, 0x9e3779b1), 0x85ebca6b) >>> 28) - 8;
  return Math.round(500 * Math.sin(second / 600 + series)) + noise;
}

export const pointAt = (series: number, second: number): Point => ({
  timestamp: second * 1000,
  value: tenthsAt(series, second) / 10,
});

/** Of the seconds from `from` to before `to`. */
export const pointsOf = (series: number, from: number, to: number): Point[] =>
  Array.from({ length: to - from }, (_, at) => pointAt(series, from + at));

export interface Summary {
  readonly timestamp: number;
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
}

/** The summary of `length` seconds. */
export function summaryOf(series: number, from: number, length: number): Summary {
  const tenths = Array.from({ length }, (_, at) => tenthsAt(series, from + at));
  return {
    ...{ timestamp: from * 1000, count: length },
    ...{ min: Math.min(...tenths) / 10, max: Math.max(...tenths) / 10 },
    sum: tenths.reduce((sum, one) => sum + one, 0) / 10,
  };
}

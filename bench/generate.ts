// Generates the data of the workloads from a seed, the same for every system.
export interface GeneratedSeries {
  readonly name: string;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** Of all workloads: everybody who runs them measures the same data. */
export const seed = 20_261_121;
export const pointsPerRequest = 10_000;

export const startMs = Date.UTC(2026, 5, 1);
const stepMs = 1000;

/** A small generator of uniform numbers in [0, 1) (mulberry32), the same for the same seed everywhere. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Shape = (random: () => number) => () => number;

const thousandths = (value: number) => Math.round(value * 1000) / 1000;

/** A flow or a pressure: a random walk with three decimals. */
const walk: Shape = (random) => {
  let value = 50 + random() * 50;
  return () => {
    value += (random() - 0.5) * 0.2;
    return thousandths(value);
  };
};

/** A slow temperature with a daily wave and little noise, in hundredths. */
const temperature: Shape = (random) => {
  const base = 20 + random() * 60;
  let second = 0;
  return () =>
    Math.round((base + 3 * Math.sin((second++ / 86_400) * 2 * Math.PI) + (random() - 0.5) * 0.04) * 100) /
    100;
};

/** A motor that is on or off for minutes. */
const onOff: Shape = (random) => {
  let value = 0;
  return () => {
    if (random() < 1 / 300) value = 1 - value;
    return value;
  };
};

/** A set-point that an operator changes about once an hour. */
const setPoint: Shape = (random) => {
  let value = 40;
  return () => {
    if (random() < 1 / 3600) value = Math.round(random() * 200) / 2;
    return value;
  };
};

const shapes: readonly Shape[] = [
  walk,
  walk,
  walk,
  temperature,
  walk,
  onOff,
  walk,
  walk,
  temperature,
  setPoint,
];

/** Mostly regular seconds; 5 % of the times jitter by up to 50 ms, and there are rare gaps of a minute. */
function timesOf(count: number, random: () => number): Float64Array {
  const times = new Float64Array(count);
  let regular = startMs;
  for (let i = 0; i < count; i++) {
    regular += random() < 1 / 20_000 ? 60 * stepMs : stepMs;
    times[i] = regular + (random() < 0.05 ? Math.round((random() - 0.5) * 100) : 0);
  }
  return times;
}

/** `series` series of `points` points at about 1 Hz. */
export function generateSeries(series: number, points: number, seed: number): GeneratedSeries[] {
  return Array.from({ length: series }, (_, index) => {
    const random = randomFrom(seed * 1_000_003 + index);
    const next = shapes[index % shapes.length]?.(random) ?? (() => 0);
    const times = timesOf(points, random);
    return { name: `sensor${String(index).padStart(4, "0")}`, times, values: times.map(() => next()) };
  });
}

export interface Scan {
  readonly timeMs: number;
  readonly values: Float64Array;
}

/** The plant's scan cycle: each second one value of each of `series` series. */
export function generateScans(series: number, scans: number, seed: number): Scan[] {
  const random = randomFrom(seed);
  const next = Array.from({ length: series }, (_, index) => (shapes[index % shapes.length] ?? walk)(random));
  return Array.from({ length: scans }, (_, scan) => ({
    timeMs: startMs + scan * stepMs,
    values: Float64Array.from(next, (one) => one()),
  }));
}

// Computes the distance between one column of a window and that column of every window of a chunk.
//
// The dot products come from a fast Fourier transform (MASS). Mean and variance of each window come from its
// own samples alone: a window is the end of one block and the start of the next one, and the statistics of
// the two are merged (Chan). So a spike elsewhere in the chunk costs no digits. A bound on the rounding error
// goes with each distance.
import { Fft, multiplyConjugate } from "../../../lib/fft.ts";

/** `pattern` compares z-normalised samples, `value` the samples themselves. */
export const distanceModes = ["value", "pattern"] as const;
export type DistanceMode = (typeof distanceModes)[number];

/** Squared distances of the windows of a chunk, and bounds on their errors; both are sums over columns. */
export interface Distances {
  readonly squared: Float64Array;
  readonly errors: Float64Array;
}

/** The sum of squared deviations below which a window counts as constant: squares lose digits there. */
const deviationMin = 1e-290;
/** From this share of the greatest possible squared distance on, an error requires the direct formula. */
const errorShareMax = 1e-8;
const fftLengthMin = 2 ** 14;
const epsilon = Number.EPSILON;

interface Statistics {
  readonly mean: number;
  /** The sum of the squared deviations from the mean. */
  readonly deviation: number;
}

export class SlidingDistance {
  /** The most windows of one chunk. */
  readonly windowsMax: number;
  readonly #window: Float64Array;
  readonly #mode: DistanceMode;
  readonly #statistics: Statistics;
  readonly #fft: Fft;
  /** The spectrum of the window's deviations from its mean. */
  readonly #filter: { re: Float64Array; im: Float64Array };
  readonly #signal: { re: Float64Array; im: Float64Array };
  readonly #rolling: RollingStatistics;

  constructor(window: Float64Array, mode: DistanceMode) {
    this.#window = window;
    this.#mode = mode;
    this.#statistics = statisticsOf(window, 0, window.length);
    let length = fftLengthMin;
    while (length < 4 * window.length) length *= 2;
    this.#fft = new Fft(length);
    this.#filter = { re: new Float64Array(length), im: new Float64Array(length) };
    this.#signal = { re: new Float64Array(length), im: new Float64Array(length) };
    this.#filter.re.set(deviationsOf(window));
    this.#fft.forward(this.#filter);
    this.windowsMax = 2 * (length - window.length + 1);
    this.#rolling = new RollingStatistics(window.length, this.windowsMax);
  }

  /**
   * Adds the squared distance of each of the first `windows` windows. The bound is infinite where the
   * estimate has no correct digits. Yields after each step of 1 to 4 ms.
   */
  *add(samples: Float64Array, windows: number, into: Distances): Generator<number, void> {
    const norm = this.#fillSignal(samples, windows);
    this.#fft.forward(this.#signal);
    yield 0;
    multiplyConjugate(this.#signal, this.#filter);
    this.#fft.inverse(this.#signal);
    yield 0;
    this.#rolling.fill(samples, windows);
    const { length } = this.#window;
    const productError =
      (16 * Math.log2(this.#fft.length) + Math.sqrt(length)) *
      epsilon *
      Math.sqrt(this.#statistics.deviation) *
      norm;
    if (this.#mode === "pattern") this.#addPatterns(windows, productError, into);
    else this.#addValues(windows, productError, into);
    yield 0;
  }

  /** The squared distance of the window that starts at `at`, by its definition. */
  direct(samples: Float64Array, at: number): number {
    return squaredDistance(this.#window, samples.subarray(at, at + this.#window.length), this.#mode);
  }

  /**
   * Two stretches of the samples, as real and imaginary parts of one signal; returns its norm. A shift keeps
   * the products as they are, because the deviations of the window add up to nothing.
   */
  #fillSignal(samples: Float64Array, windows: number): number {
    const { re, im } = this.#signal;
    const count = windows + this.#window.length - 1;
    const hop = this.windowsMax / 2;
    let sum = 0;
    for (let i = 0; i < count; i += 1) sum += samples[i]!;
    const shift = sum / count;
    let squares = 0;
    for (let i = 0; i < re.length; i += 1) {
      re[i] = i < count ? samples[i]! - shift : 0;
      im[i] = hop + i < count ? samples[hop + i]! - shift : 0;
      squares += re[i]! * re[i]! + im[i]! * im[i]!;
    }
    return Math.sqrt(squares);
  }

  #addPatterns(windows: number, productError: number, { squared, errors }: Distances): void {
    const { length } = this.#window;
    const { deviation } = this.#statistics;
    const { deviations, isConstant } = this.#rolling;
    const statisticsError = 16 * length ** 2.5 * epsilon;
    const isFlat = deviation < deviationMin;
    const root = Math.sqrt(deviation);
    for (let i = 0; i < windows; i += 1) {
      if (isFlat || isConstant[i] === 1) {
        squared[i]! += isFlat && isConstant[i] === 1 ? 0 : length;
        continue;
      }
      const scale = (2 * length) / (Math.sqrt(deviations[i]!) * root);
      squared[i]! += 2 * length - scale * this.#product(i);
      const error = scale * productError + statisticsError;
      errors[i]! += error > errorShareMax * 2 * length ? Number.POSITIVE_INFINITY : error;
    }
  }

  #addValues(windows: number, productError: number, { squared, errors }: Distances): void {
    const { length } = this.#window;
    const { mean, deviation } = this.#statistics;
    const { deviations, means } = this.#rolling;
    for (let i = 0; i < windows; i += 1) {
      const greatest = deviations[i]! + deviation + length * (means[i]! - mean) ** 2;
      squared[i]! += greatest - 2 * this.#product(i);
      const error = 2 * productError + 16 * length ** 1.5 * epsilon * greatest;
      errors[i]! += error > errorShareMax * greatest ? Number.POSITIVE_INFINITY : error;
    }
  }

  /** The dot product of the window's deviations and the samples from `i` on. */
  #product(i: number): number {
    const hop = this.windowsMax / 2;
    return i < hop ? this.#signal.re[i]! : this.#signal.im[i - hop]!;
  }
}

/**
 * The squared Euclidean distance of two windows, after z-normalisation in mode `pattern`. A constant window
 * has no deviation to divide by: it normalises to zeros, so that two of them are 0 apart, and one is the
 * square root of the length away from any other window.
 */
export function squaredDistance(first: Float64Array, second: Float64Array, mode: DistanceMode): number {
  const { length } = first;
  let sum = 0;
  if (mode === "value") {
    for (let i = 0; i < length; i += 1) sum += (first[i]! - second[i]!) ** 2;
    return sum;
  }
  const [one, other] = [normalised(first), normalised(second)];
  for (let i = 0; i < length; i += 1) sum += (one[i]! - other[i]!) ** 2;
  return sum;
}

function normalised(window: Float64Array): Float64Array {
  const { deviation } = statisticsOf(window, 0, window.length);
  if (deviation < deviationMin) return new Float64Array(window.length);
  const unit = Math.sqrt(deviation / window.length);
  return deviationsOf(window).map((value) => value / unit);
}

/**
 * The samples less their mean. Subtracts the first sample before the mean, which keeps the digits of samples
 * far from zero, and then the mean of the result, so that the deviations add up to zero.
 */
function deviationsOf(window: Float64Array): Float64Array {
  const shift = window[0]!;
  const shifted = window.map((value) => value - shift);
  const { mean } = statisticsOf(shifted, 0, shifted.length);
  const deviations = shifted.map((value) => value - mean);
  const rest = statisticsOf(deviations, 0, deviations.length).mean;
  return deviations.map((value) => value - rest);
}

function statisticsOf(samples: Float64Array, from: number, length: number): Statistics {
  const shift = samples[from]!;
  let sum = 0;
  for (let i = from; i < from + length; i += 1) sum += samples[i]! - shift;
  const mean = sum / length;
  let deviation = 0;
  for (let i = from; i < from + length; i += 1) deviation += (samples[i]! - shift - mean) ** 2;
  return { mean: shift + mean, deviation };
}

/** Mean and squared deviations of every window of a chunk, from blocks of the window's length. */
class RollingStatistics {
  readonly means: Float64Array;
  readonly deviations: Float64Array;
  readonly isConstant: Uint8Array;
  readonly #length: number;
  readonly #inverse: Float64Array;
  /** The statistics of the ends of a block, by their start. */
  readonly #endMeans: Float64Array;
  readonly #endDeviations: Float64Array;

  constructor(length: number, windowsMax: number) {
    this.#length = length;
    this.means = new Float64Array(windowsMax);
    this.deviations = new Float64Array(windowsMax);
    this.isConstant = new Uint8Array(windowsMax);
    this.#inverse = Float64Array.from({ length: length + 1 }, (_, n) => 1 / n);
    this.#endMeans = new Float64Array(length);
    this.#endDeviations = new Float64Array(length);
  }

  fill(samples: Float64Array, windows: number): void {
    for (let start = 0; start < windows; start += this.#length) {
      this.#endsOf(samples, start);
      this.#merge(samples, start, Math.min(this.#length, windows - start));
    }
    this.#markConstant(samples, windows);
  }

  /** From the last sample of the block backwards. The last sample, which all ends have, is the zero. */
  #endsOf(samples: Float64Array, start: number): void {
    const zero = samples[start + this.#length - 1]!;
    let mean = 0;
    let deviation = 0;
    for (let count = 1, at = this.#length - 1; at >= 0; at -= 1, count += 1) {
      const value = samples[start + at]! - zero;
      const step = value - mean;
      mean += step * this.#inverse[count]!;
      deviation += step * (value - mean);
      this.#endMeans[at] = mean;
      this.#endDeviations[at] = deviation;
    }
  }

  /** The first `count` windows of the block: each an end of it and a start of the next block. */
  #merge(samples: Float64Array, start: number, count: number): void {
    const next = start + this.#length;
    const endZero = samples[next - 1]!;
    this.means[start] = endZero + this.#endMeans[0]!;
    this.deviations[start] = this.#endDeviations[0]!;
    const zero = samples[next]!;
    let mean = 0;
    let deviation = 0;
    for (let at = 1; at < count; at += 1) {
      const value = samples[next + at - 1]! - zero;
      const step = value - mean;
      mean += step * this.#inverse[at]!;
      deviation += step * (value - mean);
      const apart = mean - this.#endMeans[at]! + (zero - endZero);
      const share = at * this.#inverse[this.#length]!;
      this.means[start + at] = endZero + this.#endMeans[at]! + apart * share;
      this.deviations[start + at] =
        this.#endDeviations[at]! + deviation + apart * apart * (this.#length - at) * share;
    }
  }

  /** Merging rounds, so that constant windows are found by counting equal samples. */
  #markConstant(samples: Float64Array, windows: number): void {
    let equal = 1;
    for (let at = 1; at < windows + this.#length - 1; at += 1) {
      equal = samples[at] === samples[at - 1] ? equal + 1 : 1;
      const window = at - this.#length + 1;
      if (window >= 0)
        this.isConstant[window] = equal >= this.#length || this.deviations[window]! < deviationMin ? 1 : 0;
    }
  }
}

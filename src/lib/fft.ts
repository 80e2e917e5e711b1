// A fast Fourier transform of complex numbers, for the sliding dot products of pattern search.

/** Real and imaginary parts, each as long as the transform. */
export interface Complex {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/**
 * Transforms of one length, a power of two. `forward` returns the spectrum in bit-reversed order, and
 * `inverse` expects that order, because a product of spectra needs no other one. Both work in place.
 */
export class Fft {
  readonly length: number;
  /** `cos` and `-sin` of 2πk/length, for k below length/2. */
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;

  constructor(length: number) {
    this.length = length;
    const angles = Float64Array.from({ length: length / 2 }, (_, k) => (2 * Math.PI * k) / length);
    this.#cos = angles.map(Math.cos);
    this.#sin = angles.map((angle) => -Math.sin(angle));
  }

  /** Decimation in frequency (Gentleman-Sande). */
  forward({ re, im }: Complex): void {
    const cos = this.#cos;
    const sin = this.#sin;
    for (let half = this.length / 2, stride = 1; half >= 1; half /= 2, stride *= 2)
      for (let start = 0; start < this.length; start += 2 * half)
        for (let k = 0, i = start, j = start + half; k < half; k += 1, i += 1, j += 1) {
          const c = cos[k * stride]!;
          const s = sin[k * stride]!;
          const dRe = re[i]! - re[j]!;
          const dIm = im[i]! - im[j]!;
          re[i]! += re[j]!;
          im[i]! += im[j]!;
          re[j] = dRe * c - dIm * s;
          im[j] = dRe * s + dIm * c;
        }
  }

  /** Decimation in time (Cooley-Tukey), divided by the length. */
  inverse({ re, im }: Complex): void {
    const cos = this.#cos;
    const sin = this.#sin;
    for (let half = 1, stride = this.length / 2; half < this.length; half *= 2, stride /= 2)
      for (let start = 0; start < this.length; start += 2 * half)
        for (let k = 0, i = start, j = start + half; k < half; k += 1, i += 1, j += 1) {
          const c = cos[k * stride]!;
          const s = sin[k * stride]!;
          const turnedRe = re[j]! * c + im[j]! * s;
          const turnedIm = im[j]! * c - re[j]! * s;
          re[j] = re[i]! - turnedRe;
          im[j] = im[i]! - turnedIm;
          re[i]! += turnedRe;
          im[i]! += turnedIm;
        }
    for (let i = 0; i < this.length; i += 1) {
      re[i]! /= this.length;
      im[i]! /= this.length;
    }
  }
}

/** Multiplies `signal` by the complex conjugate of `filter`: after `inverse`, their correlation. */
export function multiplyConjugate(signal: Complex, filter: Complex): void {
  const { re, im } = signal;
  for (let i = 0; i < re.length; i += 1) {
    const signalRe = re[i]!;
    const signalIm = im[i]!;
    re[i] = signalRe * filter.re[i]! + signalIm * filter.im[i]!;
    im[i] = signalIm * filter.re[i]! - signalRe * filter.im[i]!;
  }
}

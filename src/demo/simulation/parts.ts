// The parts that units are made of: lags, valves, controllers and pumps.

export const clamp = (value: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, value));

/** Moves `value` towards `target` as a first-order lag with the time constant `lagSeconds` does. */
export const lag = (value: number, target: number, seconds: number, lagSeconds: number): number =>
  value + (target - value) * (seconds / (seconds + lagSeconds));

export type Mode = "AUTO" | "MAN" | "CAS";

interface Tuning {
  readonly sp: number;
  readonly op: number;
  /** The range of the measurement that counts as 100 %. */
  readonly span: number;
  /** Negative if a larger output lowers the measurement. */
  readonly gain: number;
  readonly resetSeconds: number;
  readonly mode?: Mode;
}

/** A PI controller in its velocity form: its output moves, so that a change of mode is bumpless. */
export class Controller {
  readonly #tuning: Tuning;
  #error = 0;
  pv: number;
  sp: number;
  /** In percent. */
  op: number;
  mode: Mode;

  constructor(tuning: Tuning) {
    this.#tuning = tuning;
    this.pv = tuning.sp;
    this.sp = tuning.sp;
    this.op = tuning.op;
    this.mode = tuning.mode ?? "AUTO";
  }

  /** Takes the measurement, and returns the output from 0 to 1. */
  step(pv: number, seconds: number): number {
    const { span, gain, resetSeconds } = this.#tuning;
    const error = (this.sp - pv) / span;
    this.pv = pv;
    if (this.mode !== "MAN") {
      const move = gain * (error - this.#error + (seconds / resetSeconds) * error);
      this.op = clamp(this.op + move * 100, 0, 100);
    }
    this.#error = error;
    return this.op / 100;
  }
}

interface Rating {
  /** In m3/h, m and A. */
  readonly flow: number;
  readonly head: number;
  readonly current: number;
}

/** A centrifugal pump with its motor. */
export class Pump {
  readonly #rating: Rating;
  running = 0;
  /** From 0 to 1. */
  speed = 0;
  current = 0;
  dischargePressure = 0;
  vibration = 0;
  bearingTemperature = 20;
  /** Wear of the bearing, from 0 to 1. */
  wear = 0;

  constructor(rating: Rating) {
    this.#rating = rating;
  }

  step(isRunning: boolean, flow: number, { ambient, seconds }: { ambient: number; seconds: number }): void {
    const { flow: ratedFlow, head, current } = this.#rating;
    const load = clamp(flow / ratedFlow, 0, 1.3);
    this.running = isRunning ? 1 : 0;
    this.speed = lag(this.speed, this.running, seconds, 4);
    this.current = current * (0.38 + 0.55 * load + 0.12 * this.wear) * this.speed;
    this.dischargePressure = 0.3 + headAt(head, load) * 0.088 * this.speed ** 2;
    this.vibration = 0.12 + (1.1 + 0.5 * Math.abs(load - 0.7) + 4.6 * this.wear ** 2) * this.speed;
    const warm = ambient + (17 + 9 * load + 26 * this.wear ** 2) * this.speed;
    this.bearingTemperature = lag(this.bearingTemperature, warm, seconds, 1500);
  }
}

/** The sum over a day; it begins again at midnight UTC. */
export class DayTotal {
  total = 0;
  #day = 0;

  add(ms: number, amount: number): void {
    const day = Math.floor(ms / 86_400_000);
    this.total = day === this.#day ? this.total + amount : amount;
    this.#day = day;
  }
}

/** The curve of a pump: its head in m at a share of the rated flow. */
export const headAt = (ratedHead: number, load: number): number => ratedHead * (1.18 - 0.18 * load ** 2);

/** One of two pumps is on duty for two weeks, then the other. */
export const isFirstOnDuty = (ms: number, shiftDays: number): boolean =>
  Math.floor((ms / 86_400_000 + shiftDays) / 14) % 2 === 0;

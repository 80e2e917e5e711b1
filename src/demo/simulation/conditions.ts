// The conditions of the plant: weather, planned stops, faults and the schedule of batches. All are pure
// functions of the seed, the end of the history and the time.
import { Noise } from "./noise.ts";

export type { Noise } from "./noise.ts";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** In days: how long before the end of the history a fault begins, how long it lasts, when it comes again. */
interface Fault {
  readonly before: number;
  readonly lasts: number;
  readonly every: number;
}

/** Each of them is visible in several series. docs/demo.md describes them. */
const faults = {
  shutdown: { before: 63.5, lasts: 1.25, every: 91 },
  boilerTrip: { before: 56.6, lasts: 0.11, every: 63 },
  airLeak: { before: 38, lasts: 8.5, every: 67 },
  foulingPreheater: { before: 24.2, lasts: 41, every: 41 },
  coolingFan: { before: 15.35, lasts: 0.3, every: 52 },
  analyzer: { before: 12.3, lasts: 1.1, every: 90 },
  stickingValve: { before: 7.2, lasts: 3.4, every: 38 },
  bearingWear: { before: 8.36, lasts: 8, every: 29.6 },
  pumpTrip: { before: 0.36, lasts: 0.27, every: 29.6 },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;

export const batchPhases = [
  { name: "CHARGE", minutes: 30, varies: 0 },
  { name: "HEAT", minutes: 45, varies: 4 },
  { name: "REACT", minutes: 155, varies: 18 },
  { name: "COOL", minutes: 50, varies: 5 },
  { name: "DISCHARGE", minutes: 32, varies: 0 },
  { name: "RINSE", minutes: 20, varies: 0 },
] as const;

export type PhaseName = (typeof batchPhases)[number]["name"] | "IDLE";

export interface PlantBatch {
  readonly number: string;
  readonly recipe: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly phaseEndsMs: readonly number[];
}

/** A reactor can begin a batch once in this time; the two reactors take turns. */
const batchEveryMs = 6.4 * hourMs;

export class Conditions {
  readonly noise: Noise;
  readonly #endMs: number;
  readonly #batches: (PlantBatch | undefined)[] = [];
  readonly #slots: number[] = [];
  ambient = 12;
  humidity = 60;
  wetBulb = 9;
  wind = 3;

  constructor(seed: number, endMs: number) {
    this.noise = new Noise(seed);
    this.#endMs = endMs;
  }

  /** Sets the weather of this time. */
  update(ms: number): void {
    const dayOfYear = (ms / dayMs) % 365.25;
    const season = -Math.cos(((dayOfYear - 20) / 365.25) * 2 * Math.PI);
    const hour = (ms / hourMs) % 24;
    const daily = -Math.cos(((hour - 3) / 24) * 2 * Math.PI);
    const sunny = 0.5 + 0.5 * this.noise.wander(1, ms, 2.3 * dayMs);
    this.ambient =
      11 + 7.5 * season + (2.5 + 3.5 * sunny) * daily + 4.5 * this.noise.wander(2, ms, 3.7 * dayMs);
    const damp = 68 - 14 * daily * sunny - 9 * season + 14 * this.noise.wander(3, ms, 1.4 * dayMs);
    this.humidity = Math.min(99, Math.max(22, damp));
    this.wetBulb = this.ambient - (100 - this.humidity) * 0.13;
    this.wind =
      3.4 + 2.6 * this.noise.wander(4, ms, 5 * hourMs) + 0.7 * this.noise.wander(5, ms, 4 * minuteMs);
    this.wind = Math.max(0, this.wind);
  }

  /** How much of the fault has passed, from 0 to 1; 0 while there is none. */
  progressOf(name: FaultName, ms: number): number {
    const { before, lasts, every } = faults[name];
    const since = (ms - this.#endMs) / dayMs + before;
    const within = since - Math.floor(since / every) * every;
    return within < lasts ? Math.max(within / lasts, Number.MIN_VALUE) : 0;
  }

  isActive(name: FaultName, ms: number): boolean {
    return this.progressOf(name, ms) > 0;
  }

  /** The times at which the fault began and ended between `fromMs` and `toMs`. */
  occurrencesOf(name: FaultName, fromMs: number, toMs: number): { startMs: number; endMs: number }[] {
    const { before, lasts, every } = faults[name];
    const firstMs = this.#endMs - Math.round(before * dayMs);
    const everyMs = Math.round(every * dayMs);
    const found = [];
    for (let k = Math.ceil((fromMs - firstMs) / everyMs); ; k++) {
      const startMs = firstMs + k * everyMs;
      if (startMs >= toMs) return found;
      found.push({ startMs, endMs: startMs + Math.round(lasts * dayMs) });
    }
  }

  isWeekend(ms: number): boolean {
    const day = Math.floor(ms / dayMs + 4) % 7;
    return day === 0 || day === 6;
  }

  /** The batch in a reactor; 0 is the first reactor. */
  batchIn(reactor: number, ms: number): PlantBatch | undefined {
    const slot = Math.floor((ms - reactor * (batchEveryMs / 2)) / batchEveryMs);
    if (this.#slots[reactor] !== slot) {
      this.#slots[reactor] = slot;
      this.#batches[reactor] = this.#batchOf(reactor, slot);
    }
    const batch = this.#batches[reactor];
    return batch && ms >= batch.startMs && ms < batch.endMs ? batch : undefined;
  }

  /** At weekends every fourth batch is left out, and none runs during a shutdown. */
  #batchOf(reactor: number, slot: number): PlantBatch | undefined {
    const slotMs = slot * batchEveryMs + reactor * (batchEveryMs / 2);
    const startMs = Math.round(slotMs + this.noise.uniform(10 + reactor, slot) * 12 * minuteMs);
    if (this.isWeekend(startMs) && (slot * 2 + reactor) % 4 === 0) return undefined;
    let endMs = startMs;
    const phaseEndsMs = batchPhases.map(({ minutes, varies }, at) => {
      endMs += (minutes + varies * (this.noise.uniform(30 + reactor * 10 + at, slot) * 2 - 1)) * minuteMs;
      return Math.round(endMs);
    });
    const isStopped = (ms: number) => this.isActive("shutdown", ms) || this.isActive("boilerTrip", ms);
    if (isStopped(startMs) || this.isActive("shutdown", endMs)) return undefined;
    const count = slot * 2 + reactor;
    const recipe = Math.floor(slotMs / (5 * dayMs)) % 3 === 0 ? "EA-99.8" : "EA-99.5";
    return { number: `EA-${count % 1_000_000}`, recipe, startMs, endMs: Math.round(endMs), phaseEndsMs };
  }
}

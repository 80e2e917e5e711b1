// Alarms: a measurement is beyond a limit for some minutes.
import type { AlarmLimit } from "../description.ts";
import type { Instrument } from "../samples.ts";
import { type Conditions, hourMs, minuteMs } from "../simulation/conditions.ts";
import type { EventSource, OpenEvents, PlantEvent, Watched } from "./plant-event.ts";

const delayMs = 2 * minuteMs;

/** Alarms are suppressed during a planned stop, and while the plant starts up after it. */
const startUpMs = 6 * hourMs;

interface Limit extends AlarmLimit {
  readonly key: string;
  readonly instrument: Instrument;
  /** The alarm ends when the value is back beyond this. */
  readonly reset: number;
  /** When the value went beyond the limit. */
  sinceMs: number | undefined;
}

export class Alarms implements EventSource {
  readonly #conditions: Conditions;
  readonly #limits: readonly Limit[];

  constructor({ plant, instruments }: Watched) {
    this.#conditions = plant.conditions;
    this.#limits = instruments.flatMap(limitsOf);
  }

  observe(ms: number, events: OpenEvents): void {
    const isStopped = this.#isStopped(ms);
    for (const watched of this.#limits) {
      const { key, instrument, kind, limit, reset } = watched;
      const value = instrument.value(ms) as number;
      const isBeyond = (level: number) => (kind === "high" ? value > level : value < level);
      if (events.has(key)) {
        if (!isBeyond(reset)) events.end(key, ms);
      } else if (!isBeyond(limit) || isStopped) watched.sinceMs = undefined;
      else {
        watched.sinceMs ??= ms;
        if (ms - watched.sinceMs < delayMs) continue;
        watched.sinceMs = undefined;
        events.begin(alarmOf(watched, ms, value));
      }
    }
  }

  #isStopped(ms: number): boolean {
    return this.#conditions.isActive("shutdown", ms) || this.#conditions.isActive("shutdown", ms - startUpMs);
  }
}

function limitsOf(instrument: Instrument): Limit[] {
  const { name, alarms, low, high } = instrument.row;
  const band = (high - low) * 0.012;
  return alarms.map(({ kind, limit }) => ({
    ...{ key: `alarm ${name} ${kind}`, instrument, kind, limit, sinceMs: undefined },
    reset: kind === "high" ? limit - band : limit + band,
  }));
}

function alarmOf(
  { key, instrument: { row }, kind, limit }: Limit,
  startMs: number,
  value: number,
): PlantEvent {
  const than = kind === "high" ? "above" : "below";
  const unit = row.unit === "" ? "" : ` ${row.unit}`;
  return {
    ...{ key, type: "alarm", subtype: kind, startMs, assets: [row.asset] },
    description: `${row.name} ${row.description} is ${than} ${limit}${unit}`,
    metadata: { severity: kind === "high" ? "2" : "3", tag: row.name, limit: `${limit}`, value: `${value}` },
  };
}

// Events of the plant: alarms when a measurement leaves its limits, batches, and the work orders and trips
// that go with faults and maintenance. Each is opened and closed as time passes, in the history as in live
// operation.
import type { Description, SeriesRow } from "./description.ts";
import type { Instrument } from "./samples.ts";
import { dayMs, type FaultName, hourMs, minuteMs } from "./simulation/conditions.ts";
import type { Plant } from "./simulation/plant.ts";
import type { Reactor } from "./simulation/reaction.ts";

export interface PlantEvent {
  /** Unique among the open events. */
  readonly key: string;
  readonly type: string;
  readonly subtype: string;
  readonly description: string;
  readonly startMs: number;
  /** Absent while the event lasts. */
  readonly endMs?: number;
  readonly assets: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
}

export const externalIdOf = ({ key, startMs }: PlantEvent): string => `${key} ${startMs}`;

interface Watched {
  readonly key: string;
  readonly instrument: Instrument;
  readonly kind: "high" | "low";
  readonly limit: number;
  /** The alarm ends when the value is back beyond this. */
  readonly reset: number;
  sinceMs: number | undefined;
}

const alarmDelayMs = 2 * minuteMs;

/** How often it looks for planned events that have begun. */
const planEveryMs = 10 * minuteMs;

export class EventWatch {
  readonly #plant: Plant;
  readonly #endMs: number;
  readonly #description: Description;
  readonly #limits: readonly Watched[];
  readonly #open = new Map<string, PlantEvent>();
  /** When an open event ends that is planned. */
  readonly #plannedEnds = new Map<string, number>();
  /** The batch in each reactor. */
  readonly #batches = new Map<string, { readonly key: string; readonly number: string }>();
  #plannedToMs: number;

  /** Observes from `startMs` on; events of `open` began before. */
  constructor(
    { plant, endMs, description }: { plant: Plant; endMs: number; description: Description },
    { instruments, startMs, open }: WatchStart,
  ) {
    this.#plant = plant;
    this.#endMs = endMs;
    this.#description = description;
    this.#limits = instruments.flatMap(watchedOf);
    this.#plannedToMs = startMs;
    for (const event of open) {
      this.#open.set(event.key, event);
      const { batch, reactor } = event.metadata;
      if (event.type === "batch") this.#batches.set(reactor!, { key: event.key, number: batch! });
      const planned = this.#planned(event.startMs, event.startMs + 1).find(({ key }) => key === event.key);
      if (planned) this.#plannedEnds.set(event.key, planned.endMs!);
    }
  }

  get open(): readonly PlantEvent[] {
    return [...this.#open.values()];
  }

  /** The events that have begun and those that have ended, since the time before. */
  observe(ms: number): { readonly begun: readonly PlantEvent[]; readonly ended: readonly PlantEvent[] } {
    const begun: PlantEvent[] = [];
    const ended: PlantEvent[] = [];
    const begin = (event: PlantEvent) => {
      this.#open.set(event.key, event);
      begun.push(event);
    };
    const end = (key: string, endMs: number, metadata: PlantEvent["metadata"] = {}) => {
      const event = this.#open.get(key)!;
      this.#open.delete(key);
      ended.push({ ...event, endMs, metadata: { ...event.metadata, ...metadata } });
    };
    if (ms - this.#plannedToMs >= planEveryMs) {
      for (const { endMs, ...event } of this.#planned(this.#plannedToMs, ms)) {
        this.#plannedEnds.set(event.key, endMs!);
        begin(event);
      }
      this.#plannedToMs = ms;
    }
    for (const [key, endMs] of this.#plannedEnds)
      if (endMs <= ms) {
        this.#plannedEnds.delete(key);
        end(key, endMs);
      }
    for (const watched of this.#limits) this.#alarm(watched, ms, { begin, end });
    const { reactor1, reactor2 } = this.#plant.reaction;
    this.#batch("23-R-1101", reactor1, ms, { begin, end });
    this.#batch("23-R-1201", reactor2, ms, { begin, end });
    return { begun, ended };
  }

  #alarm(watched: Watched, ms: number, { begin, end }: Changes): void {
    const { key, instrument, kind, limit, reset } = watched;
    const value = instrument.value(ms) as number;
    const isHigh = kind === "high";
    const isOpen = this.#open.has(key);
    if (isOpen && (isHigh ? value < reset : value > reset)) end(key, ms);
    const isBeyond = !isOpen && (isHigh ? value > limit : value < limit) && !this.#isStopped(ms);
    watched.sinceMs = isBeyond ? (watched.sinceMs ?? ms) : undefined;
    if (watched.sinceMs === undefined || ms - watched.sinceMs < alarmDelayMs) return;
    begin(alarmOf(instrument.row, { kind, limit, value, startMs: ms, key }));
    watched.sinceMs = undefined;
  }

  /** Alarms are suppressed during a planned stop. */
  #isStopped(ms: number): boolean {
    const { conditions } = this.#plant;
    return conditions.isActive("shutdown", ms) || conditions.isActive("shutdown", ms - 6 * hourMs);
  }

  #batch(asset: string, reactor: Reactor, ms: number, { begin, end }: Changes): void {
    const before = this.#batches.get(asset);
    if (before?.number === reactor.batch) return;
    if (before)
      end(before.key, ms, {
        conversion: `${reactor.lastConversion.toFixed(1)} %`,
        ester: `${(reactor.lastConversion * 0.085).toFixed(2)} t`,
      });
    this.#batches.delete(asset);
    if (reactor.batch === "none") return;
    const { batch: number, recipe, batchStartMs: startMs } = reactor;
    const key = `batch ${asset} ${number}`;
    this.#batches.set(asset, { key, number });
    begin({
      ...{ key, type: "batch", subtype: recipe, startMs, assets: [asset] },
      description: `Batch ${number} in ${asset}`,
      metadata: { batch: number, recipe, reactor: asset },
    });
  }

  /** Events of faults and maintenance that begin from `fromMs` to before `toMs`, with their ends. */
  #planned(fromMs: number, toMs: number): PlantEvent[] {
    return [...this.#faultEvents(fromMs, toMs), ...this.#workOrders(fromMs, toMs)];
  }

  #faultEvents(fromMs: number, toMs: number): PlantEvent[] {
    return this.#description.faultEvents.flatMap(({ fault, from, hours, ...row }) => {
      const shiftMs = from * hourMs;
      const { conditions } = this.#plant;
      return conditions.occurrencesOf(fault as FaultName, fromMs - shiftMs, toMs - shiftMs).map((one) => ({
        ...{ key: `${row.type} ${row.asset} ${fault}`, type: row.type, subtype: row.subtype },
        ...{ description: row.description, assets: [row.asset] },
        startMs: one.startMs + shiftMs,
        endMs: one.startMs + shiftMs + Math.round(hours * hourMs),
        metadata: { severity: row.severity, tag: row.asset, ...orderOf(row, one.startMs + shiftMs) },
      }));
    });
  }

  #workOrders(fromMs: number, toMs: number): PlantEvent[] {
    return this.#description.maintenance.flatMap(({ asset, description, every, offset, hours, craft }) => {
      const firstMs = this.#endMs - (this.#endMs % dayMs) - offset * dayMs + 9 * hourMs;
      const found: PlantEvent[] = [];
      for (let k = Math.ceil((fromMs - firstMs) / (every * dayMs)); ; k++) {
        const startMs = Math.round(firstMs + k * every * dayMs);
        if (startMs >= toMs) return found;
        const row = { type: "work order", asset };
        found.push({
          ...{
            key: `work order ${asset} ${description}`,
            type: row.type,
            subtype: "preventive",
            description,
          },
          ...{ startMs, endMs: startMs + hours * hourMs, assets: [asset] },
          metadata: { severity: "4", tag: asset, craft, ...orderOf(row, startMs) },
        });
      }
    });
  }
}

interface Changes {
  readonly begin: (event: PlantEvent) => void;
  readonly end: (key: string, endMs: number, metadata?: PlantEvent["metadata"]) => void;
}

interface WatchStart {
  readonly instruments: readonly Instrument[];
  readonly startMs: number;
  readonly open: readonly PlantEvent[];
}

/** Work orders have a number. */
const orderOf = ({ type, asset }: { type: string; asset: string }, startMs: number) =>
  type === "work order"
    ? { order: `WO-${Math.floor(startMs / hourMs) % 1_000_000}-${asset.replace(/\D/g, "").slice(-4)}` }
    : {};

function watchedOf(instrument: Instrument): Watched[] {
  const { alarms, low, high } = instrument.row;
  const band = (high - low) * 0.012;
  return alarms.map(({ kind, limit }) => ({
    ...{ key: `alarm ${instrument.row.name} ${kind}`, instrument, kind, limit, sinceMs: undefined },
    reset: kind === "high" ? limit - band : limit + band,
  }));
}

interface Alarm {
  readonly kind: "high" | "low";
  readonly limit: number;
  readonly value: number;
  readonly startMs: number;
  readonly key: string;
}

function alarmOf(row: SeriesRow, { kind, limit, value, startMs, key }: Alarm): PlantEvent {
  const than = kind === "high" ? "above" : "below";
  const unit = row.unit === "" ? "" : ` ${row.unit}`;
  return {
    ...{ key, type: "alarm", subtype: kind, startMs, assets: [row.asset] },
    description: `${row.name} ${row.description} is ${than} ${limit}${unit}`,
    metadata: { severity: kind === "high" ? "2" : "3", tag: row.name, limit: `${limit}`, value: `${value}` },
  };
}

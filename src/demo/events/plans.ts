// Events whose times are known: those of faults, such as trips and repairs, and maintenance.
import type { Description, FaultEventRow } from "../description.ts";
import { type Conditions, dayMs, type FaultName, hourMs, minuteMs } from "../simulation/conditions.ts";
import type { EventSource, OpenEvents, PlantEvent, Watched, WatchStart } from "./plant-event.ts";

/** How often it looks for events that have begun. */
const planEveryMs = 10 * minuteMs;

type Planned = PlantEvent & { readonly endMs: number };

export class Plans implements EventSource {
  readonly #conditions: Conditions;
  readonly #description: Description;
  readonly #historyEndMs: number;
  /** When the open events end, by key. */
  readonly #ends = new Map<string, number>();
  #plannedToMs: number;

  constructor({ plant, description, endMs }: Watched, { startMs, open }: WatchStart) {
    this.#conditions = plant.conditions;
    this.#description = description;
    this.#historyEndMs = endMs;
    this.#plannedToMs = startMs;
    for (const event of open) {
      const planned = this.#between(event.startMs, event.startMs + 1).find(({ key }) => key === event.key);
      if (planned) this.#ends.set(event.key, planned.endMs);
    }
  }

  observe(ms: number, events: OpenEvents): void {
    if (ms - this.#plannedToMs < planEveryMs) return;
    for (const { endMs, ...event } of this.#between(this.#plannedToMs, ms)) {
      this.#ends.set(event.key, endMs);
      events.begin(event);
    }
    this.#plannedToMs = ms;
    for (const [key, endMs] of this.#ends) {
      if (endMs > ms) continue;
      this.#ends.delete(key);
      events.end(key, endMs);
    }
  }

  /** Events that begin from `fromMs` to before `toMs`. */
  #between(fromMs: number, toMs: number): Planned[] {
    return [...this.#ofFaults(fromMs, toMs), ...this.#maintenance(fromMs, toMs)];
  }

  #ofFaults(fromMs: number, toMs: number): Planned[] {
    return this.#description.faultEvents.flatMap((row) => {
      const shiftMs = Math.round(row.from * hourMs);
      return this.#conditions
        .occurrencesOf(row.fault as FaultName, fromMs - shiftMs, toMs - shiftMs)
        .map(({ startMs }) => faultEvent(row, startMs + shiftMs));
    });
  }

  /** At nine o'clock of every so many days. */
  #maintenance(fromMs: number, toMs: number): Planned[] {
    const lastDayMs = this.#historyEndMs - (this.#historyEndMs % dayMs) + 9 * hourMs;
    return this.#description.maintenance.flatMap(({ asset, description, every, offset, hours, craft }) => {
      const firstMs = Math.round(lastDayMs - offset * dayMs);
      const found: Planned[] = [];
      for (let k = Math.ceil((fromMs - firstMs) / (every * dayMs)); ; k++) {
        const startMs = firstMs + k * every * dayMs;
        if (startMs >= toMs) return found;
        found.push({
          ...{ key: `work order ${asset} ${description}`, type: "work order", subtype: "preventive" },
          ...{ description, startMs, endMs: startMs + Math.round(hours * hourMs), assets: [asset] },
          metadata: { severity: "4", tag: asset, craft, order: orderNumber(asset, startMs) },
        });
      }
    });
  }
}

function faultEvent({ fault, type, subtype, asset, ...row }: FaultEventRow, startMs: number): Planned {
  const order = type === "work order" ? { order: orderNumber(asset, startMs) } : {};
  return {
    ...{ key: `${type} ${asset} ${fault}`, type, subtype, description: row.description, assets: [asset] },
    ...{ startMs, endMs: startMs + Math.round(row.hours * hourMs) },
    metadata: { severity: row.severity, tag: asset, ...order },
  };
}

const orderNumber = (asset: string, startMs: number) =>
  `WO-${Math.floor(startMs / hourMs) % 1_000_000}-${asset.replace(/\D/g, "").slice(-4)}`;

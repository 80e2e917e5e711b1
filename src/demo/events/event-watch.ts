// Watches the plant and returns the events that begin and end, in the history as in live operation.
import { Alarms } from "./alarms.ts";
import { Batches, LabSamples, Loadings } from "./operations.ts";
import { Plans } from "./plans.ts";
import type { EventSource, OpenEvents, PlantEvent, Watched, WatchStart } from "./plant-event.ts";

export interface EventChanges {
  readonly begun: readonly PlantEvent[];
  readonly ended: readonly PlantEvent[];
}

export class EventWatch {
  readonly #sources: readonly EventSource[];
  readonly #open: Map<string, PlantEvent>;

  constructor(watched: Watched, start: WatchStart) {
    this.#open = new Map(start.open.map((event) => [event.key, event]));
    const { plant } = watched;
    this.#sources = [
      new Plans(watched, start),
      new Alarms(watched),
      new Batches(plant, start.open),
      new Loadings(plant),
      new LabSamples(plant),
    ];
  }

  get open(): readonly PlantEvent[] {
    return [...this.#open.values()];
  }

  /** The events that have begun and those that have ended, since the time before. */
  observe(ms: number): EventChanges {
    const begun: PlantEvent[] = [];
    const ended: PlantEvent[] = [];
    const events: OpenEvents = {
      has: (key) => this.#open.has(key),
      begin: (event) => {
        this.#open.set(event.key, event);
        begun.push(event);
      },
      end: (key, endMs, metadata = {}) => {
        const event = this.#open.get(key)!;
        this.#open.delete(key);
        ended.push({ ...event, endMs, metadata: { ...event.metadata, ...metadata } });
      },
    };
    for (const source of this.#sources) source.observe(ms, events);
    return { begun, ended };
  }
}

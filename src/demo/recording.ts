// Records the simulated plant: its points at a resolution, and its events.
import type { Description, Rate } from "./description.ts";
import { EventWatch } from "./events/event-watch.ts";
import type { PlantEvent } from "./events/plant-event.ts";
import { Instrument, type Resolution, ratesDue, type Value } from "./samples.ts";
import { type History, Plant } from "./simulation/plant.ts";

export type WritePoint = (series: number, ms: number, value: Value) => void;

export class Recording {
  readonly plant: Plant;
  readonly #endMs: number;
  readonly #byRate: ReadonlyMap<Rate, readonly Instrument[]>;
  readonly events: EventWatch;

  /** Begins at `startMs`; events of `open` began before. */
  constructor(
    description: Description,
    history: History,
    { startMs, open = [] }: { startMs: number; open?: readonly PlantEvent[] },
  ) {
    const plant = new Plant(history, startMs);
    const { endMs } = history;
    this.plant = plant;
    this.#endMs = endMs;
    const instruments = description.series.map((row, at) => new Instrument(row, at, plant));
    this.#byRate = Map.groupBy(instruments, ({ row }) => row.rate);
    this.events = new EventWatch({ plant, endMs, description, instruments }, { startMs, open });
  }

  /** Runs the plant until `ms` and writes a point of each series that is due then. */
  record(ms: number, resolution: Resolution, write: WritePoint): void {
    this.plant.advance(ms);
    for (const rate of ratesDue(ms, resolution))
      for (const instrument of this.#byRate.get(rate)!) {
        if (instrument.isOut(ms, this.#endMs)) continue;
        const value = rate === "change" ? instrument.changed(ms, resolution) : instrument.value(ms);
        if (value !== undefined) write(instrument.at, ms, value);
      }
  }
}

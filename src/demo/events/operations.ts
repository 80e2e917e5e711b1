// Events of daily operation: batches, the loading of road tankers, samples for the laboratory.
import { hourMs, minuteMs } from "../simulation/conditions.ts";
import type { Plant } from "../simulation/plant.ts";
import type { Reactor } from "../simulation/reaction.ts";
import type { EventSource, OpenEvents, PlantEvent } from "./plant-event.ts";

export class Batches implements EventSource {
  readonly #reactors: readonly (readonly [asset: string, reactor: Reactor])[];
  /** The number of the batch in each reactor. */
  readonly #running = new Map<string, string>();

  constructor({ reaction }: Plant, open: readonly PlantEvent[]) {
    this.#reactors = [
      ["23-R-1101", reaction.reactor1],
      ["23-R-1201", reaction.reactor2],
    ];
    for (const { type, metadata } of open)
      if (type === "batch") this.#running.set(metadata["reactor"]!, metadata["batch"]!);
  }

  observe(ms: number, events: OpenEvents): void {
    for (const [asset, reactor] of this.#reactors) {
      const running = this.#running.get(asset);
      if (running === reactor.batch) continue;
      if (running !== undefined && running !== "none")
        events.end(keyOf(asset, running), ms, resultOf(reactor));
      this.#running.set(asset, reactor.batch);
      if (reactor.batch !== "none") events.begin(batchIn(asset, reactor));
    }
  }
}

const keyOf = (asset: string, batch: string) => `batch ${asset} ${batch}`;

const resultOf = ({ lastConversion }: Reactor) => ({
  conversion: `${lastConversion.toFixed(1)} %`,
  ester: `${(lastConversion * 0.085).toFixed(2)} t`,
});

const batchIn = (asset: string, { batch, recipe, batchStartMs: startMs }: Reactor): PlantEvent => ({
  ...{ key: keyOf(asset, batch), type: "batch", subtype: recipe, startMs, assets: [asset] },
  description: `Batch ${batch} in ${asset}`,
  metadata: { batch, recipe, reactor: asset },
});

const loadingKey = "loading 24-P-2122";
const oneLoad = "20.2 m3";

export class Loadings implements EventSource {
  readonly #plant: Plant;

  constructor(plant: Plant) {
    this.#plant = plant;
  }

  observe(ms: number, events: OpenEvents): void {
    const { loadingPump, toTankB } = this.#plant.distillation;
    const isOpen = events.has(loadingKey);
    if (isOpen && loadingPump.running === 0) events.end(loadingKey, ms, { quantity: oneLoad });
    if (isOpen || loadingPump.running === 0) return;
    const tank = toTankB ? "24-T-2120A" : "24-T-2120B";
    events.begin({
      ...{ key: loadingKey, type: "loading", subtype: "road tanker", startMs: ms },
      description: `Road tanker is loaded from ${tank}`,
      assets: ["24-P-2122", tank],
      metadata: { product: "ethyl acetate", tank },
    });
  }
}

const sampleKey = "sample 24-AT-2051";
const sampleEveryMs = 8 * hourMs;
const sampleAtMs = 6 * hourMs;
const analysisMs = 45 * minuteMs;

/** The laboratory knows the result some time after the sample is taken. */
export class LabSamples implements EventSource {
  readonly #plant: Plant;

  constructor(plant: Plant) {
    this.#plant = plant;
  }

  observe(ms: number, events: OpenEvents): void {
    const since = (ms - sampleAtMs) % sampleEveryMs;
    const { distillation } = this.#plant;
    if (events.has(sampleKey)) {
      if (since < analysisMs) return;
      const { purity, water } = distillation;
      const result = { purity: `${purity.toFixed(2)} %`, water: `${water.toFixed(0)} ppm` };
      events.end(sampleKey, ms - since + analysisMs, result);
    } else if (since < 10 * minuteMs && distillation.distillate > 0.2)
      events.begin({
        ...{ key: sampleKey, type: "sample", subtype: "product", startMs: ms - since },
        description: "Sample of the product for the laboratory",
        ...{ assets: ["24-AT-2051"], metadata: { method: "gas chromatography" } },
      });
  }
}

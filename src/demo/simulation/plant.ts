// The whole plant: steps its units in small steps of time, each with the state of the others one step before.
import { Conditions, dayMs } from "./conditions.ts";
import { DistillationUnit } from "./distillation.ts";
import type { Pump } from "./parts.ts";
import { ReactionUnit } from "./reaction.ts";
import type { Supply } from "./supply.ts";
import { UtilityUnit } from "./utilities.ts";

/** The longest step: controllers and lags are stable with it. */
const stepMsMax = 20_000;

/** Levels and temperatures forget where they began within this time; deliveries need a week. */
const warmUpMs = 7 * dayMs;

export interface History {
  readonly seed: number;
  /** The end of the history: faults and planned stops have their times relative to it. */
  readonly endMs: number;
}

export class Plant {
  readonly conditions: Conditions;
  readonly reaction = new ReactionUnit();
  readonly distillation = new DistillationUnit();
  readonly utilities = new UtilityUnit();
  #ms: number;

  /** The plant at `startMs`; it has run for the time of a warm-up. */
  constructor({ seed, endMs }: History, startMs: number) {
    this.conditions = new Conditions(seed, endMs);
    this.#ms = startMs - warmUpMs;
    this.advance(startMs);
  }

  /** Runs the plant until this time. */
  advance(toMs: number): void {
    while (this.#ms < toMs) {
      const stepMs = Math.min(stepMsMax, toMs - this.#ms);
      this.#ms += stepMs;
      this.#step(this.#ms, stepMs / 1000);
    }
  }

  #step(ms: number, seconds: number): void {
    const { conditions, reaction, distillation, utilities } = this;
    conditions.update(ms);
    const supply: Supply = {
      conditions,
      steamShare: utilities.steamShare,
      coolingTemperature: utilities.coolingTemperature,
      coolingShare: utilities.coolingShare,
      columnFeed: distillation.feed,
    };
    const crude = {
      temperature: reaction.crudeTemperature,
      demand: reaction.crudeLevel.op / 100,
      head: reaction.crudeHead,
    };
    const { reactor1, reactor2 } = reaction;
    const cooled = (reactor1.coolingFlow + reactor2.coolingFlow) * 1.163 * 7;
    const used = reactor1.steamFlow + reactor2.steamFlow;
    const demand = {
      steam: (used + distillation.reboilerSteam + distillation.preheaterSteam) / 1000,
      heat: distillation.heatToWater + cooled,
      powerOf23: powerOf(pumpsOf(reaction)) + 0.55 * (reactor1.agitatorCurrent + reactor2.agitatorCurrent),
      powerOf24: powerOf(pumpsOf(distillation)),
    };
    reaction.step(ms, seconds, supply);
    distillation.step(ms, seconds, { supply, crude });
    utilities.step(ms, seconds, { conditions, demand });
  }
}

const pumpsOf = (unit: ReactionUnit | DistillationUnit): readonly Pump[] =>
  unit instanceof ReactionUnit
    ? [
        ...[unit.ethanolPumpA, unit.ethanolPumpB, unit.acidPumpA, unit.acidPumpB],
        ...[unit.catalystPump, unit.crudePumpA, unit.crudePumpB],
      ]
    : [...[unit.bottomsPumpA, unit.bottomsPumpB, unit.refluxPumpA, unit.refluxPumpB], unit.loadingPump];

const powerOf = (pumps: readonly Pump[]): number =>
  pumps.reduce((sum, { current }) => sum + current, 0) * 0.59;

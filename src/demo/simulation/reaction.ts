// Unit 23: raw materials are premixed by ratio, two batch reactors take the premix in turns, and a tank
// collects the crude ester for the column.
import {
  batchPhases,
  type Conditions,
  dayMs,
  hourMs,
  minuteMs,
  type PhaseName,
  type PlantBatch,
} from "./conditions.ts";
import { Controller, clamp, DayTotal, isFirstOnDuty, lag, Pump } from "./parts.ts";
import type { Supply } from "./supply.ts";

const tankVolume = 250;
const premixVolume = 32;
const crudeVolume = 48;
const batchVolume = 12;

const fill = (volume: number, change: number, most: number) => clamp(volume + change, 0, most);

export class ReactionUnit {
  readonly ethanolFlow = new Controller({
    ...{ sp: 1.9, op: 35, span: 6, gain: 0.35, resetSeconds: 18, mode: "CAS" },
  });
  readonly acidFlow = new Controller({
    ...{ sp: 1.9, op: 35, span: 6, gain: 0.35, resetSeconds: 18, mode: "CAS" },
  });
  /** Averaging: the level may swing with the batches, so that the feed stays calm. */
  readonly premixLevel = new Controller({ sp: 55, op: 40, span: 100, gain: 0.9, resetSeconds: 60_000 });
  readonly crudeLevel = new Controller({ sp: 50, op: 45, span: 100, gain: -0.6, resetSeconds: 70_000 });
  readonly ethanolPumpA = new Pump({ flow: 6, head: 32, current: 8 });
  readonly ethanolPumpB = new Pump({ flow: 6, head: 32, current: 8 });
  readonly acidPumpA = new Pump({ flow: 6, head: 34, current: 9 });
  readonly acidPumpB = new Pump({ flow: 6, head: 34, current: 9 });
  readonly catalystPump = new Pump({ flow: 0.06, head: 60, current: 1.2 });
  readonly crudePumpA = new Pump({ flow: 8, head: 40, current: 11 });
  readonly crudePumpB = new Pump({ flow: 8, head: 40, current: 11 });
  readonly reactor1 = new Reactor(0);
  readonly reactor2 = new Reactor(1);

  readonly ethanolOfDay = new DayTotal();
  readonly acidOfDay = new DayTotal();

  ethanolTankLevel = 70;
  ethanolTankTemperature = 14;
  acidTankLevel = 62;
  acidTankTemperature = 24;
  catalystLevel = 60;
  catalystFlow = 0;
  ethanolValve = 35;
  acidValve = 35;
  filterDrop = 60;
  premix = 17;
  premixTemperature = 18;
  premixDensity = 905;
  premixCurrent = 6;
  crude = 24;
  crudeTemperature = 35;
  crudeEster = 60;
  /** From 0 to 1, of the pumps on duty. */
  crudeHead = 1;
  #ethanol = 1.9;
  #acid = 1.9;

  step(ms: number, seconds: number, supply: Supply): void {
    const hours = seconds / 3600;
    this.#tanks(ms, hours, supply.conditions);
    this.#feed(ms, seconds, supply);
    const { reactor1, reactor2 } = this;
    reactor1.step(ms, seconds, { ...this.#available(), supply });
    reactor2.step(ms, seconds, { ...this.#available(), supply });
    const charged = (reactor1.chargeFlow + reactor2.chargeFlow) * hours;
    const made = (reactor1.dischargeFlow + reactor2.dischargeFlow) * hours;
    this.#premix(seconds, charged, supply.conditions);
    this.#crude(ms, seconds, made, supply);
  }

  #available() {
    return { premix: this.premix, premixTemperature: this.premixTemperature };
  }

  /** Trucks fill the tanks in two windows of each working day. */
  #tanks(ms: number, hours: number, conditions: Conditions): void {
    const hour = (ms / hourMs) % 24;
    const isDelivery = !conditions.isWeekend(ms) && (Math.abs(hour - 8) < 1 || Math.abs(hour - 14.5) < 0.8);
    const delivered = (level: number) => (isDelivery && level < 88 ? 34 * hours : 0);
    const ethanol = this.ethanolTankLevel;
    const acid = this.acidTankLevel;
    const gained = { ethanol: delivered(ethanol), acid: delivered(acid) };
    const percent = 100 / tankVolume;
    this.ethanolOfDay.add(ms, this.#ethanol * hours);
    this.acidOfDay.add(ms, this.#acid * hours);
    this.ethanolTankLevel = fill(ethanol, (gained.ethanol - this.#ethanol * hours) * percent, 100);
    this.acidTankLevel = fill(acid, (gained.acid - this.#acid * hours) * percent, 100);
    const seconds = hours * 3600;
    const ground = 0.75 * conditions.ambient + 3.5;
    this.ethanolTankTemperature = lag(this.ethanolTankTemperature, ground, seconds, 40_000);
    this.acidTankTemperature = lag(this.acidTankTemperature, 23 + ground * 0.08, seconds, 50_000);
    const dosed = (this.catalystFlow / 1000) * hours;
    const isRefilled = this.catalystLevel < 34 && isDelivery;
    this.catalystLevel = fill(this.catalystLevel, (isRefilled ? 60 * hours : 0) - dosed * 50, 100);
  }

  #feed(ms: number, seconds: number, { conditions }: Supply): void {
    const isStopped = conditions.isActive("shutdown", ms);
    const trip = conditions.progressOf("pumpTrip", ms);
    // The standby pump is started by hand, a few minutes after the trip.
    const isStandbyOn = trip > 0.012;
    const [ethanolA, ethanolB] = [this.ethanolPumpA, this.ethanolPumpB];
    const machine = { ambient: conditions.ambient, seconds };
    ethanolA.wear = 0.08 + 0.9 * conditions.progressOf("bearingWear", ms);
    ethanolA.step(!isStopped && trip === 0, this.#ethanol, machine);
    ethanolB.step(!isStopped && isStandbyOn, this.#ethanol, machine);
    const isFirst = isFirstOnDuty(ms, 3);
    this.acidPumpA.step(!isStopped && isFirst, this.#acid, machine);
    this.acidPumpB.step(!isStopped && !isFirst, this.#acid, machine);
    const head = Math.max(ethanolA.speed, ethanolB.speed);
    const acidHead = Math.max(this.acidPumpA.speed, this.acidPumpB.speed);

    const demand = this.premixLevel.step((this.premix / premixVolume) * 100, seconds);
    const { ethanolFlow, acidFlow } = this;
    const fault = conditions.progressOf("stickingValve", ms);
    ethanolFlow.mode = fault > 0.82 ? "MAN" : "CAS";
    ethanolFlow.sp = isStopped ? 0 : 0.2 + demand * 4.4;
    acidFlow.sp = isStopped ? 0 : this.#ethanol * (1.02 + 0.02 * conditions.noise.steps(40, ms, dayMs));
    const ethanolOutput = ethanolFlow.step(this.#ethanol, seconds) * 100;
    const sticks = fault > 0 ? 7 : 0.15;
    if (Math.abs(ethanolOutput - this.ethanolValve) > sticks) this.ethanolValve = ethanolOutput;
    this.acidValve = lag(this.acidValve, acidFlow.step(this.#acid, seconds) * 100, seconds, 2);
    const swing = 1 + 0.012 * conditions.noise.wander(41, ms, 3 * minuteMs);
    this.#ethanol = lag(this.#ethanol, (this.ethanolValve / 100) * 5.6 * head * swing, seconds, 4);
    const acidSwing = 1 + 0.012 * conditions.noise.wander(42, ms, 4 * minuteMs);
    this.#acid = lag(this.#acid, (this.acidValve / 100) * 5.8 * acidHead * acidSwing, seconds, 4);
    const clogged = ((ms / dayMs) % 17) / 17;
    this.filterDrop = (70 + 260 * clogged ** 2) * ((this.#ethanol + this.#acid) / 3.8) ** 1.8;
  }

  #premix(seconds: number, charged: number, conditions: Conditions): void {
    const hours = seconds / 3600;
    const { premix } = this;
    this.premix = fill(premix, (this.#ethanol + this.#acid) * hours - charged, premixVolume);
    const acidShare = this.#acid / (this.#ethanol + this.#acid + 0.01);
    const inlet = 0.5 * (this.ethanolTankTemperature + this.acidTankTemperature) + 3;
    this.premixTemperature = lag(this.premixTemperature, inlet, seconds, 12_000);
    this.premixDensity = lag(this.premixDensity, 790 + 258 * acidShare - 0.9 * (inlet - 20), seconds, 9000);
    this.premixCurrent = 4.2 + (this.premix / premixVolume) * 3.1 + 0.01 * conditions.ambient;
    this.catalystFlow = (this.reactor1.chargeFlow + this.reactor2.chargeFlow) * 1.9;
    this.catalystPump.step(this.catalystFlow > 5, this.catalystFlow / 1000, {
      ambient: conditions.ambient,
      seconds,
    });
  }

  #crude(ms: number, seconds: number, made: number, { conditions, columnFeed }: Supply): void {
    const before = this.crude;
    this.crude = fill(before, made - columnFeed * (seconds / 3600), crudeVolume);
    const gained = made / Math.max(before, 2);
    this.crudeTemperature += (41 - this.crudeTemperature) * clamp(gained, 0, 1);
    this.crudeTemperature = lag(this.crudeTemperature, conditions.ambient + 6, seconds, 160_000);
    const ester = 0.92 * Math.max(this.reactor1.lastConversion, this.reactor2.lastConversion);
    this.crudeEster += (ester - this.crudeEster) * clamp(gained, 0, 1);
    this.crudeLevel.step((this.crude / crudeVolume) * 100, seconds);
    const isStopped = conditions.isActive("shutdown", ms) || this.crude < 1.5;
    const isFirst = isFirstOnDuty(ms, 8);
    const machine = { ambient: conditions.ambient, seconds };
    this.crudePumpA.step(!isStopped && isFirst, columnFeed, machine);
    this.crudePumpB.step(!isStopped && !isFirst, columnFeed, machine);
    this.crudeHead = Math.max(this.crudePumpA.speed, this.crudePumpB.speed);
  }
}

interface ReactorInput {
  readonly premix: number;
  readonly premixTemperature: number;
  readonly supply: Supply;
}

const reactionTemperature = 84;
const equilibrium = 0.71;

/** A jacketed batch reactor. Its temperature controller opens steam above 50 % and cooling water below. */
export class Reactor {
  readonly #index: number;
  readonly temperature = new Controller({
    ...{ sp: 25, op: 50, span: 100, gain: 5, resetSeconds: 7000, mode: "MAN" },
  });
  phase: PhaseName = "IDLE";
  batch = "none";
  batchStartMs = 0;
  recipe = "none";
  volume = 0.2;
  level = 1;
  weight = 0.2;
  pressure = 1.05;
  jacketTemperature = 25;
  condenserTemperature = 20;
  agitatorSpeed = 0;
  agitatorCurrent = 0;
  agitatorVibration = 0;
  steamFlow = 0;
  coolingFlow = 0;
  conversion = 0;
  conversionPercent = 0;
  /** In percent, of the batch before. */
  lastConversion = 66;
  chargeFlow = 0;
  dischargeFlow = 0;
  chargeOpen = 0;
  dischargeOpen = 0;
  ventOpen = 0;
  #contents = 25;
  #phaseFrom = 25;

  constructor(index: number) {
    this.#index = index;
  }

  step(ms: number, seconds: number, input: ReactorInput): void {
    const { conditions } = input.supply;
    const batch = conditions.batchIn(this.#index, ms);
    this.#enter(batch, phaseOf(batch, ms));
    this.#move(seconds, input);
    this.#react(seconds);
    this.#heat(ms, seconds, input.supply, batch);
    this.level = clamp((this.volume / 15) * 100, 0, 100);
    this.weight = this.volume * 0.9;
    this.conversionPercent = this.conversion * 100;
    this.ventOpen = this.phase === "CHARGE" || this.phase === "DISCHARGE" ? 1 : 0;
    const vapor = 0.0016 * Math.exp(this.#contents / 14.5) * Math.min(1, this.volume / 3);
    const sealed = this.ventOpen ? 0 : vapor;
    this.pressure = lag(this.pressure, 1.04 + sealed, seconds, 120);
    const { phase } = this;
    const isMixed = phase === "HEAT" || phase === "REACT" || phase === "COOL";
    const wanted = isMixed ? 92 : phase === "CHARGE" || phase === "RINSE" ? 45 : 0;
    this.agitatorSpeed = lag(this.agitatorSpeed, wanted, seconds, 15);
    const thickness = 1 + 0.25 * this.conversion - 0.002 * (this.#contents - 25);
    const load = (this.agitatorSpeed / 92) ** 2 * (7 + this.volume * 1.35 * thickness);
    this.agitatorCurrent = this.agitatorSpeed > 1 ? 8 + load : 0;
    const splashing = this.volume > 1 && this.volume < 5 ? 1.4 : 0;
    this.agitatorVibration = 0.1 + (this.agitatorSpeed / 92) * (1.2 + splashing);
    const reflux = phase === "REACT" ? this.#contents - 6 : conditions.ambient + 7;
    this.condenserTemperature = lag(this.condenserTemperature, reflux, seconds, 500);
  }

  #enter(batch: PlantBatch | undefined, phase: PhaseName): void {
    if (phase === this.phase) return;
    if (phase === "RINSE") this.lastConversion = this.conversionPercent;
    if (phase === "CHARGE") this.conversion = 0;
    this.phase = phase;
    this.#phaseFrom = this.#contents;
    this.batch = batch?.number ?? "none";
    this.batchStartMs = batch?.startMs ?? 0;
    this.recipe = batch?.recipe ?? "none";
    const isControlled = phase === "HEAT" || phase === "REACT" || phase === "COOL";
    this.temperature.mode = isControlled ? "AUTO" : "MAN";
    if (!isControlled) this.temperature.op = 50;
  }

  #move(seconds: number, { premix, premixTemperature }: ReactorInput): void {
    const hours = seconds / 3600;
    const isCharging = this.phase === "CHARGE" && this.volume < batchVolume && premix > 1;
    const isDischarging = this.phase === "DISCHARGE" && this.volume > 0.2;
    this.chargeOpen = isCharging ? 1 : 0;
    this.dischargeOpen = isDischarging ? 1 : 0;
    this.chargeFlow = isCharging ? 26 : 0;
    this.dischargeFlow = isDischarging ? 27 : 0;
    const charged = this.chargeFlow * hours;
    const contents = this.#contents * this.volume + premixTemperature * charged;
    this.#contents = contents / (this.volume + charged);
    this.volume = Math.max(0.15, this.volume + charged - this.dischargeFlow * hours);
  }

  #react(seconds: number): void {
    const rate = Math.exp((this.#contents - reactionTemperature) / 13) / 3300;
    const made = Math.max(0, rate * (equilibrium - this.conversion) * seconds);
    const isFull = this.volume > 4;
    if (!isFull || this.phase === "RINSE" || this.phase === "IDLE") return;
    this.conversion += made;
    this.#contents += made * 16;
  }

  #heat(ms: number, seconds: number, supply: Supply, batch: PlantBatch | undefined): void {
    const { temperature } = this;
    temperature.sp = this.#setPoint(ms, batch);
    const output = temperature.step(this.#contents, seconds);
    const steam = clamp((output - 0.5) * 2, 0, 1) * supply.steamShare;
    const cooling = clamp((0.5 - output) * 2, 0, 1);
    const rest = this.#contents + (supply.conditions.ambient - this.#contents) * 0.05;
    const heated = rest + (152 - rest) * steam;
    const wanted = heated + (supply.coolingTemperature + 3 - heated) * cooling;
    this.jacketTemperature = lag(this.jacketTemperature, wanted, seconds, 110);
    this.#contents = lag(this.#contents, this.jacketTemperature, seconds, 1100 + this.volume * 140);
    this.steamFlow = steam * 1250 * clamp((152 - this.jacketTemperature) / 90, 0.25, 1.4);
    this.coolingFlow = cooling * 34;
  }

  #setPoint(ms: number, batch: PlantBatch | undefined): number {
    if (!batch) return 25;
    const [charged = 0, heated = 0, reacted = 0, cooled = 0] = batch.phaseEndsMs;
    const between = (fromMs: number, toMs: number) => clamp((ms - fromMs) / (toMs - fromMs), 0, 1);
    if (this.phase === "HEAT")
      return this.#phaseFrom + (reactionTemperature - this.#phaseFrom) * between(charged, heated);
    if (this.phase === "REACT") return reactionTemperature;
    if (this.phase === "COOL") return this.#phaseFrom + (38 - this.#phaseFrom) * between(reacted, cooled);
    return 25;
  }
}

function phaseOf(batch: PlantBatch | undefined, ms: number): PhaseName {
  const at = batch?.phaseEndsMs.findIndex((endMs) => ms < endMs) ?? -1;
  return batchPhases[at]?.name ?? "IDLE";
}

// Unit 24: the crude ester is preheated and distilled; the product is cooled and goes to two day tanks.
import { type Conditions, dayMs, hourMs, minuteMs } from "./conditions.ts";
import { Controller, clamp, DayTotal, isFirstOnDuty, lag, Pump } from "./parts.ts";
import type { Supply } from "./supply.ts";

const drumVolume = 4;
const sumpVolume = 3;
const tankVolume = 120;

/** The crude from unit 23, as of the step before. */
export interface Crude {
  readonly temperature: number;
  /** The output of the level controller of the crude tank, from 0 to 1. */
  readonly demand: number;
  readonly head: number;
}

export class DistillationUnit {
  readonly feedFlow = new Controller({
    ...{ sp: 3.3, op: 45, span: 8, gain: 0.35, resetSeconds: 18, mode: "CAS" },
  });
  readonly preheat = new Controller({ sp: 72, op: 42, span: 100, gain: 0.9, resetSeconds: 220 });
  readonly trayTemperature = new Controller({ sp: 88, op: 52, span: 100, gain: 2.2, resetSeconds: 900 });
  readonly pressure = new Controller({ sp: 1.05, op: 70, span: 0.5, gain: -0.35, resetSeconds: 400 });
  readonly reflux = new Controller({
    ...{ sp: 2.7, op: 30, span: 10, gain: 0.35, resetSeconds: 18, mode: "CAS" },
  });
  readonly drumLevel = new Controller({ sp: 50, op: 45, span: 100, gain: -1.1, resetSeconds: 3000 });
  readonly sumpLevel = new Controller({ sp: 50, op: 40, span: 100, gain: -1.1, resetSeconds: 3000 });
  readonly productCooling = new Controller({ sp: 28, op: 55, span: 100, gain: -1.2, resetSeconds: 240 });
  readonly bottomsPumpA = new Pump({ flow: 4, head: 38, current: 8 });
  readonly bottomsPumpB = new Pump({ flow: 4, head: 38, current: 8 });
  readonly refluxPumpA = new Pump({ flow: 10, head: 42, current: 14 });
  readonly refluxPumpB = new Pump({ flow: 10, head: 42, current: 14 });
  readonly loadingPump = new Pump({ flow: 30, head: 36, current: 15 });

  readonly product = new DayTotal();

  feed = 3.3;
  preheatInlet = 36;
  preheaterDrop = 180;
  preheaterSteam = 100;
  readonly trays = [77, 77.5, 78, 80, 85, 92, 97, 100];
  columnDrop = 100;
  bottomTemperature = 101;
  topTemperature = 77;
  reboilerSteam = 1000;
  condensateTemperature = 60;
  bottomPressure = 1.15;
  coolerWater = 8;
  waterInlet = 20;
  condenserWater = 70;
  condenserWaterOutlet = 30;
  bottoms = 1.4;
  distillate = 2;
  purity = 99.7;
  water = 420;
  acid = 45;
  density = 897;
  toTankB = 0;
  tankALevel = 45;
  tankBLevel = 30;
  tankATemperature = 18;
  tankBTemperature = 18;
  loadingFlow = 0;
  /** Liquid vapor makes when it condenses, in m3/h. */
  vapor = 4.7;
  /** In kW. */
  heatToWater = 600;
  #preheated = 72;
  #tray = 88;
  #bar = 1.05;
  #refluxed = 2.7;
  #drum = 2;
  #sump = 1.5;
  #cooled = 28;
  #warmth = 1;

  step(ms: number, seconds: number, { supply, crude }: { supply: Supply; crude: Crude }): void {
    const { conditions } = supply;
    const isStopped = conditions.isActive("shutdown", ms) || crude.head < 0.3;
    this.#feedColumn(ms, seconds, { supply, crude, isStopped });
    this.#boil(seconds, supply, isStopped);
    this.#condense(seconds, supply);
    this.#profile(ms, seconds, conditions);
    this.#levels(seconds, isStopped);
    this.#pumps(ms, seconds, { conditions, isStopped });
    this.#analyze(ms, seconds, conditions);
    this.#cool(seconds, supply);
    this.#store(ms, seconds, conditions);
  }

  #feedColumn(
    ms: number,
    seconds: number,
    { supply, crude, isStopped }: { supply: Supply; crude: Crude; isStopped: boolean },
  ): void {
    const { feedFlow, preheat } = this;
    const { conditions } = supply;
    feedFlow.sp = isStopped ? 0 : lag(feedFlow.sp, 0.6 + crude.demand * 5.8, seconds, 2400);
    const swing = 1 + 0.01 * conditions.noise.wander(60, ms, 3 * minuteMs);
    const opening = feedFlow.step(this.feed, seconds);
    this.feed = lag(this.feed, opening * 7.4 * crude.head * swing, seconds, 4);

    const fouling = conditions.progressOf("foulingPreheater", ms) ** 1.4;
    const inlet = crude.temperature - 1.5;
    this.preheatInlet = lag(this.preheatInlet, inlet, seconds, 240);
    preheat.mode = isStopped ? "MAN" : "AUTO";
    if (isStopped) preheat.op = lag(preheat.op, 0, seconds, 60);
    const heating = preheat.step(this.#preheated, seconds) * supply.steamShare;
    const units = (3.3 * (1 - 0.7 * fouling) * heating) / Math.max(this.feed, 0.3);
    const reached = this.preheatInlet + (150 - this.preheatInlet) * (1 - Math.exp(-units));
    const target = this.feed < 0.2 ? conditions.ambient + 4 : reached;
    this.#preheated = lag(this.#preheated, target, seconds, this.feed < 0.2 ? 9000 : 110);
    this.preheaterSteam = Math.max(0, this.feed * 0.85 * (this.#preheated - this.preheatInlet));
    this.preheaterDrop = 185 * (this.feed / 3.4) ** 1.8 * (1 + 2.2 * fouling);
  }

  #boil(seconds: number, { steamShare, conditions }: Supply, isStopped: boolean): void {
    const { trayTemperature } = this;
    trayTemperature.mode = isStopped ? "MAN" : "AUTO";
    if (isStopped) trayTemperature.op = lag(trayTemperature.op, 0, seconds, 300);
    const opening = trayTemperature.step(this.#tray, seconds);
    this.reboilerSteam = lag(this.reboilerSteam, opening * 2000 * steamShare, seconds, 12);
    const needed = 150 + this.feed * (260 + 1.6 * (72 - this.#preheated));
    const boilup = this.reboilerSteam / needed;
    const isBoiling = boilup > 0.25;
    const boiling = clamp(88 + 32 * (boilup - 1), 66, 108) + 24 * (this.#bar - 1.05);
    this.#tray = lag(this.#tray, isBoiling ? boiling : conditions.ambient, seconds, isBoiling ? 420 : 16_000);
    this.#warmth = lag(this.#warmth, isBoiling ? 1 : 0, seconds, isBoiling ? 1200 : 16_000);
    this.vapor = (this.reboilerSteam / 1000) * 4.6 * clamp((this.#tray - 60) / 20, 0, 1);
  }

  #condense(seconds: number, { coolingTemperature, coolingShare }: Supply): void {
    const opening = this.pressure.step(this.#bar, seconds);
    const water = opening * 90 * coolingShare;
    const difference = Math.max(0, this.topTemperature - coolingTemperature);
    const condensed = 0.112 * opening ** 0.7 * difference * coolingShare;
    this.#bar = clamp(
      this.#bar + (this.vapor - condensed) * 0.0009 * (seconds / (1 + seconds / 300)),
      1.0,
      2,
    );
    this.condenserWater = lag(this.condenserWater, water, seconds, 8);
    const heat = Math.min(condensed, this.vapor + 0.6) * 108;
    const warmer = heat / (Math.max(water, 8) * 1.163);
    this.condenserWaterOutlet = lag(this.condenserWaterOutlet, coolingTemperature + warmer, seconds, 45);
    const subcooled = coolingTemperature + difference * 0.7;
    this.condensateTemperature = lag(this.condensateTemperature, subcooled, seconds, 200);
    this.heatToWater = heat + this.distillate * 0.5 * Math.max(0, this.condensateTemperature - 28);
  }

  #profile(ms: number, seconds: number, conditions: Conditions): void {
    const { ambient, noise } = conditions;
    const warm = (temperature: number) => ambient + (temperature - ambient) * this.#warmth;
    const higher = 24 * (this.#bar - 1.05);
    const top = 77.1 + higher;
    const bottom = 101.2 + higher + 0.25 * (this.#tray - 88);
    this.topTemperature = lag(this.topTemperature, warm(top), seconds, 40);
    this.bottomTemperature = lag(this.bottomTemperature, warm(bottom), seconds, 60);
    for (let at = 0; at < this.trays.length; at++) {
      const place = at / (this.trays.length - 1);
      const front = 0.52 - (this.#tray - 88) * 0.012;
      const share = 1 / (1 + Math.exp((front - place) * 10));
      const ripple = 0.25 * share * (1 - share) * 4 * noise.wander(70 + at, ms, 7 * minuteMs);
      const target = warm(top + (bottom - top) * share) + ripple;
      this.trays[at] = lag(this.trays[at]!, target, seconds, 90 + 25 * at);
    }
    this.bottomPressure = this.#bar + this.columnDrop / 1000;
    this.columnDrop = 6 + 98 * (this.vapor / 4.75) ** 1.8 * (1 + 0.02 * noise.wander(80, ms, 2 * minuteMs));
  }

  #levels(seconds: number, isStopped: boolean): void {
    const hours = seconds / 3600;
    const { reflux, drumLevel, sumpLevel } = this;
    reflux.sp = isStopped ? 0 : lag(reflux.sp, 0.45 + 0.68 * this.feed, seconds, 1200);
    const pumped = this.#drum > 0.15 ? 1 : 0;
    this.#refluxed = lag(this.#refluxed, reflux.step(this.#refluxed, seconds) * 9 * pumped, seconds, 4);
    const drawn = drumLevel.step((this.#drum / drumVolume) * 100, seconds) * 4.6 * pumped;
    this.distillate = lag(this.distillate, isStopped ? 0 : drawn, seconds, 5);
    this.#drum = clamp(this.#drum + (this.vapor - this.#refluxed - this.distillate) * hours, 0, drumVolume);
    const bottom = sumpLevel.step((this.#sump / sumpVolume) * 100, seconds) * 3.6;
    this.bottoms = lag(this.bottoms, isStopped || this.#sump < 0.15 ? 0 : bottom, seconds, 5);
    const down = this.feed + this.#refluxed - this.vapor - this.bottoms;
    this.#sump = clamp(this.#sump + down * hours, 0, sumpVolume);
  }

  #pumps(
    ms: number,
    seconds: number,
    { conditions, isStopped }: { conditions: Conditions; isStopped: boolean },
  ): void {
    const machine = { ambient: conditions.ambient, seconds };
    const [bottoms, reflux] = [isFirstOnDuty(ms, 5), isFirstOnDuty(ms, 10)];
    this.bottomsPumpA.step(!isStopped && bottoms, this.bottoms, machine);
    this.bottomsPumpB.step(!isStopped && !bottoms, this.bottoms, machine);
    const lifted = this.#refluxed + this.distillate;
    this.refluxPumpA.step(!isStopped && reflux, lifted, machine);
    this.refluxPumpB.step(!isStopped && !reflux, lifted, machine);
  }

  #analyze(ms: number, seconds: number, { noise }: Conditions): void {
    if (this.distillate < 0.2) return;
    const ratio = this.#refluxed / this.distillate;
    const heavy = 0.1 * Math.max(0, this.#tray - 89) + 1.1 * Math.max(0, 1.25 - ratio);
    const pressed = 4 * Math.max(0, this.#bar - 1.075);
    const drift = 0.035 * noise.wander(81, ms, 9 * hourMs);
    const lost = Math.min(4, heavy + pressed);
    this.purity = lag(this.purity, 99.68 - lost + drift, seconds, 1100);
    const wet = 430 + 420 * lost + 60 * noise.wander(82, ms, 14 * hourMs);
    this.water = lag(this.water, wet, seconds, 1500);
    this.acid = lag(this.acid, 42 + 30 * lost + 9 * noise.wander(83, ms, dayMs), seconds, 2400);
    this.density = lag(this.density, 897.2 + 1.1 * lost - 0.9 * (this.#cooled - 28), seconds, 600);
  }

  #cool(seconds: number, { coolingTemperature, coolingShare }: Supply): void {
    const opening = this.productCooling.step(this.#cooled, seconds);
    const units = (9 * opening * coolingShare) / (this.distillate + 0.3);
    const difference = this.condensateTemperature - coolingTemperature;
    const reached = coolingTemperature + difference * Math.exp(-units);
    this.#cooled = lag(this.#cooled, reached, seconds, 80);
    this.coolerWater = lag(this.coolerWater, opening * 16 * coolingShare, seconds, 8);
    this.waterInlet = lag(this.waterInlet, coolingTemperature + 0.3, seconds, 90);
  }

  /** The tanks take turns by day; on working days trucks empty the other one. */
  #store(ms: number, seconds: number, conditions: Conditions): void {
    const hours = seconds / 3600;
    this.product.add(ms, this.distillate * hours);
    this.toTankB = Math.floor(ms / dayMs) % 2;
    const hour = (ms / hourMs) % 24;
    const source = this.toTankB ? this.tankALevel : this.tankBLevel;
    const isLoading = !conditions.isWeekend(ms) && hour > 9 && hour < 14 && hour % 1 < 0.75 && source > 7;
    this.loadingFlow = lag(this.loadingFlow, isLoading ? 27 : 0, seconds, 12);
    const machine = { ambient: conditions.ambient, seconds };
    this.loadingPump.step(isLoading, this.loadingFlow, machine);
    const filled = ((this.distillate * hours) / tankVolume) * 100;
    const emptied = ((this.loadingFlow * hours) / tankVolume) * 100;
    const [toA, toB] = this.toTankB ? [-emptied, filled] : [filled, -emptied];
    this.tankALevel = clamp(this.tankALevel + toA, 0, 100);
    this.tankBLevel = clamp(this.tankBLevel + toB, 0, 100);
    const warmed = (isFilling: boolean) => (isFilling ? 0.4 * this.#cooled : 0.4 * conditions.ambient + 2);
    const outside = 0.6 * conditions.ambient + 2;
    this.tankATemperature = lag(this.tankATemperature, outside + warmed(!this.toTankB), seconds, 50_000);
    this.tankBTemperature = lag(this.tankBTemperature, outside + warmed(!!this.toTankB), seconds, 50_000);
  }
}

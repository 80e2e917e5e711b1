// Unit 26: boiler, cooling tower, compressed air, nitrogen and power, which the other units use.
import { type Conditions, dayMs, hourMs, minuteMs } from "./conditions.ts";
import { Controller, clamp, DayTotal, isFirstOnDuty, lag, Pump } from "./parts.ts";

/** The consumption of the units, as of the step before. */
export interface Demand {
  /** In t/h, at the usual pressure. */
  readonly steam: number;
  /** Into cooling water, in kW. */
  readonly heat: number;
  /** In kW. */
  readonly powerOf23: number;
  readonly powerOf24: number;
}

const boilerMost = 5;
const startedShare = 0.86;

export class UtilityUnit {
  readonly steamPressure = new Controller({ sp: 10, op: 50, span: 16, gain: 4, resetSeconds: 300 });
  readonly boilerLevel = new Controller({ sp: 52, op: 42, span: 100, gain: 1.3, resetSeconds: 1100 });
  readonly oxygen = new Controller({ sp: 3, op: 50, span: 21, gain: 0.35, resetSeconds: 30 });
  readonly deaeratorLevel = new Controller({ sp: 65, op: 42, span: 100, gain: 1.6, resetSeconds: 2400 });
  readonly coolingSupply = new Controller({ sp: 21, op: 40, span: 60, gain: -2.2, resetSeconds: 2600 });
  readonly nitrogenPressure = new Controller({ sp: 6, op: 30, span: 10, gain: 0.8, resetSeconds: 90 });
  readonly feedwaterPumpA = new Pump({ flow: 8, head: 150, current: 22 });
  readonly feedwaterPumpB = new Pump({ flow: 8, head: 150, current: 22 });
  readonly coolingPumpA = new Pump({ flow: 90, head: 32, current: 24 });
  readonly coolingPumpB = new Pump({ flow: 90, head: 32, current: 24 });
  readonly coolingPumpC = new Pump({ flow: 90, head: 32, current: 24 });

  readonly steamOfDay = new DayTotal();
  readonly gasOfDay = new DayTotal();
  readonly energyOfDay = new DayTotal();

  steamMade = 2.4;
  steamTemperature = 184;
  gasFlow = 180;
  flame = 1;
  burnerState = "RUN";
  boilerConductivity = 2900;
  stackTemperature = 165;
  carbonMonoxide = 8;
  nitrogenOxides = 105;
  furnacePressure = 4;
  economizerOutlet = 120;
  draftFanCurrent = 13;
  deaeratorTemperature = 104;
  feedwaterFlow = 2.4;
  basinLevel = 62;
  coolingConductivity = 1500;
  coolingPh = 8.1;
  fanSpeedA = 40;
  fanSpeedB = 40;
  fanRunningA = 1;
  fanRunningB = 1;
  fanCurrentA = 5;
  fanCurrentB = 5;
  coolingReturn = 27;
  coolingFlow = 160;
  coolingPressure = 3;
  makeUp = 3;
  compressorLoaded = 1;
  compressorState = "LOADED";
  compressorCurrent = 70;
  compressorTemperature = 82;
  airPressure = 7.2;
  airFlow = 180;
  dewPoint = -42;
  nitrogenFlow = 45;
  power = 150;
  powerOf23 = 50;
  powerOf24 = 40;
  powerOf26 = 90;
  voltage = 400;
  #bar = 10;
  #level = 52;
  #oxygen = 3;
  #deaerator = 65;
  #water = 21;
  #nitrogen = 6;
  #air = 7.2;
  #airDemand = 180;

  /** How much of the usual steam pressure there is, from 0 to 1. */
  get steamShare(): number {
    return clamp((this.#bar - 1.5) / 7, 0, 1);
  }

  get coolingTemperature(): number {
    return this.#water;
  }

  get coolingShare(): number {
    return clamp(this.coolingFlow / 140, 0, 1);
  }

  step(
    ms: number,
    seconds: number,
    { conditions, demand }: { conditions: Conditions; demand: Demand },
  ): void {
    this.#burn(ms, seconds, conditions);
    this.#steam(seconds, demand, conditions);
    this.#feedwater(ms, seconds, conditions);
    this.#flueGas(ms, seconds, conditions);
    this.#coolWater(ms, seconds, { conditions, demand });
    this.#fans(ms, conditions);
    this.#compressAir(ms, seconds, conditions);
    this.#nitrogenAndPower(ms, seconds, { conditions, demand });
    const hours = seconds / 3600;
    this.steamOfDay.add(ms, this.steamMade * hours);
    this.gasOfDay.add(ms, this.gasFlow * hours);
    this.energyOfDay.add(ms, this.power * hours);
  }

  #burn(ms: number, seconds: number, conditions: Conditions): void {
    const trip = conditions.progressOf("boilerTrip", ms);
    const isOut = trip > 0 && trip < startedShare;
    const isPurging = trip >= startedShare && trip < startedShare + 0.03;
    this.burnerState = isOut ? "LOCKOUT" : isPurging ? "PURGE" : "RUN";
    this.flame = isOut || isPurging ? 0 : 1;
    const { steamPressure } = this;
    steamPressure.mode = this.flame ? "AUTO" : "MAN";
    if (!this.flame) steamPressure.op = 0;
    const output = steamPressure.step(this.#bar, seconds);
    // A cold boiler is not fired up at once.
    const allowed = this.#bar < 6 ? 0.55 : 1;
    const fired = this.flame ? clamp(output, 0.02, allowed) : 0;
    this.steamMade = lag(this.steamMade, fired * boilerMost, seconds, 45);
  }

  #steam(seconds: number, { steam }: Demand, { ambient }: Conditions): void {
    const tracing = 0.28 + Math.max(0, 16 - ambient) * 0.018;
    const used = steam + tracing * this.steamShare;
    this.#bar = clamp(this.#bar + (this.steamMade - used) * 0.0035 * seconds, 0.2, 14);
    this.steamTemperature = lag(this.steamTemperature, 120 + 46 * Math.log10(this.#bar + 14.5), seconds, 60);
  }

  #feedwater(ms: number, seconds: number, conditions: Conditions): void {
    const isFirst = isFirstOnDuty(ms, 1);
    const machine = { ambient: conditions.ambient + 12, seconds };
    this.feedwaterPumpA.step(isFirst, this.feedwaterFlow, machine);
    this.feedwaterPumpB.step(!isFirst, this.feedwaterFlow, machine);
    const surge = 1.6 * conditions.noise.wander(90, ms, 2.5 * minuteMs);
    const wanted = this.boilerLevel.step(this.#level + surge, seconds) * 6;
    this.feedwaterFlow = lag(this.feedwaterFlow, wanted, seconds, 6);
    this.#level = clamp(this.#level + (this.feedwaterFlow - this.steamMade) * 0.0093 * seconds, 0, 100);
    const makeUp = this.deaeratorLevel.step(this.#deaerator, seconds) * 6;
    this.#deaerator = clamp(this.#deaerator + (makeUp - this.feedwaterFlow) * 0.0035 * seconds, 0, 100);
    const hot = 104 + 1.2 * conditions.noise.wander(91, ms, 3 * hourMs);
    this.deaeratorTemperature = lag(
      this.deaeratorTemperature,
      hot * (0.4 + 0.6 * this.steamShare),
      seconds,
      2400,
    );
  }

  #flueGas(ms: number, seconds: number, { noise }: Conditions): void {
    const load = clamp(this.steamMade / boilerMost, 0, 1);
    const soot = ((ms / dayMs) % 60) / 60;
    this.oxygen.sp = 2.7 + 1.6 * (1 - load);
    const output = this.oxygen.step(this.#oxygen, seconds);
    const burned = 3.4 + 22 * (output - 0.16 - 0.66 * load) + 0.25 * noise.wander(92, ms, 4 * minuteMs);
    this.#oxygen = lag(this.#oxygen, this.flame ? clamp(burned, 0.4, 20.9) : 20.9, seconds, 14);
    const efficiency = 0.925 - 0.02 * load - 0.022 * soot - 0.0045 * (this.#oxygen - 2.7);
    this.gasFlow = this.flame ? (this.steamMade * 2.37) / (0.0362 * efficiency) : 0;
    const hot = this.flame ? 126 + 62 * load + 24 * soot : 70;
    this.stackTemperature = lag(this.stackTemperature, hot, seconds, this.flame ? 150 : 5000);
    this.economizerOutlet = lag(this.economizerOutlet, this.deaeratorTemperature + 26 * load, seconds, 180);
    this.carbonMonoxide = this.flame ? 7 + 70 * Math.max(0, 2.2 - this.#oxygen) : 0;
    this.nitrogenOxides = this.flame ? 92 + 30 * load + 4 * noise.wander(93, ms, 6 * hourMs) : 0;
    this.furnacePressure = this.flame ? 1.4 + 5 * load + 0.4 * noise.wander(94, ms, minuteMs) : 0.2;
    this.draftFanCurrent = 6.5 + 13 * output;
    const blowdown = (ms / (8 * hourMs)) % 1;
    this.boilerConductivity = 2350 + 900 * blowdown + 120 * noise.wander(95, ms, dayMs);
  }

  #coolWater(
    ms: number,
    seconds: number,
    { conditions, demand }: { conditions: Conditions; demand: Demand },
  ): void {
    const { noise, wetBulb, ambient } = conditions;
    const resting = Math.floor(ms / (14 * dayMs)) % 3;
    const pumps = [this.coolingPumpA, this.coolingPumpB, this.coolingPumpC];
    const speeds = pumps.map((pump, at) => {
      pump.step(at !== resting, this.coolingFlow / 2, { ambient, seconds });
      return pump.speed;
    });
    const running = speeds.reduce((sum, speed) => sum + speed, 0);
    this.coolingFlow = lag(
      this.coolingFlow,
      82 * running + 2.5 * noise.wander(96, ms, 20 * minuteMs),
      seconds,
      10,
    );
    this.coolingPressure = 0.4 + 1.35 * running + 0.03 * noise.wander(97, ms, 5 * minuteMs);
    const heat = demand.heat + 130;
    this.coolingReturn = lag(
      this.coolingReturn,
      this.#water + heat / (this.coolingFlow * 1.163),
      seconds,
      240,
    );
    // Without its fans the tower has little air; it then loses heat mostly by being hot.
    const air = 0.06 + 0.94 * ((this.fanSpeedA + this.fanSpeedB) / 200);
    const reached = Math.min(44, wetBulb + 1.4 + (2.7 * (heat / 900)) / air);
    this.#water = lag(this.#water, reached, seconds, 1700);
    this.coolingSupply.step(this.#water, seconds);
    this.makeUp = 1.1 + heat * 0.0021 + 0.25 * noise.wander(98, ms, hourMs);
    this.basinLevel = 62 + 5 * noise.wander(99, ms, 3 * hourMs);
    const concentrating = (ms / (31 * hourMs)) % 1;
    this.coolingConductivity = 1250 + 520 * concentrating + 60 * noise.wander(100, ms, 2 * dayMs);
    this.coolingPh = 8.15 + 0.18 * noise.wander(101, ms, 11 * hourMs);
  }

  #fans(ms: number, conditions: Conditions): void {
    const isOut = conditions.isActive("coolingFan", ms);
    const speed = isOut ? 0 : Math.max(12, this.coolingSupply.op);
    this.fanSpeedA = speed;
    this.fanSpeedB = speed;
    this.fanRunningA = isOut ? 0 : 1;
    this.fanRunningB = this.fanRunningA;
    this.fanCurrentA = isOut ? 0 : 2.6 + 21 * (speed / 100) ** 2.6;
    this.fanCurrentB = isOut ? 0 : 2.5 + 22 * (speed / 100) ** 2.6;
  }

  /** The compressor loads at 6.9 bar and unloads at 7.5 bar. */
  #compressAir(ms: number, seconds: number, conditions: Conditions): void {
    const { noise, ambient } = conditions;
    const leak = conditions.progressOf("airLeak", ms);
    const use = 172 + 26 * noise.wander(102, ms, 40 * minuteMs) + 14 * noise.wander(103, ms, 2 * minuteMs);
    this.#airDemand = lag(this.#airDemand, use + 120 * leak ** 0.7, seconds, 20);
    if (this.#air < 6.9) this.compressorLoaded = 1;
    if (this.#air > 7.5) this.compressorLoaded = 0;
    const made = this.compressorLoaded ? 465 : 0;
    this.#air += ((made - this.#airDemand) / 3600 / 16.5) * seconds;
    this.airPressure = this.#air;
    this.airFlow = this.#airDemand;
    this.compressorState = this.compressorLoaded ? "LOADED" : "UNLOADED";
    this.compressorCurrent = lag(this.compressorCurrent, this.compressorLoaded ? 78 : 31, seconds, 4);
    const hot = ambient + 58 + (this.compressorLoaded ? 12 : -4) + 10 * leak;
    this.compressorTemperature = lag(this.compressorTemperature, hot, seconds, 700);
    this.dewPoint = -43 + 3.5 * noise.wander(104, ms, 9 * hourMs) + 5 * leak;
  }

  #nitrogenAndPower(
    ms: number,
    seconds: number,
    { conditions, demand }: { conditions: Conditions; demand: Demand },
  ): void {
    const { noise } = conditions;
    this.nitrogenFlow = 42 + 16 * noise.wander(105, ms, 3 * hourMs) + 6 * noise.wander(106, ms, 4 * minuteMs);
    const opening = this.nitrogenPressure.step(this.#nitrogen, seconds);
    this.#nitrogen = lag(this.#nitrogen, 3 + 13 * opening - this.nitrogenFlow * 0.025, seconds, 30);
    const pumps = [
      ...[this.coolingPumpA, this.coolingPumpB, this.coolingPumpC],
      ...[this.feedwaterPumpA, this.feedwaterPumpB],
    ];
    const machines = pumps.reduce((sum, { current }) => sum + current, 0) + this.draftFanCurrent;
    const currents = machines + this.fanCurrentA + this.fanCurrentB + this.compressorCurrent;
    const hour = (ms / hourMs) % 24;
    const daylight = clamp(Math.abs(hour - 12.5) / 6 - 0.5, 0, 1);
    this.powerOf23 = demand.powerOf23 + 9 + 6 * daylight;
    this.powerOf24 = demand.powerOf24 + 7 + 5 * daylight;
    this.powerOf26 = currents * 0.59 + 12 + 6 * daylight;
    this.power = this.powerOf23 + this.powerOf24 + this.powerOf26 + (conditions.isWeekend(ms) ? 14 : 32);
    this.voltage = 401 + 3 * noise.wander(107, ms, 2 * hourMs) - 0.012 * this.power;
  }
}

// The description of the plant, read from the CSV files in `data/`: its assets and its series.
import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";

export interface AssetDescription {
  readonly name: string;
  readonly parent: string;
  /** The name of its asset type; empty if it has none. */
  readonly type: string;
  readonly description: string;
  readonly details: Readonly<Record<string, string>>;
}

/** How often a series has a point: by time, when it changes, or a few times a day. */
export type Rate = "fast" | "slow" | "change" | "lab";

export interface AlarmLimit {
  readonly kind: "high" | "low";
  readonly limit: number;
}

export interface SeriesRow {
  readonly name: string;
  readonly asset: string;
  readonly description: string;
  readonly unit: string;
  readonly kind: "number" | "step" | "string";
  /** The range of the instrument; a measurement never leaves it. */
  readonly low: number;
  readonly high: number;
  readonly decimals: number;
  /** The standard deviation of the measurement. */
  readonly noise: number;
  readonly rate: Rate;
  /** Where the simulated plant has the value: `reaction.reactor1.level`. */
  readonly signal: string;
  readonly alarms: readonly AlarmLimit[];
}

export interface PumpRow {
  readonly tag: string;
  readonly section: string;
  readonly signal: string;
  readonly service: string;
  readonly flow: number;
  readonly head: number;
  readonly current: number;
  readonly power: number;
  readonly manufacturer: string;
  readonly model: string;
}

export interface LoopRow extends Omit<SeriesRow, "name" | "kind"> {
  readonly tag: string;
  readonly valve: string;
}

export interface FaultEventRow {
  readonly fault: string;
  readonly type: string;
  readonly subtype: string;
  readonly asset: string;
  readonly description: string;
  readonly severity: string;
  /** Hours after the fault begins. */
  readonly from: number;
  readonly hours: number;
}

export interface MaintenanceRow {
  readonly asset: string;
  readonly description: string;
  readonly every: number;
  readonly offset: number;
  readonly hours: number;
  readonly craft: string;
}

/** A saved trend of the console. */
export interface TrendRow {
  readonly name: string;
  readonly description: string;
  readonly series: readonly string[];
  /** Calculated series, as the address of the trend writes them: `efficiency|%=100 * [out] / [in]`. */
  readonly formulas: readonly string[];
  /** In days before the end of the history; without `to` it follows the present time. */
  readonly from: number;
  readonly to?: number;
  /** The types of events that it shows. */
  readonly events: readonly string[];
}

export interface Description {
  readonly assets: readonly AssetDescription[];
  readonly series: readonly SeriesRow[];
  readonly pumps: readonly PumpRow[];
  readonly loops: readonly LoopRow[];
  readonly faultEvents: readonly FaultEventRow[];
  readonly maintenance: readonly MaintenanceRow[];
  readonly trends: readonly TrendRow[];
  /** Where material flows, by the names of assets. */
  readonly flows: readonly { readonly from: string; readonly to: string }[];
}

type Row = Readonly<Record<string, string>>;

/** The first assets are above the others: a parent comes before its children. */
export function readDescription(): Description {
  const pumps = rowsOf("pumps").map(pumpOf);
  const loops = rowsOf("loops").map(loopOf);
  return {
    assets: [...rowsOf("equipment").map(assetOf), ...pumps.flatMap(assetsOfPump)],
    series: [
      ...loops.flatMap(seriesOfLoop),
      ...pumps.flatMap(seriesOfPump),
      ...rowsOf("series").map((row) => ({ ...measuredOf(row), name: row["name"]!, kind: kindOf(row) })),
    ],
    pumps,
    loops,
    faultEvents: rowsOf("fault-events").map(faultEventOf),
    maintenance: rowsOf("maintenance").map(maintenanceOf),
    trends: rowsOf("trends").map(trendOf),
    flows: rowsOf("flows").map(({ from = "", to = "" }) => ({ from, to })),
  };
}

const rowsOf = (name: string): Row[] =>
  parse(readFileSync(new URL(`./data/${name}.csv`, import.meta.url)), { columns: true });

const assetOf = (row: Row): AssetDescription => ({
  name: row["name"]!,
  parent: row["parent"]!,
  type: row["type"]!,
  description: row["description"]!,
  details: Object.fromEntries(
    row["details"]!.split("; ").flatMap((pair) => (pair === "" ? [] : [pair.split("=", 2)])),
  ),
});

const kindOf = (row: Row) => row["kind"] as SeriesRow["kind"];

const measuredOf = (row: Row): Omit<SeriesRow, "name" | "kind"> => ({
  asset: row["asset"]!,
  description: row["description"]!,
  unit: row["unit"]!,
  low: Number(row["low"]),
  high: Number(row["high"]),
  decimals: Number(row["decimals"]),
  noise: Number(row["noise"]),
  rate: row["rate"] as Rate,
  signal: row["signal"]!,
  alarms: row["alarms"]!.split(" ").flatMap(alarmOf),
});

function alarmOf(text: string): AlarmLimit[] {
  const [, kind, limit] = /^([HL])[<>](.+)$/.exec(text) ?? [];
  return kind === undefined ? [] : [{ kind: kind === "H" ? "high" : "low", limit: Number(limit) }];
}

const pumpOf = (row: Row): PumpRow => ({
  ...(row as unknown as PumpRow),
  flow: Number(row["flow"]),
  head: Number(row["head"]),
  current: Number(row["current"]),
  power: Number(row["power"]),
});

const loopOf = (row: Row): LoopRow => ({ ...measuredOf(row), tag: row["tag"]!, valve: row["valve"]! });

const faultEventOf = (row: Row): FaultEventRow => ({
  ...(row as unknown as FaultEventRow),
  from: Number(row["from"]),
  hours: Number(row["hours"]),
});

const maintenanceOf = (row: Row): MaintenanceRow => ({
  ...(row as unknown as MaintenanceRow),
  every: Number(row["every"]),
  offset: Number(row["offset"]),
  hours: Number(row["hours"]),
});

const trendOf = ({
  name = "",
  description = "",
  series = "",
  formulas = "",
  from,
  to = "",
  events = "",
}: Row): TrendRow => ({
  ...{ name, description, series: listOf(series, " "), formulas: listOf(formulas, "; ") },
  from: Number(from),
  ...(to !== "" && { to: Number(to) }),
  events: listOf(events, "|"),
});

const listOf = (cell: string, separator: string): string[] => (cell === "" ? [] : cell.split(separator));

/** `23-P-1012A` has the motor `23-PM-1012A`. */
const motorOf = (pump: string): string => pump.replace("-P-", "-PM-");

function assetsOfPump({ tag, section, service, flow, head, power, ...maker }: PumpRow): AssetDescription[] {
  const { manufacturer, model, current } = maker;
  const rating = { flow: `${flow}`, head: `${head}`, power: `${power}` };
  const motor = { power: `${power}`, current: `${current}`, speed: "2940" };
  return [
    {
      ...{ name: tag, parent: section, type: "pump", description: service },
      details: { ...rating, manufacturer, model },
    },
    {
      ...{ name: motorOf(tag), parent: tag, type: "motor", description: `Motor of ${service.toLowerCase()}` },
      details: motor,
    },
  ];
}

/** The tag of an instrument on a pump: `23-P-1012A` and `PT` make `23-PT-1012A`. */
const tagOn = (pump: string, letters: string) => pump.replace("-P-", `-${letters}-`);

function seriesOfPump({ tag, signal, service, head, current }: PumpRow): SeriesRow[] {
  const on = (letters: string, what: string, field: string, row: Partial<SeriesRow>): SeriesRow => ({
    ...{ name: tagOn(tag, letters), asset: tag, description: `${service}: ${what}`, unit: "" },
    ...{ kind: "number", low: 0, high: 1, decimals: 2, noise: 0, rate: "slow", alarms: [] },
    ...{ signal: `${signal}.${field}` },
    ...row,
  });
  const most = (value: number) => Math.ceil((value * 1.6) / 5) * 5;
  const hot: AlarmLimit = { kind: "high", limit: 60 };
  const shaking: AlarmLimit = { kind: "high", limit: 4.5 };
  return [
    on("YS", "running", "running", { kind: "step", decimals: 0, rate: "change", asset: motorOf(tag) }),
    on("IT", "motor current", "current", {
      ...{ unit: "A", high: most(current), noise: current * 0.004, asset: motorOf(tag) },
    }),
    on("PT", "discharge pressure", "dischargePressure", {
      ...{ unit: "bar", high: most(head * 0.1), decimals: 3, noise: head * 0.00025 },
    }),
    on("VT", "vibration", "vibration", {
      ...{ unit: "mm/s", high: 20, decimals: 3, noise: 0.05, alarms: [shaking] },
    }),
    on("TT", "bearing temperature", "bearingTemperature", {
      ...{ unit: "°C", low: -20, high: 120, noise: 0.08, alarms: [hot] },
    }),
  ];
}

function seriesOfLoop({ tag, valve: _, ...row }: LoopRow): SeriesRow[] {
  const { signal, description } = row;
  const what = description.toLowerCase();
  const still = { noise: 0, alarms: [] } as const;
  return [
    { ...row, name: transmitterOf(tag), kind: "number", signal: `${signal}.pv` },
    {
      ...{ ...row, ...still, name: `${tag}.SP`, kind: "step", signal: `${signal}.sp`, rate: "change" },
      description: `Set point of ${what}`,
    },
    {
      ...{ ...row, ...still, name: `${tag}.OP`, kind: "number", signal: `${signal}.op` },
      ...{ description: `Controller output of ${what}`, unit: "%", low: 0, high: 100, decimals: 2 },
    },
    {
      ...{ ...row, ...still, name: `${tag}.MODE`, kind: "string", signal: `${signal}.mode`, unit: "" },
      ...{ description: `Controller mode of ${what}`, rate: "change" },
    },
  ];
}

/** `23-FC-1012` controls the quantity that `23-FT-1012` measures. */
export const transmitterOf = (loop: string): string => loop.replace(/C-/, "T-");

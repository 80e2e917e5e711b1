// Raw tables as other systems would deliver them: the sensor lists of the units, and master data of an ERP
// system.
import type { Description, SeriesRow } from "./description.ts";
import type { RawTable } from "./records.ts";

const units: Readonly<Record<string, string>> = {
  "23": "23 Feed and reaction",
  "24": "24 Distillation",
  "26": "26 Utilities",
};

export const rawTables = (description: Description): readonly RawTable[] => [
  ...sensorLists(description),
  equipmentList(description),
  spareParts(description),
  calculations,
];

/** Each row has the name of a series as its key, and the tag as the control system writes it. */
const sensorLists = ({ series }: Description): RawTable[] =>
  Object.entries(units).map(([unit, asset]) => ({
    ...{ database: "instrumentation", table: `sensors unit ${unit}`, assets: [asset] },
    rows: series.filter(isSensor).flatMap((row, at) => {
      if (!row.name.startsWith(`${unit}-`)) return [];
      const { name: key, low, high } = row;
      const columns = {
        ...{ dcsTag: key.replaceAll("-", ""), service: row.description, equipment: row.asset },
        ...{ unit: row.unit, rangeLow: low, rangeHigh: high },
        ...{ vendor: vendors[at % vendors.length], serial: `S${(at * 7919 + 40_000) % 99_991}` },
        ...{ cabinet: `CAB-${unit}-${1 + (at % 4)}`, channel: at % 32 },
        calibrationDue: new Date(Date.UTC(2027, at % 12, 1 + ((at * 5) % 28))).toISOString().slice(0, 10),
      };
      return [{ key, columns }];
    }),
  }));

const isSensor = ({ name, kind }: SeriesRow) => kind === "number" && !name.includes(".");

const vendors = ["Endress+Hauser", "Krohne", "Yokogawa", "Vega", "Emerson", "Siemens"];

/** Functional locations as the ERP system writes them: near the names of the assets, but not equal. */
const equipmentList = ({ assets }: Description): RawTable => ({
  ...{ database: "erp", table: "equipment", assets: ["Northmoor Works"] },
  rows: assets.filter(isTagged).map(({ name, description, type, details }, at) => ({
    key: `${10_004_200 + at * 3}`,
    columns: {
      ...{ functionalLocation: name.replace("-", " ").replace(/-(\d)/, "$1"), description },
      ...{ objectType: type === "" ? "other" : type, manufacturer: details["manufacturer"] ?? null },
      ...{ criticality: "ABC"[at % 3], costCenter: `42${name.slice(0, 2)}` },
      installed: 2009 + ((at * 7) % 14),
    },
  })),
});

const isTagged = ({ name }: { readonly name: string }) => /^\d\d-[A-Z]+-\d{4}/.test(name);

const spareParts = ({ pumps }: Description): RawTable => ({
  ...{ database: "erp", table: "spare parts", assets: ["Northmoor Works"] },
  rows: pumps.flatMap(({ tag, model, manufacturer }, at) =>
    ["Shaft gasket", "Drive end bearing", "Non drive end bearing", "Coupling insert"].map((part, of) => ({
      key: `${50_100 + at * 10 + of}`,
      columns: {
        ...{ material: part, usedIn: tag, model, manufacturer, stock: (at * 3 + of * 2) % 5 },
        ...{
          minimum: of === 0 ? 1 : 0,
          leadTimeDays: 14 + ((at + of * 9) % 60),
          price: 85 + of * 41.5 + at * 12,
        },
      },
    })),
  ),
});

/** Formulas for the calculated series of docs/calculated.md; each names the series that it needs. */
export const calculations: RawTable = {
  ...{ database: "engineering", table: "calculations", assets: ["Northmoor Works"] },
  rows: [
    {
      key: "boiler efficiency",
      columns: {
        function: "100 * [steam] * 2.37 / ([gas] * 0.0362)",
        aliases: { steam: "26-FT-3010", gas: "26-FT-3013" },
        ...{ aggregate: "average", granularity: "1h", unit: "%" },
      },
    },
    {
      key: "column mass balance",
      columns: {
        function: "[feed] - [distillate] - [bottoms]",
        aliases: { feed: "24-FT-2005", distillate: "24-FT-2043", bottoms: "24-FT-2035" },
        ...{ aggregate: "average", granularity: "1h", unit: "m3/h" },
      },
    },
    {
      key: "steam for each m3 of product",
      columns: {
        function: "[steam] / [distillate]",
        aliases: { steam: "24-FT-2031", distillate: "24-FT-2043" },
        ...{ aggregate: "average", granularity: "1h", unit: "kg/m3" },
      },
    },
    {
      key: "preheater heat transfer",
      columns: {
        function: "[flow] * ([out] - [in]) / (150 - ([out] + [in]) / 2)",
        aliases: { flow: "24-FT-2005", out: "24-TT-2012", in: "24-TT-2010" },
        ...{ aggregate: "average", granularity: "1h", unit: "m3/h" },
      },
    },
  ],
};

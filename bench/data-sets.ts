// The numeric series of `../shared/data`, in a folder next to the repository.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../shared/data");

export const hasDataSets = existsSync(join(folder, "alp-samples"));

export interface DataSet {
  readonly name: string;
  readonly values: Float64Array;
}

/** A vector of 1,024 values, with the bits a value that others have published for the whole set. */
export interface PublishedVector extends DataSet {
  readonly alpBits: number;
  readonly zstdBits: number;
}

/** Files of the vectors, by the names under which figures are published. */
const vectors: Readonly<Record<string, string>> = {
  "Air-Pressure": "neon_air_pressure",
  "Basel-Temp": "basel_temp_f",
  "Basel-Wind": "basel_wind_f",
  "Bio-Temp": "neon_bio_temp_c",
  "Bird-Mig": "bird_migration_f",
  "Btc-Price": "bitcoin_f",
  "City-Temp": "city_temperature_f",
  "Dew-Temp": "neon_dew_point_temp",
  "PM10-dust": "neon_pm10_dust",
  "SD-bench": "air_sensor_f",
  "Stocks-DE": "stocks_de",
  "Stocks-UK": "stocks_uk",
  "Stocks-USA": "stocks_usa_c",
  "Wind-dir": "neon_wind_dir",
};

export function publishedVectors(): PublishedVector[] {
  const [alp, zstd] = ["alp", "zstd"].map(
    (codec) =>
      new Map(
        rowsOf(`alp-samples/published-${codec}.csv`).map(([name, bits]) => [name, Number(bits)] as const),
      ),
  );
  return Object.entries(vectors).map(([name, file]) => ({
    name,
    values: Float64Array.from(rowsOf(`alp-samples/${file}.csv`), ([value]) => Number(value)),
    alpBits: alp?.get(name) ?? Number.NaN,
    zstdBits: zstd?.get(name) ?? Number.NaN,
  }));
}

/** Two temperatures of machines. */
export const machineSeries = (): DataSet[] =>
  ["ambient", "machine"].map((name) => ({
    name: `${name}_temperature`,
    values: columnOf(rowsOf(`nab-industrial/${name}_temperature_system_failure.csv`), 1),
  }));

/** The 53 tags of a simulated chemical plant. */
export function plantSeries(): DataSet[] {
  const rows = rowsOf("tep/measurements.csv");
  // The other columns say which run and which minute a row belongs to.
  return [...(rows[0] ?? []).entries()]
    .filter(([, name]) => name.startsWith("X"))
    .map(([column, name]) => ({ name, values: columnOf(rows, column) }));
}

/** Without the row of names. */
const columnOf = (rows: readonly (readonly string[])[], column: number): Float64Array =>
  Float64Array.from(rows.slice(1), (row) => Number(row[column]));

const rowsOf = (path: string): string[][] =>
  readFileSync(join(folder, path), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));

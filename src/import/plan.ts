// The plan of an import, made before anything is written: which column becomes which series, how times are
// read, and which series are to be created.

import { UsageError } from "../client/command.ts";
import { limits } from "../limits.ts";
import type { Api, NewSeries } from "./api.ts";
import type { BatchPlan } from "./batches.ts";
import { type Mapped, type Mapping, noMapping, readMapping } from "./mapping.ts";
import type { ImportOptions } from "./options.ts";
import type { Row } from "./row.ts";
import { openingOf } from "./rows.ts";
import { detectTimeFormat, isDateFormat, type TimeFormat } from "./times.ts";

export interface ImportColumn {
  readonly index: number;
  readonly header: string;
  readonly series: NewSeries;
  /** The asset that the mapping names: an id, or a path of names. */
  readonly asset?: string;
}

export interface ImportPlan extends BatchPlan {
  readonly columns: readonly ImportColumn[];
  readonly left: readonly string[];
  readonly missingSeries: readonly ImportColumn[];
  /** Paths of assets that do not exist, parents before their children. */
  readonly missingAssets: readonly string[];
  /** Every asset path of the mapping that exists. */
  readonly assetIds: ReadonlyMap<string, number>;
}

/**
 * Reads the start of the file and queries the server; throws a UsageError where the import could not succeed.
 */
export async function planOf(options: ImportOptions, api: Api): Promise<ImportPlan> {
  const mapping = options.mappingFile === undefined ? noMapping : readMapping(options.mappingFile);
  const { header, first } = await openingOf(options);
  requireDelimiter(options, header);
  const timeIndex = options.timeColumn === undefined ? 0 : indexOf(header, options.timeColumn);
  const epochIndex = options.epochBy && indexOf(header, options.epochBy.column);
  const timeFormat = formatOf(options, first?.cells[timeIndex]);
  const { columns, left } = columnsOf(options, mapping, header, [timeIndex, epochIndex]);
  const paths = [...new Set(columns.flatMap(({ asset }) => (asset === undefined ? [] : [asset])))];
  const { assetIds, missingAssets } = await assetsOf(api, paths);
  const found = await api.findSeries(columns.map(({ series }) => series.name));
  const known = columns.map((one) => asStored(one, found.get(one.series.name)?.isString));
  const missingSeries = known.filter(({ series }) => !found.has(series.name));
  const common = {
    header,
    timeIndex,
    timeFormat,
    columns: known,
    left,
    missingSeries,
    missingAssets,
    assetIds,
  };
  const plan: ImportPlan = epochIndex === undefined ? common : { ...common, epochIndex };
  if (options.existingOnly) refuseGaps(plan);
  return plan;
}

function indexOf(header: Row, name: string): number {
  const index = header.cells.indexOf(name);
  if (index < 0) throw new UsageError(`There is no column ${name}; there are ${header.cells.join(", ")}`);
  return index;
}

/** Programs of many countries write semicolons, because their numbers have commas. */
function requireDelimiter({ delimiter }: ImportOptions, { cells }: Row): void {
  const other = [";", "\t", "|", ","].find((one) => cells[0]!.includes(one));
  if (cells.length > 1 || other === undefined) return;
  const name = other === "\t" ? "\\t" : other;
  const comma = other === ";" ? ". If numbers are written as 1,5: --decimal-comma" : "";
  throw new UsageError(
    `The header has no ${delimiter === "\t" ? "tab" : delimiter} between its columns. ` +
      `Say what is between them: --delimiter "${name}"${comma}`,
  );
}

function formatOf({ timeFormat, timeZone }: ImportOptions, firstCell: string | undefined): TimeFormat {
  if (timeFormat !== "auto") return timeFormat;
  if (firstCell === undefined) return "iso"; // The file has no rows: any format reads all of them.
  const found = detectTimeFormat(firstCell);
  if (!found)
    throw new UsageError(
      `The first time is ${JSON.stringify(firstCell)}, neither ISO 8601 nor a number; say with ` +
        '--time-column where times are, or with --time-format what they are, such as "dd.MM.yyyy HH:mm"',
    );
  if (timeZone !== "UTC" && !isDateFormat(found))
    throw new UsageError("The times are numbers, which have no --time-zone");
  return found;
}

function columnsOf(
  options: ImportOptions,
  mapping: Mapping,
  header: Row,
  taken: readonly (number | undefined)[],
): { columns: ImportColumn[]; left: string[] } {
  const columns: ImportColumn[] = [];
  const left: string[] = [];
  for (const [index, name] of header.cells.entries()) {
    if (taken.includes(index)) continue;
    const mapped = mapping.get(name);
    if (mapped === "skip" || name === "" || (!mapped && options.onlyMapped)) left.push(name);
    else columns.push(columnOf(index, name, mapped ?? {}, options.prefix));
  }
  const strangers = [...mapping.keys()].filter((name) => !header.cells.includes(name));
  if (strangers.length > 0)
    throw new UsageError(`The mapping names columns that are not there: ${strangers}`);
  const names = columns.map(({ series }) => series.name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new UsageError(`Several columns would become the same series: ${twice}`);
  if (columns.length === 0) throw new UsageError("No column is left to import");
  if (columns.length > limits.importPointsPerRequest)
    throw new UsageError(
      `${columns.length} columns are more than the ${limits.importPointsPerRequest} of a row`,
    );
  return { columns, left };
}

function columnOf(index: number, header: string, mapped: Mapped, prefix: string): ImportColumn {
  const { name = header, isString = false, isStep = false, asset, ...texts } = mapped;
  const series = { name: prefix + name, isString, isStep, ...texts };
  return { index, header, series, ...(asset !== undefined && { asset }) };
}

/** A series that exists keeps its own kind of values. */
const asStored = (column: ImportColumn, isString: boolean | undefined): ImportColumn =>
  isString === undefined ? column : { ...column, series: { ...column.series, isString } };

async function assetsOf(api: Api, paths: readonly string[]) {
  const assetIds = new Map<string, number>();
  const missing = new Set<string>();
  for (const path of paths.filter((one) => !/^\d+$/.test(one))) {
    for (const { whole, parent, name, depth } of stepsOf(path)) {
      if (assetIds.has(whole) || missing.has(whole)) continue;
      const isOrphan = parent !== undefined && missing.has(parent);
      const parentId = parent === undefined ? undefined : assetIds.get(parent);
      const id = isOrphan ? undefined : await api.findAsset(name, depth, parentId);
      if (id === undefined) missing.add(whole);
      else assetIds.set(whole, id);
    }
  }
  return { assetIds, missingAssets: [...missing] };
}

interface Step {
  readonly whole: string;
  readonly parent?: string;
  readonly name: string;
  readonly depth: number;
}

/** `plant/feeds` is the root `plant`, then `feeds` below it. */
function stepsOf(path: string): Step[] {
  const names = path.split("/");
  return names.map((name, depth) => {
    const parent = depth === 0 ? {} : { parent: names.slice(0, depth).join("/") };
    return { whole: names.slice(0, depth + 1).join("/"), ...parent, name, depth };
  });
}

function refuseGaps({ missingSeries, missingAssets }: ImportPlan): void {
  const missing = [...missingAssets, ...missingSeries.map(({ series }) => series.name)];
  if (missing.length === 0) return;
  const shown = missing.slice(0, limits.importNamesShownMax).join(", ");
  const more = missing.length - limits.importNamesShownMax;
  throw new UsageError(`These do not exist: ${shown}${more > 0 ? `, and ${more} more` : ""}`);
}

/** Creates the series that the plan found missing. */
export async function createMissing(api: Api, plan: ImportPlan): Promise<void> {
  const ids = new Map(plan.assetIds);
  for (const path of plan.missingAssets) {
    const { parent, name } = stepsOf(path).at(-1) as Step;
    ids.set(path, await api.createAsset(name, parent === undefined ? undefined : ids.get(parent)));
  }
  const idOf = (asset: string) => ids.get(asset) ?? Number(asset);
  const made = plan.missingSeries.map(({ series, asset }) => ({
    ...series,
    ...(asset !== undefined && { assetId: idOf(asset) }),
  }));
  await api.createSeries(made);
}

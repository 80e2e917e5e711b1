// Whether the parts of a data folder are all there and belong together: looked at before a start opens any of
// them, and by the doctor.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { catalogFileOf, StartRefused } from "./data-folder.ts";
import { CannotOpen, nextStepAfter } from "./storage/cannot-open.ts";
import type { Catalog } from "./storage/catalog.ts";
import type { ClickHouseShards } from "./storage/clickhouse-points/location.ts";
import type { Finding } from "./storage/findings.ts";
import { type Manifest, manifestTable, markName, readMark, writeMark } from "./storage/manifest.ts";
import type { S3Setting } from "./storage/s3-blobs/s3-blobs.ts";
import { noTables, peekAt } from "./storage/sql/dialects/sqlite/peek.ts";

export const pointsFolderOf = (data: string): string => join(data, "points");
/** Temporary files of uploads to an S3 store. */
export const spoolFolderOf = (data: string): string => join(data, "spool");
export const blobsFolderOf = (data: string): string => join(data, "blobs");

/** Where a server keeps its data. */
export interface DataPlace {
  /** The data folder. */
  readonly data: string;
  /** The S3 store of the bytes of files; absent when they are in the data folder. */
  readonly blobs?: S3Setting;
  /** The ClickHouse database of the datapoints; absent when they are in the data folder. */
  readonly points?: ClickHouseShards;
}

/** The folders that belong to the catalog, by their names in the data folder. */
export const markedFoldersOf = ({ blobs }: DataPlace): readonly string[] =>
  blobs === undefined ? ["points", "blobs"] : ["points"];

export interface Parts {
  /** Undefined where no start has come so far as to write one. */
  readonly manifest: Manifest | undefined;
  /** The missing parts, and those that do not belong here. */
  readonly findings: readonly Finding[];
}

/** `shared` is a catalog outside of the folder. Throws `StartRefused` when the catalog is unreadable. */
export async function examineParts(place: DataPlace, shared?: Catalog): Promise<Parts> {
  const { data } = place;
  const manifest = shared ? await manifestIn(shared, data) : manifestOf(data);
  if (manifest === undefined) return { manifest, findings: withoutCatalog(place) };
  if (manifest.phase === "creating") return { manifest, findings: [] };
  const findings: Finding[] = [];
  for (const name of markedFoldersOf(place)) findings.push(...(await examineFolder(data, name, manifest)));
  return { manifest, findings };
}

/** A start that is refused as a store cannot be opened. */
export const cannotOpen = (what: string, problem: unknown): StartRefused =>
  new StartRefused(`Cannot open the ${what}: ${(problem as Error).message}.\n${nextStepAfter(problem)}`);

/** Refuses a data folder that no start has finished to make: for commands that need the catalog alone. */
export function requireCatalog(data: string): void {
  if (manifestOf(data) !== undefined) return;
  throw new StartRefused(`${data} is not a data folder (MILLRACE_DATA); the first start creates it`);
}

/** The record of a data folder whose parts are all there; throws `StartRefused` for another. */
export async function requireParts(place: DataPlace, shared?: Catalog): Promise<Manifest | undefined> {
  const { data } = place;
  if (place.blobs !== undefined) refuseFiles(blobsFolderOf(data));
  const { manifest, findings } = await examineParts(place, shared);
  const [first] = findings;
  if (first === undefined) return manifest;
  const { nextStep } = new CannotOpen("", "incomplete");
  throw new StartRefused(
    `The data folder ${data} is incomplete: ${first.file}: expected ${first.expected}, found ${first.found}.
${nextStep}`,
  );
}

/** Downloads of these files would fail, because the server looks for all files in the S3 store. */
function refuseFiles(folder: string): void {
  const projects = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+$/.test(name)) : [];
  if (!projects.some((name) => readdirSync(join(folder, name)).length > 0)) return;
  throw new StartRefused(
    `${folder} has files, but MILLRACE_BLOBS names an S3 store.
Copy the files to the store and rename the folder (docs/scale.md#moving-the-files), or unset MILLRACE_BLOBS.`,
  );
}

/** The record of this folder in a catalog outside of it. */
async function manifestIn(catalog: Catalog, data: string): Promise<Manifest | undefined> {
  const mark = await readMark(data);
  if (mark === undefined) return undefined;
  const [manifest] = await catalog.read("system", (tx) => tx.get(manifestTable, [mark.folder]));
  if (manifest !== undefined) return manifest;
  throw new StartRefused(
    `The data folder ${data} belongs to another catalog than MILLRACE_CATALOG names.
Set MILLRACE_CATALOG to that one, or MILLRACE_DATA to another folder.`,
  );
}

function manifestOf(data: string): Manifest | undefined {
  try {
    const rows = peekAt(catalogFileOf(data), manifestTable.name);
    if (rows === undefined) throw new CannotOpen("it has no record of the data folder", "older");
    return rows === noTables ? undefined : (rows[0] as unknown as Manifest | undefined);
  } catch (problem) {
    throw cannotOpen("catalog", problem);
  }
}

/** The first start writes its record into the catalog before it makes the other folders. */
function withoutCatalog(place: DataPlace): Finding[] {
  const { data } = place;
  const left = markedFoldersOf(place).filter((name) => isInUse(join(data, name)));
  if (left.length === 0) return [];
  const found = existsSync(catalogFileOf(data)) ? "a file without records" : "no file";
  const expected = `the catalog that ${left.map((name) => `${name}/`).join(" and ")} belong to`;
  return [{ file: "catalog.db", offset: 0, expected, found }];
}

/** An empty folder, and that of a whole disk, may be there before the first start. */
const isInUse = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((name) => name !== "lost+found");

async function examineFolder(data: string, name: string, manifest: Manifest): Promise<Finding[]> {
  const folder = join(data, name);
  const { folder: number, generation, phase } = manifest;
  const expected = `folder ${number} as of start ${generation}, as the catalog has it`;
  const one = { file: `${name}/`, offset: 0, expected };
  const again = {
    says: "write its mark, and use the files in it",
    apply: () => writeMark(folder, manifest),
  };
  if (!isInUse(folder)) return [{ ...one, found: "an empty folder or none" }];
  try {
    const mark = await readMark(folder);
    if (mark === undefined) return [{ ...one, found: `no ${markName}`, remedy: again }];
    const oldest = phase === "starting" ? generation - 1 : generation;
    const isOwn = mark.folder === number && mark.generation >= oldest && mark.generation <= generation;
    return isOwn ? [] : [{ ...one, found: `folder ${mark.folder} as of start ${mark.generation}` }];
  } catch (why) {
    return [{ ...one, found: (why as Error).message, remedy: again }];
  }
}

// `millrace doctor`: finds damage in the data folder of a stopped server, and repairs it on request.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readSettings } from "../config.ts";
import { catalogFileOf, lockDataFolder, StartRefused } from "../data-folder.ts";
import { cannotOpen, type DataPlace, examineParts, markedFoldersOf, pointsFolderOf } from "../data-parts.ts";
import { makeFilesPrivate } from "../file-modes.ts";
import { attachmentTable, fileTable } from "../resources/files/schema.ts";
import { examineShards } from "../storage/clickhouse-points/doctor.ts";
import { refuseRecordedLocation } from "../storage/clickhouse-points/location-record.ts";
import { examineStore } from "../storage/embedded-points/doctor.ts";
import type { Finding } from "../storage/findings.ts";
import type { Manifest } from "../storage/manifest.ts";
import { examineDatabase } from "../storage/sql/dialects/sqlite/doctor.ts";
import { namedBlobs } from "../storage/sql/dialects/sqlite/peek.ts";
import type { Command } from "./command.ts";
import { findingsOfBlobs } from "./doctor-blobs.ts";
import { type ClusterPlace, examineCluster } from "./doctor-cluster.ts";

const damageLeft = 3;

export const doctor: Command = {
  usage: `Usage: millrace doctor [--repair]

Reads the whole data folder of a stopped server (MILLRACE_DATA, else ./millrace-data). Checks that all parts
exist and belong together, the catalog, every block of datapoints, the journal, and the size of every file.
Prints for each damaged part the file, the offset (for a block: its number), the expected and the actual
content. Changes nothing without --repair; with --repair, prints each repair.

With the catalog in PostgreSQL (MILLRACE_CATALOG), servers may run: checks tables, indexes, references between
records, the size of every file, and that each series of ClickHouse is in the catalog. Changes nothing.

Exit codes: 0, no damage, or all of it was repaired; 1, the folder cannot be examined; 3, there is damage.`,
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: { repair: { type: "boolean", default: false } },
    });
    const place = readSettings(process.env, process.cwd());
    const { data, catalogUrl } = place;
    if (catalogUrl !== undefined) return await reportOnCluster({ ...place, catalogUrl }, values.repair);
    const parts = [catalogFileOf(data), ...markedFoldersOf(place).map((name) => join(data, name))];
    if (!parts.some((path) => existsSync(path)))
      throw new StartRefused(`${data} is not a data folder (MILLRACE_DATA); the first start creates it`);
    makeFilesPrivate();
    const release = lockDataFolder(data);
    try {
      return await examine(place, values.repair);
    } finally {
      release();
    }
  },
};

async function reportOnCluster(place: ClusterPlace, repair: boolean): Promise<number> {
  if (repair)
    throw new StartRefused("--repair works on data folders; a catalog in PostgreSQL is only examined");
  const findings = await examineCluster(place);
  for (const finding of findings) console.log(`${lineOf(finding)}\n  ${helpOf(finding)}`);
  const found = `Damaged parts of the catalog, its datapoints and files: ${findings.length}`;
  console.log(findings.length > 0 ? found : "The catalog, its datapoints and files are in order");
  return findings.length > 0 ? damageLeft : 0;
}

const blobsIn = ({ data }: DataPlace) =>
  namedBlobs(catalogFileOf(data), [fileTable.name, attachmentTable.name]);

async function examine(place: DataPlace, repair: boolean): Promise<number> {
  const { data } = place;
  let repairs = 0;
  const onRepair = (finding: Finding) => {
    repairs++;
    console.log(`${lineOf(finding)}\n  repaired: ${finding.remedy!.says}`);
  };
  const inCatalog = existsSync(catalogFileOf(data))
    ? examineDatabase(catalogFileOf(data), repair ? onRepair : undefined)
    : [];
  const parts = inCatalog.length === 0 ? await examineParts(place) : undefined;
  const ofParts = await repaired(parts?.findings ?? [], repair ? onRepair : undefined);
  const mustExist = parts?.manifest !== undefined && parts.manifest.phase !== "creating";
  const store = await examinePoints(place, parts?.manifest, { mustExist, repair, onRepaired: onRepair });
  const ofBlobs = mustExist ? await findingsOfBlobs(place, blobsIn(place)) : [];
  const ofPoints = store.findings.map((one) => ({ ...one, file: `points/${one.file}` }));
  const left = [...inCatalog, ...ofParts, ...ofPoints, ...ofBlobs];
  for (const finding of left) console.log(`${lineOf(finding)}\n  ${helpOf(finding)}`);
  if (store.tornBytes > 0)
    console.log(
      `The journal ends with ${store.tornBytes} bytes of a write that was not complete when the server
stopped; the next start removes them.`,
    );
  console.log(
    left.length > 0
      ? `Damaged parts in ${data}: ${left.length}${repairs > 0 ? `; repaired: ${repairs}` : ""}`
      : `${data} is in order${repairs > 0 ? ` again; repaired parts: ${repairs}` : ""}`,
  );
  return left.length > 0 ? damageLeft : 0;
}

/** Examines the store in the folder, or the database that has the datapoints. */
async function examinePoints(
  { data, points }: DataPlace,
  manifest: Manifest | undefined,
  settings: Parameters<typeof examineStore>[1],
): Promise<{ readonly findings: readonly Finding[]; readonly tornBytes: number }> {
  if (points === undefined) {
    const folder = pointsFolderOf(data);
    await refuseRecordedLocation(folder).catch((problem: unknown) => {
      throw cannotOpen("datapoint store", problem);
    });
    return examineStore(folder, settings);
  }
  return { findings: await examineShards(points, manifest?.folder), tornBytes: 0 };
}

/** Makes the possible repairs and returns the other findings. Without `onRepair` it repairs nothing. */
async function repaired(
  findings: readonly Finding[],
  onRepair?: (finding: Finding) => void,
): Promise<readonly Finding[]> {
  if (onRepair === undefined) return findings;
  for (const finding of findings) {
    await finding.remedy?.apply();
    if (finding.remedy) onRepair(finding);
  }
  return findings.filter(({ remedy }) => remedy === undefined);
}

const lineOf = ({ file, offset, expected, found }: Finding): string =>
  `${file} at ${offset}: expected ${expected}, found ${found}`;

const helpOf = ({ remedy }: Finding): string =>
  remedy === undefined ? "cannot be repaired: restore a backup" : `--repair would ${remedy.says}`;

// `millrace doctor`: finds damage in the data folder of a stopped server, and repairs it on request.
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readSettings } from "../config.ts";
import { catalogFileOf, lockDataFolder, StartRefused } from "../data-folder.ts";
import { blobsFolderOf, examineParts, markedFolders, pointsFolderOf } from "../data-parts.ts";
import { makeFilesPrivate } from "../file-modes.ts";
import { attachmentTable, fileTable } from "../resources/files/schema.ts";
import { examineStore } from "../storage/embedded-points/doctor.ts";
import type { Finding } from "../storage/findings.ts";
import { blobPath } from "../storage/local-blobs/local-blobs.ts";
import { examineDatabase } from "../storage/sql/dialects/sqlite/doctor.ts";
import { namedBlobs } from "../storage/sql/dialects/sqlite/peek.ts";
import type { Command } from "./command.ts";

const damageLeft = 3;

export const doctor: Command = {
  usage: `Usage: millrace doctor [--repair]

Reads the whole data folder of a stopped server (MILLRACE_DATA, else ./millrace-data). Checks that all parts
exist and belong together, the catalog, every block of datapoints, the journal, and the size of every file.
Prints for each damaged part the file, the offset (for a block: its number), the expected and the actual
content. Changes nothing without --repair; with --repair, prints each repair.

Exit codes: 0, no damage, or all of it was repaired; 1, the folder cannot be examined; 3, there is damage.`,
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: { repair: { type: "boolean", default: false } },
    });
    const { data } = readSettings(process.env, process.cwd());
    const parts = [catalogFileOf(data), ...markedFolders.map((name) => join(data, name))];
    if (!parts.some((path) => existsSync(path)))
      throw new StartRefused(`${data} is not a data folder (MILLRACE_DATA); the first start creates it`);
    makeFilesPrivate();
    const release = lockDataFolder(data);
    try {
      return await examine(data, values.repair);
    } finally {
      release();
    }
  },
};

async function examine(data: string, repair: boolean): Promise<number> {
  let repairs = 0;
  const onRepair = (finding: Finding) => {
    repairs++;
    console.log(`${lineOf(finding)}\n  repaired: ${finding.remedy!.says}`);
  };
  const inCatalog = existsSync(catalogFileOf(data))
    ? examineDatabase(catalogFileOf(data), repair ? onRepair : undefined)
    : [];
  const parts = inCatalog.length === 0 ? await examineParts(data) : undefined;
  const ofParts = await repaired(parts?.findings ?? [], repair ? onRepair : undefined);
  const mustExist = parts?.manifest !== undefined && parts.manifest.phase !== "creating";
  const store = await examineStore(pointsFolderOf(data), { mustExist, repair, onRepaired: onRepair });
  const ofBlobs = mustExist ? await findingsOfBlobs(data) : [];
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

/** Repairs what it can and returns the other findings. Without `onRepair` it repairs nothing. */
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

/** Files whose size is not the size in the catalog. */
async function findingsOfBlobs(data: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const tables = [fileTable.name, attachmentTable.name];
  for (const { project: projectId, id, bytes } of namedBlobs(catalogFileOf(data), tables)) {
    const path = blobPath(blobsFolderOf(data), { project: projectId, id });
    const { size } = await stat(path).catch(() => ({ size: undefined }));
    if (size === bytes) continue;
    const found = size === undefined ? "no file" : `${size} bytes`;
    findings.push({ file: `blobs/${projectId}/${id}`, offset: 0, expected: `${bytes} bytes`, found });
  }
  return findings;
}

const lineOf = ({ file, offset, expected, found }: Finding): string =>
  `${file} at ${offset}: expected ${expected}, found ${found}`;

const helpOf = ({ remedy }: Finding): string =>
  remedy === undefined ? "cannot be repaired: restore a backup" : `--repair would ${remedy.says}`;

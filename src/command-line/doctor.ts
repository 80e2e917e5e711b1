// `millrace doctor`: looks for damage in the data folder of a server that is stopped, and mends it if told
// to.
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

Reads the whole data folder of a server that is stopped (MILLRACE_DATA, else ./millrace-data): whether
all parts are there and belong together, the catalog, every block of datapoints, the journal, and the size
of every file. Tells of each damaged piece the file, the offset (of a block: its number), what was expected
and what was found. Changes nothing without --repair; with it, says of each piece what it did.

Exit codes: 0, no damage, or all of it was repaired; 1, the folder cannot be examined; 3, there is damage.`,
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: { repair: { type: "boolean", default: false } },
    });
    const { data } = readSettings(process.env, process.cwd());
    const parts = [catalogFileOf(data), ...markedFolders.map((name) => join(data, name))];
    if (!parts.some((path) => existsSync(path)))
      throw new StartRefused(`${data} is no data folder (MILLRACE_DATA); the first start makes it`);
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
  const told = (finding: Finding) => {
    repairs++;
    console.log(`${lineOf(finding)}\n  repaired: ${finding.remedy!.says}`);
  };
  const inCatalog = existsSync(catalogFileOf(data))
    ? examineDatabase(catalogFileOf(data), repair ? told : undefined)
    : [];
  const parts = inCatalog.length === 0 ? await examineParts(data) : undefined;
  const ofParts = await repaired(parts?.findings ?? [], repair ? told : undefined);
  const mustExist = parts?.manifest !== undefined && parts.manifest.phase !== "creating";
  const store = await examineStore(pointsFolderOf(data), { mustExist, repair, onRepaired: told });
  const ofBlobs = mustExist ? await findingsOfBlobs(data) : [];
  const ofPoints = store.findings.map((one) => ({ ...one, file: `points/${one.file}` }));
  const left = [...inCatalog, ...ofParts, ...ofPoints, ...ofBlobs];
  for (const finding of left) console.log(`${lineOf(finding)}\n  ${helpOf(finding)}`);
  if (store.tornBytes > 0)
    console.log(
      `The journal ends with ${store.tornBytes} bytes of a write that was not finished when the server
stopped; the next start cuts them off.`,
    );
  console.log(
    left.length > 0
      ? `Damaged pieces in ${data}: ${left.length}${repairs > 0 ? `; repaired: ${repairs}` : ""}`
      : `${data} is in order${repairs > 0 ? ` again; repaired pieces: ${repairs}` : ""}`,
  );
  return left.length > 0 ? damageLeft : 0;
}

/** What is left after the remedies, of which `told` hears; without `told`, all of it. */
async function repaired(
  findings: readonly Finding[],
  told?: (finding: Finding) => void,
): Promise<readonly Finding[]> {
  if (told === undefined) return findings;
  for (const finding of findings) {
    await finding.remedy?.apply();
    if (finding.remedy) told(finding);
  }
  return findings.filter(({ remedy }) => remedy === undefined);
}

/** Files of which the catalog knows more, or other, bytes than there are. */
async function findingsOfBlobs(data: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const tables = [fileTable.name, attachmentTable.name];
  for (const { project, id, bytes } of namedBlobs(catalogFileOf(data), tables)) {
    const path = blobPath(blobsFolderOf(data), { project, id });
    const { size } = await stat(path).catch(() => ({ size: undefined }));
    if (size === bytes) continue;
    const found = size === undefined ? "no file" : `${size} bytes`;
    findings.push({ file: `blobs/${project}/${id}`, offset: 0, expected: `${bytes} bytes`, found });
  }
  return findings;
}

const lineOf = ({ file, offset, expected, found }: Finding): string =>
  `${file} at ${offset}: expected ${expected}, found ${found}`;

const helpOf = ({ remedy }: Finding): string =>
  remedy === undefined ? "cannot be repaired: restore a backup" : `--repair would ${remedy.says}`;

// `millrace doctor`: looks for damage in the data folder of a server that is stopped, and mends it if told
// to.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readSettings } from "../config.ts";
import { catalogFileOf, lockDataFolder, StartRefused } from "../data-folder.ts";
import { makeFilesPrivate } from "../file-modes.ts";
import { examineStore } from "../storage/embedded-points/doctor.ts";
import type { Finding } from "../storage/findings.ts";
import { examineDatabase } from "../storage/sql/dialects/sqlite/doctor.ts";
import type { Command } from "./command.ts";

const damageLeft = 3;

export const doctor: Command = {
  usage: `Usage: millrace doctor [--repair]

Reads the whole data folder of a server that is stopped (MILLRACE_DATA, else ./millrace-data): the catalog,
every block of datapoints and the journal. Tells of each damaged piece the file, the offset (of a block: its
number), what was expected and what was found. Changes nothing without --repair; with it, says of each piece
what it did.

Exit codes: 0, no damage, or all of it was repaired; 1, the folder cannot be examined; 3, there is damage.`,
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: { repair: { type: "boolean", default: false } },
    });
    const { data } = readSettings(process.env, process.cwd());
    if (!existsSync(catalogFileOf(data)))
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
  let repaired = 0;
  const told = (finding: Finding) => {
    repaired++;
    console.log(`${lineOf(finding)}\n  repaired: ${finding.remedy!.says}`);
  };
  const inCatalog = examineDatabase(catalogFileOf(data), repair ? told : undefined);
  const store = await examineStore(join(data, "points"), { repair, told });
  const left = [...inCatalog, ...store.findings.map((one) => ({ ...one, file: `points/${one.file}` }))];
  for (const finding of left) console.log(`${lineOf(finding)}\n  ${helpOf(finding)}`);
  if (store.tornBytes > 0)
    console.log(
      `The journal ends with ${store.tornBytes} bytes of a write that was not finished when the server
stopped; the next start cuts them off.`,
    );
  console.log(
    left.length > 0
      ? `Damaged pieces in ${data}: ${left.length}${repaired > 0 ? `; repaired: ${repaired}` : ""}`
      : `${data} is in order${repaired > 0 ? ` again; repaired pieces: ${repaired}` : ""}`,
  );
  return left.length > 0 ? damageLeft : 0;
}

const lineOf = ({ file, offset, expected, found }: Finding): string =>
  `${file} at ${offset}: expected ${expected}, found ${found}`;

const helpOf = ({ remedy }: Finding): string =>
  remedy === undefined ? "cannot be repaired: restore a backup" : `--repair would ${remedy.says}`;

// `millrace import`: loads data files into a running server, through the public API only.
import { importArchive, restoreUsage } from "../archive/restore.ts";
import type { ImportCommand } from "../import/import-csv.ts";
import { importRecords, recordsUsage } from "../import/import-records.ts";
import { archiveParts, importCommands, recordKinds } from "../transfers.ts";
import { asClient } from "./client.ts";
import { type Command, Misused } from "./command.ts";

const commands: readonly Pick<ImportCommand, "name" | "run">[] = [
  ...importCommands,
  ...recordKinds.map((kind) => ({ name: kind.name, run: importRecords(kind) })),
  { name: "archive", run: importArchive(archiveParts) },
];

export const importFiles: Command = {
  usage: [...importCommands.map(({ usage }) => usage), recordsUsage(recordKinds), restoreUsage].join("\n\n"),
  async run([name, ...words]) {
    const found = commands.find((command) => command.name === name);
    if (!found)
      throw new Misused(
        name === undefined
          ? `Name the kind of data to import: ${commands.map((command) => command.name).join(", ")}`
          : `"${name}" cannot be imported`,
      );
    return await asClient(found.run, words);
  },
};

// `millrace import`: loads data files into a running server; a client of the public API, nothing else.
import { importArchive, restoreUsage } from "../archive/restore.ts";
import { importCsv } from "../import/import-csv.ts";
import { importRecords, recordsUsage } from "../import/import-records.ts";
import { usage as csvUsage } from "../import/options.ts";
import { asClient, type ClientCommand } from "./client.ts";
import { type Command, Misused } from "./command.ts";

const kinds: Readonly<Record<string, { readonly run: ClientCommand; readonly usage: string }>> = {
  csv: { run: importCsv, usage: csvUsage },
  assets: { run: importRecords("assets"), usage: recordsUsage },
  events: { run: importRecords("events"), usage: "" },
  raw: { run: importRecords("raw"), usage: "" },
  archive: { run: importArchive, usage: restoreUsage },
};

export const importFiles: Command = {
  usage: Object.values(kinds)
    .map(({ usage }) => usage)
    .filter((usage) => usage !== "")
    .join("\n\n"),
  async run([kind, ...words]) {
    const found = kind !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (!found)
      throw new Misused(kind === undefined ? "What is to be imported?" : `"${kind}" cannot be imported`);
    return await asClient(found.run, words);
  },
};

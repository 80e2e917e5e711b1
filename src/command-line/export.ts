// `millrace export`: a whole project of a running server as one file; a client of the public API, nothing
// else.
import { exportArchive, exportUsage } from "../archive/export.ts";
import { archiveParts } from "../transfers.ts";
import { asClient } from "./client.ts";
import type { Command } from "./command.ts";

export const exportProject: Command = {
  usage: exportUsage,
  run: (words) => asClient(exportArchive(archiveParts), words),
};

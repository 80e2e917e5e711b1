// `millrace export`: writes a project of a running server into one file, through the public API only.
import { exportArchive, exportUsage } from "../archive/export.ts";
import { archiveParts } from "../transfers.ts";
import { asClient } from "./client.ts";
import type { Command } from "./command.ts";

export const exportProject: Command = {
  usage: exportUsage,
  run: (words) => asClient(exportArchive(archiveParts), words),
};

// Refusals about backups. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const backupFailures = {
  "backup-running": entry<{ place: string }>({
    status: 409,
    when: "`millrace backup` is called while another backup of this server is made.",
    message: ({ place }) => `A backup to ${place} is being made; wait until it has ended`,
  }),
  "backup-not-possible": entry<{ problem: string }>({
    status: 400,
    when: "`millrace backup` is called for a server with data outside of its data folder.",
    message: ({ problem }) => `This server cannot make a backup: ${problem}`,
  }),
  "backup-not-allowed": entry<Record<string, never>>({
    status: 401,
    when: "A request to `/-/backups` does not prove that its sender can read the data folder.",
    message: () => "Backups are made by `millrace backup`, run by a user who can read the data folder",
  }),
} as const;

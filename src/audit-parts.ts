// Opens the audit log of the server.
import type { Logger } from "pino";
import { AuditLog } from "./audit/audit-log.ts";
import type { Settings } from "./config.ts";
import type { Services } from "./context.ts";
import { byUrlName } from "./resources/projects/projects.ts";

interface AuditParts extends Pick<Services, "system" | "lease" | "catalog"> {
  readonly settings: Settings;
  readonly log: Logger;
  readonly isReadOnly: boolean;
}

/** Records changes unless the settings say otherwise; nothing while the server serves only reads. */
export function openAudit(
  { catalog, system, lease, settings, log, isReadOnly }: AuditParts,
  opened: AsyncDisposableStack,
): AuditLog {
  const { mode } = settings.audit ?? { mode: "changes" };
  const audit = new AuditLog({
    ...{ catalog, system, ownProject: settings.project, owner: () => lease.owner },
    mode: isReadOnly ? "off" : mode,
    projectNamed: (name) => catalog.read("system", async (tx) => (await byUrlName(tx, name))?.id),
    report: (problem) => log.error({ err: problem }, "Could not write the audit log; trying again"),
  });
  opened.defer(() => audit.close());
  return audit;
}

// Opens the audit log of the server.
import type { Logger } from "pino";
import { AuditLog } from "./audit/audit-log.ts";
import { removeOldRecords } from "./audit/retention.ts";
import type { AuditSettings, Settings } from "./config.ts";
import type { Services } from "./context.ts";
import { startTicks } from "./lib/ticks.ts";
import { limits } from "./limits.ts";
import { allProjects, byUrlName } from "./resources/projects/projects.ts";

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

const dayMs = 24 * 3_600_000;

/** Removes old records at intervals; returns the function that stops it. */
export function startAuditRetention(
  { catalog, system }: Pick<Services, "catalog" | "system">,
  { days }: Partial<AuditSettings> = {},
  log: Logger,
): () => Promise<void> {
  if (days === undefined) return async () => undefined;
  const report = (problem: unknown) => log.error({ err: problem }, "Could not remove old audit records");
  return startTicks({ everyMs: limits.auditSweepMs, report }, async () => {
    const nowMs = system.nowMs();
    for (const { id } of await catalog.read("system", allProjects))
      await removeOldRecords(catalog, id, { beforeMs: nowMs - days * dayMs, nowMs });
  });
}

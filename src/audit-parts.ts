// Opens the audit log of the server, and starts its work in the background.
import type { Logger } from "pino";
import { AuditLog } from "./audit/audit-log.ts";
import { AuditCopies } from "./audit/copies.ts";
import { fileTarget, syslogTarget } from "./audit/copy-targets.ts";
import { removeOldRecords } from "./audit/retention.ts";
import type { AuditSettings, Settings } from "./config.ts";
import type { Services } from "./context.ts";
import { measureAudit } from "./http/audit-metrics.ts";
import type { Metrics } from "./http/metrics.ts";
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

/** Removes old records and makes copies, at intervals; returns the function that stops it. */
export function startAuditWork(
  services: Pick<Services, "catalog" | "system" | "lease" | "audit">,
  settings: Settings["audit"],
  { log, metrics }: { readonly log: Logger; readonly metrics: Metrics },
): () => Promise<void> {
  const { catalog, lease, audit } = services;
  const { file, syslog } = settings ?? {};
  const ended = new AbortController();
  const copies = new AuditCopies({
    catalog,
    continues: async () => !ended.signal.aborted && lease.isFirst(),
    targets: [...(file ? [fileTarget(file)] : []), ...(syslog ? [syslogTarget(syslog)] : [])],
    projects: () => catalog.read("system", allProjects),
    report: ({ name }, problem) => log.error({ err: problem }, `Cannot copy the audit log to ${name}`),
  });
  measureAudit(metrics.registry, audit, copies);
  const report = (problem: unknown) => log.error({ err: problem }, "Could not work on the audit log");
  const copying = startTicks({ everyMs: limits.auditCopyEveryMs, report }, async () => {
    if (copies.states.size > 0 && (await lease.isFirst())) await copies.copy();
  });
  const removing = startTicks({ everyMs: limits.auditSweepMs, report }, () =>
    removeOld(services, settings ?? {}, ended.signal),
  );
  return async () => {
    ended.abort();
    await Promise.all([copying(), removing()]);
  };
}

async function removeOld(
  { catalog, system }: Pick<Services, "catalog" | "system">,
  { days }: Partial<AuditSettings>,
  ended: AbortSignal,
): Promise<void> {
  if (days === undefined) return;
  const nowMs = system.nowMs();
  const removal = { beforeMs: nowMs - days * dayMs, nowMs, continues: () => !ended.aborted };
  for (const { id } of await catalog.read("system", allProjects))
    await removeOldRecords(catalog, id, removal);
}

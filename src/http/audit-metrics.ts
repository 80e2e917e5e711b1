// Metrics of the audit log and of its copies.
import { Gauge, type Registry } from "prom-client";
import type { AuditLog } from "../audit/audit-log.ts";
import type { AuditCopies } from "../audit/copies.ts";

/**
 * Registers the metrics of the audit log. A target that is away shows in `millrace_audit_copy_failing`, on
 * the server that makes the copies.
 */
export function measureAudit(registry: Registry, log: AuditLog, copies: AuditCopies): void {
  const registers = [registry];
  new Gauge({
    ...{ name: "millrace_audit_waiting", registers },
    help: "Audit records that wait to be written to the catalog",
    collect() {
      this.set(log.waiting);
    },
  });
  const labelNames = ["target"];
  new Gauge({
    ...{ name: "millrace_audit_copy_failing", registers, labelNames },
    help: "1 while audit records cannot be copied to the file or to syslog, else 0",
    collect() {
      for (const [target, { isFailing }] of copies.states) this.set({ target }, isFailing ? 1 : 0);
    },
  });
  new Gauge({
    ...{ name: "millrace_audit_copy_waiting", registers, labelNames },
    help: "Audit records that could not be copied yet",
    collect() {
      for (const [target, { waiting }] of copies.states) this.set({ target }, waiting);
    },
  });
}

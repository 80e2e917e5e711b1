// An audit log that records nothing, for tests of parts that need one.
import { AuditLog } from "../../src/audit/audit-log.ts";
import { realSystem } from "../../src/lib/system.ts";

export const noAudit = new AuditLog({
  ...{ mode: "off", system: realSystem, ownProject: "", owner: () => 0 },
  catalog: undefined as never,
  projectNamed: async () => undefined,
  report: () => undefined,
});

// Records the changes of a command in the audit log of a project.
import { userInfo } from "node:os";
import { AuditLog } from "../audit/audit-log.ts";
import type { AuditKind } from "../audit/schema.ts";
import { Failure } from "../errors.ts";
import type { Project } from "../resources/projects/projects.ts";
import type { Opened } from "./beside-server.ts";

interface Audited {
  readonly kind: AuditKind;
  /** `millrace key create` */
  readonly action: string;
  readonly resource: string;
  /** Ids and names of the records. */
  readonly ids: readonly string[];
}

/**
 * Runs `work`, with its intent and its result in the audit log, unless `MILLRACE_AUDIT` is off. `work`
 * reports the ids of records that it made.
 */
export async function audited<Result>(
  { catalog, system, settings }: Pick<Opened, "catalog" | "system" | "settings">,
  { id: projectId, urlName }: Pick<Project, "id" | "urlName">,
  operation: Audited,
  work: (made: (id: number) => void) => Promise<Result>,
): Promise<Result> {
  const log = new AuditLog({
    ...{ catalog, system, mode: settings.audit?.mode ?? "changes", ownProject: urlName },
    // No lease of a server: if the command is killed, the next start of a server records that.
    owner: () => 0,
    projectNamed: async () => projectId,
    report: (problem) => console.error(`The audit log cannot be written: ${(problem as Error).message}`),
  });
  const made: string[] = [];
  const note = (id: number) => void made.push(String(id));
  if (!log.covers(operation.kind)) return work(note);
  const actor = { account: userName(), credential: "command", address: "" } as const;
  const time = system.nowMs();
  const idsCount = operation.ids.length;
  const open = await log.begin(projectId, { ...actor, ...operation, time, idsCount });
  try {
    const result = await work(note);
    await open.end({ result: "done", ids: made });
    return result;
  } catch (problem) {
    const error = problem instanceof Failure ? problem.failure : undefined;
    const isRefused = problem instanceof Failure && problem.status < 500;
    await open.end({ result: isRefused ? "refused" : "failed", ...(error && { error }) });
    throw problem;
  } finally {
    await log.close();
  }
}

/** The user of the operating system, who may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}

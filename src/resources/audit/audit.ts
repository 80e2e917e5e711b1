// Reads the audit log of a project, and checks its chain.

import { type Caller, permittedRecords } from "../../access/caller.ts";
import { readHead } from "../../audit/audit-log.ts";
import { ChainCheck } from "../../audit/chain.ts";
import { type AuditHead, type AuditRecord, auditRecordTable } from "../../audit/schema.ts";
import type { RequestContext, Services } from "../../context.ts";
import { limits } from "../../limits.ts";
import { and, everything, type Filter } from "../../query/filter.ts";
import type { OrderBy, Page, PageQuery, Position } from "../../query/page.ts";
import type { CatalogReader, ProjectId } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";

const newestFirst: readonly OrderBy[] = [{ field: "seq", direction: "descending" }];
const oldestFirst: readonly OrderBy[] = [{ field: "seq", direction: "ascending" }];

const permittedFor = (caller: Caller): Filter => permittedRecords(caller, "auditAcl", "READ");

/** Returns one page of the records, newest first. */
export async function listAuditRecords(
  ctx: RequestContext,
  { filter, page }: { readonly filter: Filter; readonly page: PageQuery },
): Promise<Page<AuditRecord>> {
  const visible = and(permittedFor(ctx.caller), filter);
  return ctx.catalog.read(ctx.projectId, (tx) =>
    readPage(tx, auditRecordTable, { filter: visible, order: newestFirst, page }),
  );
}

/** Counts the matching records. */
export async function countAuditRecords(ctx: RequestContext, filter: Filter): Promise<number> {
  const visible = and(permittedFor(ctx.caller), filter);
  return ctx.catalog.read(ctx.projectId, (tx) => tx.count(auditRecordTable, visible));
}

/** Whether the chain of a project is as it was written. */
export interface AuditVerification {
  readonly head: AuditHead;
  /** Records that are as they were written, before the first one that is not. */
  readonly checked: number;
  /** The first record that is missing or changed. */
  readonly broken?: { readonly seq: number; readonly problem: "missing" | "changed" | "hash" };
}

/** Checks every record of the project. */
export function verifyAudit(ctx: RequestContext): Promise<AuditVerification> {
  permittedFor(ctx.caller);
  return verifyAuditOf(ctx, ctx.projectId, ctx.signal);
}

/** Checks every record of a project, for commands. Reads one state of the catalog. */
export function verifyAuditOf(
  { catalog }: Pick<Services, "catalog">,
  projectId: ProjectId,
  signal?: AbortSignal,
): Promise<AuditVerification> {
  return catalog.read(projectId, async (tx) => {
    const head = await readHead(tx);
    const check = new ChainCheck(head);
    for (let after: Position | undefined; ; ) {
      signal?.throwIfAborted();
      const records: AuditRecord[] = await pageOf(tx, after);
      const broken = check.take(records);
      if (broken) return { head, checked: check.count, broken };
      if (records.length < limits.auditRecordsPerWrite) break;
      after = [records.at(-1)!.seq];
    }
    const broken = check.end();
    return { head, checked: check.count, ...(broken && { broken }) };
  });
}

const pageOf = (tx: CatalogReader, after: Position | undefined): Promise<AuditRecord[]> =>
  tx.find(auditRecordTable, {
    ...{ filter: everything, order: oldestFirst },
    page: { limit: limits.auditRecordsPerWrite, ...(after && { after }) },
  });

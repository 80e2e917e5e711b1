// The inputs of a run of a version: its code, its artifacts, and a key if its authors may have one.
import type { Caller } from "../../../access/caller.ts";
import { notAfter } from "../../../access/credentials.ts";
import type { Services } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import type { LentKey, RunFile } from "../../../model-runner/model-runner.ts";
import { and, equals, oneOf } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import type { CatalogWriter, ProjectId } from "../../../storage/catalog.ts";
import { attachmentBytes, attachments } from "../../files/attachments/attachments.ts";
import { type LogOperation, logTable, sourcePackageTable, type Version, versionTable } from "../schema.ts";
import { codeOf } from "../source-packages/source-packages.ts";
import { artifactsOf } from "./rows.ts";

/** The inputs of every task of a version. */
export interface Loadable {
  readonly packageName: string;
  readonly code: RunFile["open"];
  readonly artifacts: readonly RunFile[];
}

/** Refuses (400) a version whose package or archive was deleted. */
export function loadable(services: Services, projectId: ProjectId, version: Version): Promise<Loadable> {
  return services.catalog.read(projectId, async (tx) => {
    const [source] = await tx.get(sourcePackageTable, [version.sourcePackageId]);
    if (!source) throw fail("source-code-deleted", { name: `of ${version.name}` });
    const code = await codeOf(tx, source);
    const names = new Map((await artifactsOf(tx, [version.id])).map(({ id, name }) => [id, name]));
    const existing = await attachments(tx, [...names.keys()]);
    const artifacts = existing
      .filter(({ content }) => content !== undefined)
      .map((one) => ({ name: names.get(one.id)!, open: () => attachmentBytes(services, projectId, one) }));
    const open = () => attachmentBytes(services, projectId, code);
    return { packageName: source.packageName, code: open, artifacts };
  });
}

/**
 * A key of the caller for the duration of a run. No key for callers without an account, nor for code of
 * authors with fewer rights than the caller: through the key, the authors could read more data.
 */
export async function keyFor(
  services: Services,
  caller: Caller | undefined,
  { authors }: Version,
): Promise<LentKey> {
  const accountId = caller?.userId;
  if (!caller || accountId === undefined || !(await mayHaveKey(services, caller, authors)))
    return { [Symbol.dispose]: () => undefined };
  const { projectId, projectUrlName: project, credential: startedWith } = caller;
  const expiresTime = notAfter(startedWith, services.system.nowMs() + limits.modelTrainMsMax);
  return services.keys.createTemporary({ projectId, project, accountId, expiresTime, startedWith });
}

async function mayHaveKey(
  { keys, rights }: Services,
  caller: Caller,
  authors: readonly number[],
): Promise<boolean> {
  for (const id of authors.filter((one) => one !== caller.userId)) {
    const author = id === 0 ? undefined : await keys.callerAs(id, caller);
    if (!author || !(await rights.covers(caller.projectId, author.capabilities, caller.capabilities)))
      return false;
  }
  return true;
}

/**
 * Stores the printed output of a run and deletes the oldest; nothing if the version was deleted meanwhile.
 */
export async function recordLog(
  { catalog, ids }: Services,
  projectId: ProjectId,
  version: number,
  { operation, lines }: { readonly operation: LogOperation; readonly lines: readonly string[] },
): Promise<void> {
  if (lines.length === 0) return;
  await catalog.write(projectId, async (tx) => {
    const [known] = await tx.get(versionTable, [version]);
    if (!known) return;
    await tx.insert(logTable, [{ id: ids.next(), versionId: version, operation, lines }]);
    await dropOldest(tx, version, operation);
  });
}

async function dropOldest(tx: CatalogWriter, version: number, operation: LogOperation): Promise<void> {
  const filter = and(equals("versionId", version), equals("operation", operation));
  const limit = (await tx.count(logTable, filter)) - limits.modelLogsKeptMax;
  if (limit <= 0) return;
  const oldest = await tx.find(logTable, { filter, order: byId, page: { limit } });
  await tx.remove(
    logTable,
    oneOf(
      "id",
      oldest.map(({ id }) => id),
    ),
  );
}

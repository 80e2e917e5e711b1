// Artifacts: files of a version's training, written by the training code or uploaded by the author.
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { isArtifactName } from "../../../model-runner/model-runner.ts";
import { attachmentLink, attachments, expectBytes, uploadLink } from "../../files/attachments/attachments.ts";
import { type Artifact, artifactTable, versionTable } from "../schema.ts";
import { artifactsOf, requireState, requireVersion, type VersionKey } from "./rows.ts";

export interface ArtifactState {
  readonly name: string;
  readonly bytes: number;
}

/** The artifacts with complete uploads, by name. */
export function listArtifacts(ctx: RequestContext, key: VersionKey): Promise<ArtifactState[]> {
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    await requireVersion(tx, ctx, key, "READ");
    const found = await artifactsOf(tx, [key.id]);
    const existing = await attachments(
      tx,
      found.map(({ id }) => id),
    );
    const bytesOf = new Map(existing.map(({ id, contentBytes }) => [id, contentBytes]));
    return found
      .map(({ id, name }) => ({ name, bytes: bytesOf.get(id) }))
      .filter((one): one is ArtifactState => one.bytes !== undefined)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  });
}

/**
 * A download link, valid for a few minutes. Refuses (404) an unknown artifact, and (400) one that is not
 * uploaded yet.
 */
export function artifactLink(
  ctx: RequestContext,
  key: VersionKey,
  { name, baseUrl }: { readonly name: string; readonly baseUrl: string },
): Promise<string> {
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const version = await requireVersion(tx, ctx, key, "READ");
    const found = (await artifactsOf(tx, [key.id])).find((one) => one.name === name);
    const [existing] = found ? await attachments(tx, [found.id]) : [];
    if (!existing) throw fail("artifact-unknown", { name, version: version.name });
    return attachmentLink(ctx, existing, baseUrl);
  });
}

/**
 * An upload link of an artifact, usable until the version is deployed; replaces an artifact with the same
 * name. Refuses (409) a version that does not wait for deployment.
 */
export function uploadArtifact(
  ctx: RequestContext,
  key: VersionKey,
  { name, baseUrl }: { readonly name: string; readonly baseUrl: string },
): Promise<string> {
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const version = await requireVersion(tx, ctx, key, "WRITE");
    requireState(version, ["AWAITING_MANUAL_DEPLOYMENT"]);
    const existing = await artifactsOf(tx, [key.id]);
    refuseUnusable(name, existing);
    const [got, limit] = [existing.length + 1, limits.modelArtifactsMax];
    const same = existing.find((one) => one.name === name);
    if (!same && got > limit) throw fail("too-many", { field: "artifacts", limit, got });
    // Artifacts change the behaviour of the code, so the caller becomes an author.
    const authors = [...new Set([...version.authors, ctx.caller.userId ?? 0])];
    await tx.replace(versionTable, [{ ...version, authors }]);
    const upload = await expectBytes(tx, ctx, { name: fileNameOf(name), ...(same && { id: same.id }) });
    const artifact: Artifact = { id: upload.fileId, versionId: key.id, name };
    if (!same) await tx.insert(artifactTable, [artifact]);
    return uploadLink(ctx, upload, baseUrl);
  });
}

/** The name for downloads. */
export const fileNameOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** The runner writes artifacts to files in a folder. */
function refuseUnusable(name: string, existing: readonly Artifact[]): void {
  const isFolder = existing.some((one) => one.name.startsWith(`${name}/`) || name.startsWith(`${one.name}/`));
  if (isArtifactName(name) && !isFolder) return;
  throw fail("field-invalid", { field: "name", expected: "a path such as folder/file.txt", got: name });
}

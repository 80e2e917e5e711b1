// Artifacts: the files that a version has learnt, left by its training or sent by its author.
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

/** Those whose bytes have come, in the order of their names. */
export function listArtifacts(ctx: RequestContext, key: VersionKey): Promise<ArtifactState[]> {
  return ctx.catalog.read(ctx.project, async (tx) => {
    await requireVersion(tx, ctx, key, "READ");
    const found = await artifactsOf(tx, [key.id]);
    const held = await attachments(
      tx,
      found.map(({ id }) => id),
    );
    const bytesOf = new Map(held.map(({ id, contentBytes }) => [id, contentBytes]));
    return found
      .map(({ id, name }) => ({ name, bytes: bytesOf.get(id) }))
      .filter((one): one is ArtifactState => one.bytes !== undefined)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  });
}

/** A link to the bytes for some minutes; refuses (404) an unknown artifact, (400) one yet to come. */
export function artifactLink(
  ctx: RequestContext,
  key: VersionKey,
  { name, baseUrl }: { readonly name: string; readonly baseUrl: string },
): Promise<string> {
  return ctx.catalog.read(ctx.project, async (tx) => {
    const version = await requireVersion(tx, ctx, key, "READ");
    const found = (await artifactsOf(tx, [key.id])).find((one) => one.name === name);
    const [held] = found ? await attachments(tx, [found.id]) : [];
    if (!held) throw fail("artifact-unknown", { name, version: version.name });
    return attachmentLink(ctx, held, baseUrl);
  });
}

/**
 * Where the bytes of an artifact are to be put, until the version is deployed; they take the place of those
 * of the same name. Refuses (409) a version that does not wait for its deployment.
 */
export function uploadArtifact(
  ctx: RequestContext,
  key: VersionKey,
  { name, baseUrl }: { readonly name: string; readonly baseUrl: string },
): Promise<string> {
  return ctx.catalog.write(ctx.project, async (tx) => {
    const version = await requireVersion(tx, ctx, key, "WRITE");
    requireState(version, ["AWAITING_MANUAL_DEPLOYMENT"]);
    const held = await artifactsOf(tx, [key.id]);
    refuseUnusable(name, held);
    const [got, limit] = [held.length + 1, limits.modelArtifactsMax];
    const same = held.find((one) => one.name === name);
    if (!same && got > limit) throw fail("too-many", { field: "artifacts", limit, got });
    // What is loaded decides what the code does as much as the code itself.
    const authors = [...new Set([...version.authors, ctx.caller.userId ?? 0])];
    await tx.replace(versionTable, [{ ...version, authors }]);
    const upload = await expectBytes(tx, ctx, { name: fileNameOf(name), ...(same && { id: same.id }) });
    const artifact: Artifact = { id: upload.fileId, versionId: key.id, name };
    if (!same) await tx.insert(artifactTable, [artifact]);
    return uploadLink(ctx, upload, baseUrl);
  });
}

/** What a download is called. */
export const fileNameOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** Artifacts become files below a folder when they are loaded. */
function refuseUnusable(name: string, held: readonly Artifact[]): void {
  const isFolder = held.some((one) => one.name.startsWith(`${name}/`) || name.startsWith(`${one.name}/`));
  if (isArtifactName(name) && !isFolder) return;
  throw fail("field-invalid", { field: "name", expected: "a path such as folder/file.txt", got: name });
}

// Suggests assets for the tags in a drawing, with their places.
import { requireCapability } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { type DrawingFormat, DrawingProblem, type DrawingTag } from "../../drawing-reader/drawing-reader.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, equals, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import { plainForm } from "../../query/tags/similarity.ts";
import { getFile } from "../files/files.ts";
import { fileTable, type StoredFile } from "../files/schema.ts";
import { type Box, type Suggestion, suggestionTable } from "./schema.ts";
import { type AssetMatch, assetsByTag, existing } from "./series-matches.ts";
import { visibleSuggestions } from "./suggestions.ts";

export interface DrawingMatches {
  /** Strings in the drawing that may be tags. */
  readonly examined: number;
  /** Those that have the tag of an asset now, at any place. */
  readonly matched: number;
  /** The new suggestions. */
  readonly proposed: number;
}

/**
 * Finds the tags in the drawing and stores the nearest asset of each as a suggestion with its place. What was
 * accepted for a tag stays accepted, also where the tag has moved or is not found now. A rejected asset is
 * not suggested again for the tag; if the tag is accepted elsewhere in the drawing, not at this place. Other
 * open suggestions for the file are removed, as far as the caller sees them. Refuses (404) an unknown file,
 * and files that are no drawing, too large or damaged.
 */
export async function suggestForDrawing(
  ctx: RequestContext,
  { fileId, scoreMax }: { readonly fileId: number; readonly scoreMax: number },
): Promise<DrawingMatches> {
  const visible = visibleSuggestions(ctx, "WRITE");
  requireCapability(ctx.caller, "filesAcl", "READ");
  requireCapability(ctx.caller, "assetsAcl", "READ");
  const file = await getFile(ctx, fileId);
  const found = await tagsIn(ctx, file);
  const tags = [...new Set(found.map(({ tag }) => tag))];
  const candidatesMax = limits.suggestionCandidatesMax;
  const matches = await assetsByTag(ctx, tags, { scoreMax, candidatesMax });
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const [now] = await tx.get(fileTable, [fileId]);
    if (now?.content !== file.content) throw fail("drawing-changed", { name: file.name });
    const filter = and(visible, equals("fileId", fileId));
    const page = { limit: await tx.count(suggestionTable, filter) };
    const held = await tx.find(suggestionTable, { filter, order: byId, page });
    const places = placesOf(found, { matches: await existing(tx, matches), held });
    const { added, kept, moved } = merge(ctx, { fileId, places, held });
    const removed = held.filter(({ id, state }) => state === "OPEN" && !kept.has(id));
    await tx.remove(
      suggestionTable,
      oneOf(
        "id",
        removed.map(({ id }) => id),
      ),
    );
    await tx.insert(suggestionTable, added);
    await tx.setColumns(suggestionTable, ["page", "box", "tag", "score", "lastUpdatedTime"], moved);
    const proposed = added.filter(({ state }) => state === "OPEN").length;
    return { examined: found.length, matched: places.length, proposed };
  });
}

async function tagsIn(ctx: RequestContext, file: StoredFile): Promise<readonly DrawingTag[]> {
  const { name, content, contentBytes = 0 } = file;
  const format = formatOf(file);
  if (content === undefined) throw fail("file-not-uploaded", { name });
  const limit = limits.drawingBytesMax;
  if (contentBytes > limit) throw fail("drawing-too-large", { name, bytes: contentBytes, limit });
  const bytes = await ctx.blobs.open({ project: ctx.projectId, id: content });
  if (!bytes) throw fail("file-not-uploaded", { name });
  try {
    return await ctx.drawings.read({ format, bytes, project: String(ctx.projectId) }, ctx.signal);
  } catch (problem) {
    if (!(problem instanceof DrawingProblem)) throw problem;
    throw fail("drawing-unreadable", { name, problem: problem.message });
  } finally {
    bytes.destroy();
  }
}

function formatOf({ name, contentType }: StoredFile): DrawingFormat {
  if (contentType?.startsWith("image/svg+xml") || /\.svg$/i.test(name)) return "svg";
  if (contentType?.startsWith("application/pdf") || /\.pdf$/i.test(name)) return "pdf";
  throw fail("drawing-format", { name, contentType });
}

interface TagPlace extends AssetMatch {
  readonly page: number;
  readonly box: Box;
  readonly state: "OPEN" | "ACCEPTED";
}

/** A tag in any spelling, with an asset. */
const pairOf = ({ tag, assetId }: Pick<Suggestion, "tag" | "assetId">) => `${assetId} ${plainForm(tag)}`;

const atPlace = (row: Pick<Suggestion, "tag" | "assetId" | "page" | "box">) =>
  JSON.stringify([pairOf(row), row.page, row.box?.x, row.box?.y, row.box?.width, row.box?.height]);

/** The best asset of each tag that was not rejected for it. */
function placesOf(
  found: readonly DrawingTag[],
  of: {
    readonly matches: ReadonlyMap<string, readonly AssetMatch[]>;
    readonly held: readonly Suggestion[];
  },
): TagPlace[] {
  const inState = (state: Suggestion["state"]) => of.held.filter((row) => row.state === state);
  const accepted = new Set(inState("ACCEPTED").map(pairOf));
  const rejected = new Set(inState("REJECTED").map(pairOf));
  const rejectedHere = new Set(inState("REJECTED").map(atPlace));
  return found.flatMap(({ page, tag, ...place }) => {
    const box = boxOf(place);
    const candidates = (of.matches.get(tag) ?? []).filter((one) =>
      accepted.has(pairOf(one))
        ? !rejectedHere.has(atPlace({ ...one, page, box }))
        : !rejected.has(pairOf(one)),
    );
    const best = candidates.find((one) => accepted.has(pairOf(one))) ?? candidates[0];
    return best ? [{ ...best, page, box, state: accepted.has(pairOf(best)) ? "ACCEPTED" : "OPEN" }] : [];
  });
}

const boxOf = ({ x, y, width, height }: Box): Box => ({
  ...{ x: rounded(x), y: rounded(y), width: rounded(width), height: rounded(height) },
});

const rounded = (value: number): number => Math.round(value * 1e5) / 1e5;

interface Merging {
  readonly fileId: number;
  readonly places: readonly TagPlace[];
  readonly held: readonly Suggestion[];
}

/**
 * Suggestions that are at their place already keep their ids. An accepted one whose tag is no longer at its
 * place moves to a place that is new.
 */
function merge(ctx: RequestContext, { fileId, places, held }: Merging) {
  const nowMs = ctx.system.nowMs();
  const times = { createdTime: nowMs, lastUpdatedTime: nowMs };
  const keyOf = (row: TagPlace | Suggestion) => JSON.stringify([atPlace(row), row.tag, row.score, row.state]);
  const before = new Map(held.map((row) => [keyOf(row), row.id]));
  const kept = new Set(places.flatMap((place) => before.get(keyOf(place)) ?? []));
  const isOpen = new Set(held.filter(({ state }) => state === "OPEN").map(atPlace));
  const free = held.filter(({ id, state }) => state === "ACCEPTED" && !kept.has(id));
  const freeByPair = Map.groupBy(free, pairOf);
  const added: Suggestion[] = [];
  const moved: Suggestion[] = [];
  for (const place of places) {
    if (before.has(keyOf(place))) continue;
    const { page, box, tag, score } = place;
    const accepted = isOpen.has(atPlace(place)) ? undefined : freeByPair.get(pairOf(place))?.shift();
    if (accepted) moved.push({ ...accepted, page, box, tag, score, lastUpdatedTime: nowMs });
    else added.push({ ...place, id: ctx.ids.next(), fileId, ...times });
  }
  return { added, kept, moved };
}

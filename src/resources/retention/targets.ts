// The series of a retention rule. The most specific rule of a series counts: that of the series itself, then
// that of the nearest asset above it, then that of the project.
import { underAsset } from "../../access/asset-subtree.ts";
import { and, equals, everything, type Filter, not, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { assetTable } from "../assets/schema.ts";
import { type RetentionTarget, retentionTable } from "./schema.ts";

/** The series that the target names, also those with a more specific rule. */
export function targetOf({ seriesId, assetId }: RetentionTarget): Filter {
  if (seriesId !== undefined) return equals("id", seriesId);
  return assetId === undefined ? everything : underAsset([assetId]);
}

/** The series for which a rule with this target counts, beside the other rules of the project. */
export async function seriesOf(tx: CatalogReader, target: RetentionTarget): Promise<Filter> {
  const { seriesId, assetId } = target;
  if (seriesId !== undefined) return targetOf(target);
  const rules = await tx.find(retentionTable, {
    filter: everything,
    order: byId,
    page: { limit: await tx.count(retentionTable, everything) },
    fields: ["id", "seriesId", "assetId"],
  });
  const others = rules.flatMap((rule) => rule.assetId ?? []).filter((id) => id !== assetId);
  const nested = assetId === undefined ? others : await assetsBelow(tx, assetId, others);
  const series = rules.flatMap((rule) => rule.seriesId ?? []);
  return and(
    targetOf(target),
    nested.length > 0 ? not(underAsset(nested)) : undefined,
    series.length > 0 ? not(oneOf("id", series)) : undefined,
  );
}

async function assetsBelow(tx: CatalogReader, root: number, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const filter = and(underAsset([root]), oneOf("id", ids));
  const found = await tx.find(assetTable, {
    filter,
    order: byId,
    page: { limit: ids.length },
    fields: ["id"],
  });
  return found.map(({ id }) => id);
}

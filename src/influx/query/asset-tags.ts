// The tags of series and events that come from their assets, as far as the caller may see these.
import type { Acl } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { visibleAssetRows } from "../../resources/assets/assets.ts";

/** The name of the asset, the names from the topmost visible asset down to it, and the first of these. */
export interface AssetTagValues {
  readonly asset?: string;
  readonly path?: string;
  readonly root?: string;
}

/** Without values for an asset that the caller may not see. */
export type TagsOfAsset = (assetId: number) => AssetTagValues;

interface SeenAsset {
  readonly name: string;
  readonly lineage: readonly number[];
}

export class AssetTags {
  readonly #ctx: RequestContext;
  readonly #acl: Acl;
  /** Undefined for assets that the caller may not see. */
  readonly #seen = new Map<number, SeenAsset | undefined>();

  constructor(ctx: RequestContext, acl: Acl = "timeSeriesAcl") {
    this.#ctx = ctx;
    this.#acl = acl;
  }

  /** The tags of these assets. */
  async of(ids: readonly (number | undefined)[]): Promise<TagsOfAsset> {
    await this.#read(ids);
    await this.#read([...this.#seen.values()].flatMap((asset) => asset?.lineage ?? []));
    return (id) => {
      const asset = this.#seen.get(id);
      if (!asset) return {};
      const names = asset.lineage
        .map((one) => this.#seen.get(one)?.name)
        .filter((name) => name !== undefined);
      return { asset: asset.name, path: names.join("/"), root: names[0]! };
    };
  }

  async #read(ids: readonly (number | undefined)[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => id !== undefined && !this.#seen.has(id)) as number[];
    for (let at = 0; at < missing.length; at += limits.idsPerQueryMax) {
      const some = missing.slice(at, at + limits.idsPerQueryMax);
      const { catalog, projectId } = this.#ctx;
      const rows = await catalog.read(projectId, (tx) => visibleAssetRows(this.#ctx, tx, this.#acl, some));
      for (const id of some) {
        const row = rows.get(id);
        const lineage =
          row?.path
            .split("/")
            .filter((part) => part !== "")
            .map(Number) ?? [];
        this.#seen.set(id, row && { name: row.name, lineage });
      }
    }
  }
}

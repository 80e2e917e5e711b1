// Assets over OData: the set Assets with its tree, and the functions AssetsRoots and AssetsSearch.

import { underAsset } from "../../access/asset-subtree.ts";
import type { RequestContext } from "../../context.ts";
import {
  type EntityModelPart,
  type EntitySetQuery,
  entityFunction,
  entitySet,
  entityType,
  navigation,
} from "../../odata/model.ts";
import { column, type Operand, ofRelated, parseId } from "../../odata/operand.ts";
import { id, metadata, required, text, time } from "../../odata/property.ts";
import { searchFunction } from "../../odata/search.ts";
import { and, equals, oneOf, startsWith } from "../../query/filter.ts";
import type { Page } from "../../query/page.ts";
import {
  dataSetId,
  externalId,
  externalIdOf,
  externalIdOperand,
  labels,
} from "../common/properties.odata.ts";
import { type Asset, countAssets, listAssets, visibleAssets } from "./assets.ts";

interface AssetEntity extends Asset {
  /** The external id of the parent, if it has one and the caller may see the parent. */
  readonly parentExternalId?: string;
}

const asset = entityType<AssetEntity>({
  name: "Asset",
  key: "Id",
  properties: [
    required(id("Id", (row) => row.id, "id")),
    externalId("sourceId"),
    text("Name", (row) => row.name, column("name")),
    text("Description", (row) => row.description, column("description")),
    id("ParentId", (row) => row.parentId, "parentId"),
    text("ParentExternalId", (row) => row.parentExternalId, ofParent),
    text("Source", (row) => row.source, column("source")),
    metadata(),
    text("RootId", (row) => String(row.path[0]), rootId()),
    dataSetId(),
    labels(),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
  ],
});

function ofParent(ctx: RequestContext): Operand {
  return ofRelated(
    { field: "parentId", table: "assets", visible: visibleAssets(ctx) },
    externalIdOperand("sourceId"),
  );
}

/** A path starts with the id of the root. */
function rootId(): Operand {
  return {
    type: "Edm.String",
    equals(value) {
      const root = value === null ? undefined : parseId(value);
      return root === undefined ? oneOf("id", []) : startsWith("path", `/${root}/`);
    },
  };
}

async function read(
  ctx: RequestContext,
  { filter, page, needs }: EntitySetQuery,
): Promise<Page<AssetEntity>> {
  const found = await listAssets(ctx, { filter, page });
  return needs.has("ParentExternalId") ? { ...found, items: await withParents(ctx, found.items) } : found;
}

async function withParents(ctx: RequestContext, assets: readonly Asset[]): Promise<AssetEntity[]> {
  const ids = [...new Set(assets.map(({ parentId }) => parentId))].filter((one) => one !== undefined);
  if (ids.length === 0) return [...assets];
  const { items } = await listAssets(ctx, { filter: oneOf("id", ids), page: { limit: ids.length } });
  const externalIds = new Map(items.map((parent) => [parent.id, externalIdOf("sourceId")(parent)]));
  return assets.map((one) => {
    const parentExternalId = one.parentId === undefined ? undefined : externalIds.get(one.parentId);
    return parentExternalId === undefined ? one : { ...one, parentExternalId };
  });
}

const assets = entitySet<AssetEntity>({
  name: "Assets",
  type: "Asset",
  isCountable: true,
  requiresFilter: true,
  nonFilterable: ["ParentId", "MetaData"],
  singleValue: ["Id", "Source"],
  read,
  count: countAssets,
  position: (row) => [row.depth, row.id],
});

const toAsset = { from: "Asset", to: "Assets" } as const;
const byOwnId = (row: Asset) => [row.id];
const withIds = (ids: readonly (string | number)[]) => oneOf("id", ids);

const tree = [
  navigation<AssetEntity, AssetEntity>({
    ...{ ...toAsset, name: "Root" },
    join: { own: (row) => row.path.slice(0, 1), theirs: byOwnId, filter: withIds },
  }),
  navigation<AssetEntity, AssetEntity>({
    ...{ ...toAsset, name: "Parent", isRecursive: true, partner: "Children", constraint: ["ParentId", "Id"] },
    join: {
      own: (row) => (row.parentId === undefined ? [] : [row.parentId]),
      theirs: byOwnId,
      filter: withIds,
    },
  }),
  navigation<AssetEntity, AssetEntity>({
    ...{ ...toAsset, name: "Children", isMany: true, isRecursive: true, partner: "Parent" },
    join: {
      own: byOwnId,
      theirs: (row) => (row.parentId === undefined ? [] : [row.parentId]),
      filter: (ids) => oneOf("parentId", ids),
    },
  }),
  navigation<AssetEntity, AssetEntity>({
    ...{ ...toAsset, name: "Subtree", isMany: true, isExcludedFromWildcard: true },
    join: {
      own: byOwnId,
      theirs: (row) => row.path,
      filter: (ids) => underAsset(ids as readonly number[]),
    },
  }),
];

const roots = equals("depth", 0);

export const assetModel: EntityModelPart = {
  types: [asset],
  sets: [assets],
  navigations: tree,
  functions: [
    entityFunction<AssetEntity>({
      name: "AssetsRoots",
      parameters: [],
      set: "Assets",
      results: () => ({
        read: (ctx, query) => read(ctx, { ...query, filter: and(roots, query.filter) }),
        count: (ctx, filter) => countAssets(ctx, and(roots, filter)),
      }),
    }),
    searchFunction({
      name: "AssetsSearch",
      set: "Assets",
      fields: ["name", "description"],
      read,
      count: countAssets,
    }),
  ],
};

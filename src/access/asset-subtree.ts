// The filter for records in subtrees of assets, by which rights are granted.
import { type Filter, inSubtree } from "../query/filter.ts";

/** The table of assets, to which resources link. */
const assetTree = "assets";

/** The record is, or links to, an asset in the subtree of one of these assets, their roots included. */
export const underAsset = (assetIds: readonly number[]): Filter => inSubtree(assetTree, assetIds);

// The loaded tree, for the parts of the page that change it.
import { createContext, use } from "react";
import type { AssetTree } from "./use-tree.ts";

export const TreeContext = createContext<AssetTree | null>(null);

export const useAssetTree = (): AssetTree => use(TreeContext)!;

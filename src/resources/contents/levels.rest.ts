// The levels of the tree of assets over REST 0.6 (docs/reference/assets.md#browsing-the-tree).
import { listResponse, pageSchema } from "../../rest/envelope.ts";
import { type Route, route } from "../../rest/route.ts";
import { listChildren } from "../assets/assets.ts";
import { assetJson, childrenQuery, treeItemSchema } from "../assets/schemas.rest.ts";

export const levelRoutes: readonly Route[] = [
  route({
    versions: ["0.6"],
    capability: ["assetsAcl", "READ"],
    method: "GET",
    path: "/assets/children",
    summary: "List the children of an asset, or the topmost assets, by name",
    query: childrenQuery,
    response: () => ({ schema: pageSchema(treeItemSchema) }),
    handle: (ctx, { version, query }) => {
      const { parentId, from, cursor, limit } = query;
      const collection = ["assets", "children", ctx.projectId, parentId, from];
      const toJson = assetJson(version);
      return listResponse(
        ctx,
        { collection, cursor, limit },
        (page) => listChildren(ctx, { parentId, from, page }),
        ({ hasChildren, ...asset }) => ({ ...toJson(asset), hasChildren }),
      );
    },
  }),
];

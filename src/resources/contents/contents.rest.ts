// Counts of the records of an asset over REST 0.6 (docs/reference/assets.md).
import { Type } from "typebox";
import { dataResponse, dataSchema } from "../../rest/envelope.ts";
import { type Route, route } from "../../rest/route.ts";
import { assetIdParameter } from "../assets/schemas.rest.ts";
import { countContents } from "./contents.ts";

const count = (what: string) =>
  Type.Optional(Type.Integer({ description: `${what}; absent without the right to read them` }));

const contentsSchema = Type.Object(
  {
    assets: Type.Integer({ description: "Assets below it" }),
    timeseries: count("Series of the asset and of those below it"),
    events: count("Events that are linked to one of these assets"),
    files: count("Files that are linked to one of these assets"),
    sequences: count("Sequences of these assets"),
  },
  { title: "AssetContents" },
);

export const contentsRoutes: readonly Route[] = [
  route({
    versions: ["0.6"],
    capability: ["assetsAcl", "READ"],
    method: "GET",
    path: "/assets/{assetId}/contents",
    summary: "Count the records of an asset and its subtree that the caller may see",
    parameters: assetIdParameter,
    response: () => ({ schema: dataSchema(contentsSchema) }),
    handle: async (ctx, { path }) => dataResponse(await countContents(ctx, path.assetId)),
  }),
];

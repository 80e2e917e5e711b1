// Model hosting over REST 0.6 (docs/reference/models.md): the table of its routes, and those of models.
import { type Static, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { emptyResponse, emptySchema } from "../../rest/envelope.ts";
import { change, changed, changeObject, idField } from "../../rest/fields.ts";
import { id } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import {
  createModel,
  deleteModel,
  getModel,
  listModels,
  type PredictionModel,
  updateModel,
} from "./models.ts";
import { scheduleRoutes } from "./schedules/schedules.rest.ts";
import {
  anyJson,
  body,
  describedChange,
  describedJson,
  describedMembers,
  describedOf,
  descriptionChangeOf,
  enabledWhen,
  listing,
  newDescribed,
  nothing,
  orNull,
  projectMember,
  read,
  recordResponse,
  recordSchema,
  write,
} from "./schemas.rest.ts";
import { sourcePackageRoutes } from "./source-packages/source-packages.rest.ts";
import { versionRoutes } from "./versions/versions.rest.ts";

export const newModel = Type.Object(
  {
    ...newDescribed,
    inputFields: Type.Optional(anyJson("A description of the input")),
    outputFields: Type.Optional(anyJson("A description of the output")),
  },
  { title: "NewModel" },
);

const modelChange = changeObject(
  { ...describedChange, activeVersionId: change(idField("The version that predicts for the model")) },
  { title: "ModelChange" },
);

const modelSchema = Type.Object(
  {
    ...describedMembers,
    ...projectMember,
    activeVersionId: orNull(Type.Integer()),
    inputFields: Type.Unknown(),
    outputFields: Type.Unknown(),
  },
  { title: "Model" },
);

const modelJson = (model: PredictionModel, { caller }: RequestContext) => ({
  ...describedJson(model),
  project: caller.projectUrlName,
  activeVersionId: model.activeVersionId ?? null,
  inputFields: model.inputFields ?? null,
  outputFields: model.outputFields ?? null,
});

const responseSchema = () => ({ schema: recordSchema(modelSchema) });
const toResponse = (ctx: RequestContext, model: PredictionModel) => recordResponse(modelJson(model, ctx));
const oneModel = { modelId: id("The model") };

const ownRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/analytics/models",
    summary: "Create a model",
    body: body(newModel),
    response: responseSchema,
    handle: async (ctx, { body }) => toResponse(ctx, await createModel(ctx, newModelOf(body))),
  }),
  listing({
    path: "/analytics/models",
    summary: "List models, oldest first",
    parameters: {},
    item: modelSchema,
    list: listModels,
    toJson: modelJson,
  }),
  route({
    ...read,
    method: "GET",
    path: "/analytics/models/{modelId}",
    summary: "Read a model",
    parameters: oneModel,
    response: responseSchema,
    handle: async (ctx, { path }) => toResponse(ctx, await getModel(ctx, path.modelId)),
  }),
  route({
    ...write,
    method: "PUT",
    path: "/analytics/models/{modelId}/update",
    summary: "Change a model, or its active version",
    parameters: oneModel,
    body: body(modelChange),
    response: responseSchema,
    handle: async (ctx, { path, body }) => {
      const change = { ...descriptionChangeOf(body), activeVersionId: changed(body.activeVersionId) };
      return toResponse(ctx, await updateModel(ctx, path.modelId, change));
    },
  }),
  route({
    ...write,
    method: "PUT",
    path: "/analytics/models/{modelId}/deprecate",
    summary: "Mark a model as deprecated",
    parameters: oneModel,
    body: nothing,
    response: responseSchema,
    handle: async (ctx, { path }) =>
      toResponse(ctx, await updateModel(ctx, path.modelId, { isDeprecated: true })),
  }),
  route({
    ...write,
    method: "DELETE",
    path: "/analytics/models/{modelId}",
    summary: "Delete a model with its versions and schedules",
    parameters: oneModel,
    response: () => ({ schema: emptySchema }),
    handle: async (ctx, { path }) => {
      await deleteModel(ctx, path.modelId);
      return emptyResponse;
    },
  }),
];

export const modelRoutes: readonly Route[] = enabledWhen([
  ...sourcePackageRoutes,
  ...scheduleRoutes,
  ...ownRoutes,
  ...versionRoutes,
]);

export const newModelOf = ({ inputFields, outputFields, ...sent }: Static<typeof newModel>) => ({
  ...describedOf(sent),
  ...(inputFields != null && { inputFields }),
  ...(outputFields != null && { outputFields }),
});

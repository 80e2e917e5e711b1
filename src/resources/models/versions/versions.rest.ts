// Versions of models over REST (docs/reference/models.md#models-and-versions): also predictions and
// artifacts.
import { type Static, Type } from "typebox";
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import type { ModelOutcome } from "../../../model-runner/model-runner.ts";
import { baseUrlOf } from "../../../rest/base-url.ts";
import { emptyResponse, emptySchema, itemsResponse, itemsSchema } from "../../../rest/envelope.ts";
import { changeObject, idField, nameField } from "../../../rest/fields.ts";
import { id, oneOfWords, required, text } from "../../../rest/parameters.ts";
import { type Route, route } from "../../../rest/route.ts";
import { versionStates } from "../schema.ts";
import {
  body,
  describedChange,
  describedJson,
  describedMembers,
  describedOf,
  descriptionChangeOf,
  jsonObject,
  listing,
  membersResponse,
  membersSchema,
  newDescribed,
  nothing,
  orNull,
  projectMember,
  read,
  recordResponse,
  recordSchema,
  write,
} from "../schemas.rest.ts";
import { artifactLink, listArtifacts, uploadArtifact } from "./artifacts.ts";
import { activeVersion, predict, readLogs } from "./predictions.ts";
import {
  createVersion,
  deleteVersion,
  deployVersion,
  getVersion,
  listVersions,
  trainVersion,
  updateVersion,
  type Version,
} from "./versions.ts";

const optional = <Value extends Parameters<typeof orNull>[0]>(value: Value) => Type.Optional(orNull(value));
const sourcePackageId = idField("The source package with its code");
const newVersion = Type.Object({ ...newDescribed, sourcePackageId }, { title: "NewModelVersion" });

const newTraining = Type.Object(
  {
    ...newDescribed,
    sourcePackageId: optional(sourcePackageId),
    trainingDetails: Type.Object({
      sourcePackageId: optional(sourcePackageId),
      args: optional(jsonObject("Arguments of `train`, by name")),
      scaleTier: optional(nameField("BASIC or CUSTOM; stored without effect")),
      machineType: optional(nameField("Stored without effect")),
    }),
  },
  { title: "NewModelTraining" },
);

const versionChange = changeObject(describedChange, { title: "ModelVersionChange" });

const versionSchema = Type.Object(
  {
    ...describedMembers,
    ...projectMember,
    modelId: Type.Integer(),
    status: Type.Enum([...versionStates]),
    errorMsg: orNull(Type.String({ description: "Why the version is FAILED" })),
    sourcePackageId: Type.Integer(),
    trainingDetails: orNull(
      Type.Object({
        machineType: orNull(Type.String()),
        scaleTier: orNull(Type.String()),
        completedTime: orNull(Type.Integer()),
        sourcePackageId: Type.Integer(),
        args: Type.Unsafe({ type: "object", additionalProperties: true }),
      }),
    ),
  },
  { title: "ModelVersion" },
);

const versionJson = (version: Version, { caller }: RequestContext) => ({
  ...describedJson(version),
  project: caller.projectUrlName,
  modelId: version.modelId,
  status: version.status,
  errorMsg: version.problem ?? null,
  sourcePackageId: version.sourcePackageId,
  trainingDetails: version.training
    ? { machineType: null, scaleTier: null, completedTime: null, ...version.training }
    : null,
});

const predictionWanted = Type.Object(
  {
    instances: Type.Array(Type.Unknown(), { description: "The instances, each passed to `predict`" }),
    args: optional(jsonObject("Further arguments of `predict`, by name")),
  },
  { title: "PredictionQuestion" },
);

const predictionSchema = Type.Object(
  {
    data: Type.Optional(Type.Object({ predictions: Type.Array(Type.Unknown()) })),
    predictions: Type.Optional(Type.Array(Type.Unknown())),
    error: Type.Optional(Type.Object({ message: Type.String(), code: Type.Integer() })),
  },
  { title: "Prediction", description: "`data`, or `error` if the code of the model failed" },
);

/** The status of a failure of the user's code, in a response with status 200. */
const codeFailed = 500;

const predicted = ({ problem, predictions }: ModelOutcome) =>
  problem === undefined
    ? membersResponse({ predictions })
    : { error: { message: problem, code: codeFailed } };

const responseSchema = () => ({ schema: recordSchema(versionSchema) });
const toResponse = (ctx: RequestContext, version: Version) => recordResponse(versionJson(version, ctx));
const model = "/analytics/models/{modelId}";
const version = `${model}/versions/{versionId}`;
const oneModel = { modelId: id("The model") };
const parameters = { ...oneModel, versionId: id("The version") };
const oneArtifact = { ...parameters, name: required(text("The name, which may contain slashes")) };
const keyIn = (path: { readonly modelId: number; readonly versionId: number }) => ({
  modelId: path.modelId,
  id: path.versionId,
});

const made: readonly Route[] = [
  route({
    ...{ ...write, method: "POST", parameters: oneModel, response: responseSchema },
    path: `${model}/versions`,
    summary: "Create a version that waits for deployment",
    body: body(newVersion),
    handle: async (ctx, { path, body }) => {
      const item = { ...describedOf(body), sourcePackageId: body.sourcePackageId };
      return toResponse(ctx, await createVersion(ctx, path.modelId, item));
    },
  }),
  route({
    ...{ ...write, method: "POST", parameters: oneModel, response: responseSchema },
    path: `${model}/versions/train`,
    summary: "Create a version, train it in the background, and deploy it",
    body: body(newTraining),
    handle: async (ctx, { path, body }) =>
      toResponse(ctx, await trainVersion(ctx, path.modelId, trainingOf(body))),
  }),
  route({
    ...{ ...write, method: "POST", parameters, response: responseSchema },
    path: `${version}/deploy`,
    summary: "Deploy a version in the background; one that FAILED may be deployed again",
    body: nothing,
    handle: async (ctx, { path }) => toResponse(ctx, await deployVersion(ctx, keyIn(path))),
  }),
];

const kept: readonly Route[] = [
  listing({
    path: `${model}/versions`,
    summary: "List the versions of a model, oldest first",
    parameters: oneModel,
    item: versionSchema,
    list: (ctx, page, path) => listVersions(ctx, path.modelId, page),
    toJson: versionJson,
  }),
  route({
    ...{ ...read, method: "GET", parameters, response: responseSchema },
    path: version,
    summary: "Read a version",
    handle: async (ctx, { path }) => toResponse(ctx, await getVersion(ctx, keyIn(path))),
  }),
  route({
    ...{ ...write, method: "PUT", parameters, response: responseSchema },
    path: `${version}/update`,
    summary: "Change the description or metadata of a version",
    body: body(versionChange),
    handle: async (ctx, { path, body }) =>
      toResponse(ctx, await updateVersion(ctx, keyIn(path), descriptionChangeOf(body))),
  }),
  route({
    ...{ ...write, method: "PUT", parameters, response: responseSchema },
    path: `${version}/deprecate`,
    summary: "Mark a version as deprecated",
    body: nothing,
    handle: async (ctx, { path }) =>
      toResponse(ctx, await updateVersion(ctx, keyIn(path), { isDeprecated: true })),
  }),
  route({
    ...{ ...write, method: "DELETE", parameters, response: () => ({ schema: emptySchema }) },
    path: version,
    summary: "Delete a version with its artifacts and logs",
    handle: async (ctx, { path }) => {
      await deleteVersion(ctx, keyIn(path));
      return emptyResponse;
    },
  }),
];

const predictRoute = { ...read, method: "PUT", body: body(predictionWanted) } as const;
const prediction = () => ({ schema: predictionSchema });
const questionOf = ({ instances, args }: Static<typeof predictionWanted>) => ({
  instances,
  args: args ?? {},
});

const used: readonly Route[] = [
  route({
    ...{ ...predictRoute, parameters: oneModel, response: prediction },
    path: `${model}/predict`,
    summary: "Predict with the active version of a model",
    handle: async (ctx, { path, body }) =>
      predicted(await predict(ctx, await activeVersion(ctx, path.modelId), questionOf(body))),
  }),
  route({
    ...{ ...predictRoute, parameters, response: prediction },
    path: `${version}/predict`,
    summary: "Predict with a version",
    handle: async (ctx, { path, body }) =>
      predicted(await predict(ctx, await getVersion(ctx, keyIn(path)), questionOf(body))),
  }),
  route({
    ...{ ...read, method: "GET", parameters },
    path: `${version}/log`,
    summary: "Read the logs of a version: printed output and tracebacks",
    query: { logType: oneOfWords("Which runs; default both", ["train", "predict", "both"] as const) },
    response: () => {
      const lines = Type.Array(Type.String());
      return { schema: membersSchema(Type.Object({ predict: lines, train: lines })) };
    },
    handle: async (ctx, { path, query: { logType = "both" } }) => {
      const logs = await readLogs(ctx, keyIn(path));
      return membersResponse({
        predict: logType === "train" ? [] : logs.predict,
        train: logType === "predict" ? [] : logs.train,
      });
    },
  }),
];

const artifacts: readonly Route[] = [
  route({
    ...{ ...read, method: "GET", parameters },
    path: `${version}/artifacts`,
    summary: "List the artifacts of a version",
    response: () => ({ schema: itemsSchema(Type.Object({ name: Type.String(), size: Type.Integer() })) }),
    handle: async (ctx, { path }) => {
      const found = await listArtifacts(ctx, keyIn(path));
      return itemsResponse(found.map(({ name, bytes }) => ({ name, size: bytes })));
    },
  }),
  route({
    ...{ ...read, method: "GET", parameters: oneArtifact, takesRest: true },
    path: `${version}/artifacts/{name}`,
    summary: "Create a download link of an artifact, which needs no credentials and expires",
    response: () => ({ schema: membersSchema(Type.Object({ downloadUrl: Type.String() })) }),
    handle: async (ctx, { path, headers }) => {
      const link = { name: path.name, baseUrl: baseUrlOf(ctx, headers) };
      return membersResponse({ downloadUrl: await artifactLink(ctx, keyIn(path), link) });
    },
  }),
  route({
    ...{ ...write, method: "POST", parameters },
    path: `${version}/artifacts/upload`,
    summary: "Create an upload link of an artifact, usable until the version is deployed",
    body: body(Type.Object({ name: nameField("A path such as folder/file.txt") })),
    response: () => ({ schema: membersSchema(Type.Object({ uploadUrl: Type.String() })) }),
    handle: async (ctx, { path, body, headers }) => {
      const link = { name: body.name, baseUrl: baseUrlOf(ctx, headers) };
      return membersResponse({ uploadUrl: await uploadArtifact(ctx, keyIn(path), link) });
    },
  }),
];

export const versionRoutes: readonly Route[] = [...made, ...kept, ...used, ...artifacts];

function trainingOf({ sourcePackageId: outer, trainingDetails, ...sent }: Static<typeof newTraining>) {
  const { sourcePackageId: inner, args, scaleTier, machineType } = trainingDetails;
  const sourcePackageId = requiredId(outer ?? inner);
  const given = { ...(scaleTier != null && { scaleTier }), ...(machineType != null && { machineType }) };
  return { ...describedOf(sent), sourcePackageId, training: { sourcePackageId, args: args ?? {}, ...given } };
}

function requiredId(sent: number | null | undefined): number {
  if (sent == null) throw fail("fields-missing", { fields: ["sourcePackageId"] });
  return sent;
}

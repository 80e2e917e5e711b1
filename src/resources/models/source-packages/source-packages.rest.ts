// Source packages over REST (docs/reference/models.md#models-and-versions).
import { type Static, Type } from "typebox";
import type { RequestContext } from "../../../context.ts";
import { limits } from "../../../limits.ts";
import { baseUrlOf } from "../../../rest/base-url.ts";
import { emptyResponse, emptySchema } from "../../../rest/envelope.ts";
import { nameField, packageName } from "../../../rest/fields.ts";
import { id } from "../../../rest/parameters.ts";
import { type Route, route } from "../../../rest/route.ts";
import { sourceOperations } from "../schema.ts";
import {
  body,
  describedJson,
  describedMembers,
  describedOf,
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
import {
  codeLink,
  createSourcePackage,
  deleteCode,
  deleteSourcePackage,
  deprecateSourcePackage,
  getSourcePackage,
  listSourcePackages,
  type SourcePackageState,
} from "./source-packages.ts";

const operations = Type.Array(Type.Enum([...sourceOperations]), { maxItems: sourceOperations.length });

const newSourcePackage = Type.Object(
  {
    ...newDescribed,
    packageName: Type.String({
      description: "The Python package whose model.py has the class Model",
      pattern: packageName,
      maxLength: limits.nameLengthMax,
    }),
    availableOperations: Type.Optional(orNull(operations)),
    runtimeVersion: Type.Optional(orNull(nameField("0.1"))),
  },
  { title: "NewSourcePackage" },
);

const sourcePackageSchema = Type.Object(
  {
    ...describedMembers,
    ...projectMember,
    isUploaded: Type.Boolean(),
    packageName: Type.String(),
    availableOperations: operations,
    runtimeVersion: Type.String(),
  },
  { title: "SourcePackage" },
);

const packageJson = ({ source, isUploaded }: SourcePackageState, { caller }: RequestContext) => ({
  ...describedJson(source),
  ...{ project: caller.projectUrlName, isUploaded },
  packageName: source.packageName,
  availableOperations: source.availableOperations,
  runtimeVersion: source.runtimeVersion,
});

const responseSchema = () => ({ schema: recordSchema(sourcePackageSchema) });
const toResponse = (ctx: RequestContext, state: SourcePackageState) =>
  recordResponse(packageJson(state, ctx));
const empty = () => ({ schema: emptySchema });
const onePackage = { sourcePackageId: id("The source package") };
const place = "/analytics/models/sourcepackages";
const ofOne = { parameters: onePackage, path: `${place}/{sourcePackageId}` } as const;

export const sourcePackageRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: place,
    summary: "Create a source package; the client then PUTs its tar.gz to `uploadUrl`",
    body: body(newSourcePackage),
    response: () => ({
      schema: membersSchema(Type.Object({ id: Type.Integer(), uploadUrl: Type.String() })),
    }),
    handle: async (ctx, { body, headers }) =>
      membersResponse(await createSourcePackage(ctx, newOf(body), baseUrlOf(ctx, headers))),
  }),
  listing({
    path: place,
    summary: "List source packages, oldest first",
    parameters: {},
    item: sourcePackageSchema,
    list: listSourcePackages,
    toJson: packageJson,
  }),
  route({
    ...{ ...read, ...ofOne, method: "GET", response: responseSchema },
    summary: "Read the metadata of a source package",
    handle: async (ctx, { path }) => toResponse(ctx, await getSourcePackage(ctx, path.sourcePackageId)),
  }),
  route({
    ...{ ...write, ...ofOne, method: "PUT", response: responseSchema },
    path: `${ofOne.path}/deprecate`,
    summary: "Mark a source package as deprecated",
    body: nothing,
    handle: async (ctx, { path }) => toResponse(ctx, await deprecateSourcePackage(ctx, path.sourcePackageId)),
  }),
  route({
    ...{ ...write, ...ofOne, method: "DELETE", response: empty },
    summary: "Delete a source package; versions of it cannot run any more",
    handle: async (ctx, { path }) => {
      await deleteSourcePackage(ctx, path.sourcePackageId);
      return emptyResponse;
    },
  }),
  route({
    ...{ ...read, ...ofOne, method: "GET" },
    path: `${ofOne.path}/code`,
    summary: "Create a download link of the archive, which needs no credentials and expires",
    response: () => ({ schema: membersSchema(Type.Object({ downloadUrl: Type.String() })) }),
    handle: async (ctx, { path, headers }) => {
      const downloadUrl = await codeLink(ctx, path.sourcePackageId, baseUrlOf(ctx, headers));
      return membersResponse({ downloadUrl });
    },
  }),
  route({
    ...{ ...write, ...ofOne, method: "DELETE", response: empty },
    path: `${ofOne.path}/code`,
    summary: "Delete the archive of a source package; versions of it cannot run any more",
    handle: async (ctx, { path }) => {
      await deleteCode(ctx, path.sourcePackageId);
      return emptyResponse;
    },
  }),
];

const newOf = (sent: Static<typeof newSourcePackage>) => ({
  ...describedOf(sent),
  packageName: sent.packageName,
  availableOperations: sent.availableOperations ?? ["PREDICT" as const],
  runtimeVersion: sent.runtimeVersion ?? "0.1",
});

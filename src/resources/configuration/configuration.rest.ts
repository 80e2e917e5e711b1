// Configurations over REST 0.6 (docs/apply.md#over-rest): records as documents, which are compared and
// applied together.
import { type Static, type TObject, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { PageQuery } from "../../query/page.ts";
import { cursorParameter, dataResponse, dataSchema, listResponse, pageSchema } from "../../rest/envelope.ts";
import { changeObject, sha256Digits } from "../../rest/fields.ts";
import { pageSize } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { applyConfiguration, type KindOfRequest, type Outcome } from "./apply.ts";
import { groupDocument, groupKind } from "./groups.rest.ts";
import type { AnyKind, Found } from "./kind.ts";
import { modelDocument, modelKind, scheduleDocument, scheduleKind } from "./models.rest.ts";
import { seriesDocument, seriesKind } from "./series.rest.ts";
import { transformationDocument, transformationKind } from "./transformations.rest.ts";

interface DescribedKind {
  readonly kind: AnyKind;
  readonly document: TObject;
  readonly plural: string;
}

/** In the order in which their records can name each other. */
export const configurationKinds: readonly DescribedKind[] = [
  { kind: seriesKind, document: seriesDocument, plural: "time series" },
  { kind: groupKind, document: groupDocument, plural: "groups, without the administrators" },
  { kind: modelKind, document: modelDocument, plural: "models that are not deprecated" },
  { kind: scheduleKind, document: scheduleDocument, plural: "schedules that are not deprecated" },
  { kind: transformationKind, document: transformationDocument, plural: "transformations" },
];

const few = { maxItems: limits.configurationDocumentsMax };

const documents = {
  series: Type.Optional(Type.Array(seriesDocument, { maxItems: limits.configurationSeriesMax })),
  groups: Type.Optional(Type.Array(groupDocument, few)),
  models: Type.Optional(Type.Array(modelDocument, few)),
  modelSchedules: Type.Optional(Type.Array(scheduleDocument, few)),
  transformations: Type.Optional(Type.Array(transformationDocument, few)),
};

/** The documents of a request. */
export const documentsSchema = changeObject(documents);
export type ConfigurationDocuments = Static<typeof documentsSchema>;

const prunable = configurationKinds.flatMap(({ kind }) => (kind.remove ? [kind.name] : []));

const applyBody = changeObject({
  ...documents,
  dryRun: Type.Optional(
    Type.Boolean({ description: "Return the differences and apply nothing; default false" }),
  ),
  digest: Type.Optional(
    Type.String({
      description: "The `digest` of a dry run: apply these differences and no others",
      pattern: sha256Digits,
    }),
  ),
  prune: Type.Optional(
    Type.Array(Type.Enum(prunable), {
      description: "Kinds of which records without a document are deleted",
      maxItems: prunable.length,
    }),
  ),
});

const anyValue = (description: string) => Type.Optional(Type.Unsafe<unknown>({ description }));

const outcomeSchema = Type.Object(
  {
    applied: Type.Boolean({ description: "Whether the differences were applied" }),
    unchanged: Type.Integer({ description: "The number of documents that change nothing" }),
    digest: Type.String({ description: "Identifies the differences" }),
    differences: Type.Array(
      Type.Object({
        kind: Type.String(),
        name: Type.String(),
        change: Type.Enum(["created", "changed", "deleted"]),
        fields: Type.Array(
          Type.Object({ field: Type.String(), old: anyValue("Before"), new: anyValue("After") }),
        ),
      }),
    ),
  },
  { title: "ConfigurationOutcome" },
);

const outcomeJson = ({ differences, unchanged, digest }: Outcome, applied: boolean) => ({
  ...{ applied, unchanged, digest },
  differences,
});

/** Models need a server that runs code. */
function refuseWithoutModels({ models: { refusal } }: RequestContext, names: readonly string[]): void {
  if (refusal && names.some((name) => name === modelKind.name || name === scheduleKind.name))
    throw fail("models-unavailable", { why: refusal });
}

const listRoutes = configurationKinds.map(({ kind, document, plural }) =>
  route({
    versions: ["0.6"],
    capability: kind.list,
    method: "GET",
    path: `/configuration/${kind.name}`,
    summary: `List ${plural} as documents`,
    query: {
      cursor: cursorParameter,
      limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
    },
    response: () => ({ schema: pageSchema(document) }),
    handle: async (ctx, { query }) => {
      refuseWithoutModels(ctx, [kind.name]);
      const collection = ["configuration", kind.name, ctx.projectId];
      const read = (page: PageQuery) => kind.page(ctx, page);
      return listResponse(ctx, { ...query, collection }, read, ({ document }: Found) => document);
    },
  }),
);

export const configurationRoutes: readonly Route[] = [
  ...listRoutes,
  route({
    versions: ["0.6"],
    capability: "member",
    effect: "write",
    method: "POST",
    path: "/configuration",
    summary: "Compare documents with the records of the project and apply them, all or none",
    body: { kind: "json", schema: applyBody, nulls: "kept" },
    response: () => ({ schema: dataSchema(outcomeSchema) }),
    handle: async (ctx, { body }) => {
      const { dryRun: isDryRun = false, digest, prune = [], ...given } = body;
      const kinds = configurationKinds.flatMap(({ kind }): KindOfRequest[] => {
        const sent = given[kind.name as keyof typeof given];
        const isPruned = prune.includes(kind.name);
        return sent || isPruned ? [{ kind, sent: sent ?? [], isPruned }] : [];
      });
      const names = kinds.map(({ kind }) => kind.name);
      refuseWithoutModels(ctx, names);
      const outcome = await applyConfiguration(ctx, { kinds, isDryRun, digest });
      return dataResponse(outcomeJson(outcome, !isDryRun));
    },
  }),
];

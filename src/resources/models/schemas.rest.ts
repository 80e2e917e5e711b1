// JSON schemas and responses that the routes of model hosting share.
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Page, PageQuery } from "../../query/page.ts";
import { readWithin } from "../../query/read-within.ts";
import {
  cursorParameter,
  dataResponse,
  itemsResponse,
  itemsSchema,
  pageQueryOf,
  pageResponse,
  pageSchema,
} from "../../rest/envelope.ts";
import { change, changed, metadataField, nameField, textField } from "../../rest/fields.ts";
import { type Parameter, type ParameterValues, pageSize } from "../../rest/parameters.ts";
import type { Route } from "../../rest/route.ts";
import type { DescriptionChange } from "./records.ts";
import type { Described } from "./schema.ts";

/** The options of all routes. */
export const common = { versions: ["0.6"], preview: true } as const;
export const read = { ...common, capability: ["modelHostingAcl", "READ"] } as const;
export const write = { ...common, capability: ["modelHostingAcl", "WRITE"] } as const;

/** The same routes, refused while the server runs no code. */
export const enabledWhen = (routes: readonly Route[]): Route[] =>
  routes.map((one) => ({
    ...one,
    handle: async (ctx, request) => {
      const { refusal } = ctx.models;
      if (refusal) throw fail("models-unavailable", { why: refusal });
      return one.handle(ctx, request);
    },
  }));

export const orNull = <Value extends TSchema>(value: Value) => Type.Union([value, Type.Null()]);
const optional = <Value extends TSchema>(value: Value) => Type.Optional(orNull(value));

/** A JSON object of the caller's choice; only the model code reads it. */
export const jsonObject = (description: string) =>
  bounded(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      ...{ type: "object", description },
      additionalProperties: true,
    }),
  );

/** Any JSON of the caller's choice. */
export const anyJson = (description: string) => bounded(Type.Unsafe<unknown>({ description }));

const bounded = <Value extends TSchema>(value: Value) =>
  Type.Refine(
    value,
    (sent) => JSON.stringify(sent).length <= limits.modelJsonLengthMax,
    () => `has at most ${limits.modelJsonLengthMax} characters as JSON`,
  );

/** Clients send `null` for absent members, so bodies keep nulls and each member may be null. */
export const newDescribed = {
  name: nameField("The name, which need not be unique"),
  description: optional(textField("The description")),
  metadata: optional(metadataField("Key-value pairs of the caller's choice")),
};

export interface DescribedInput {
  readonly name: string;
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>> | null;
}

export const describedOf = ({ name, description, metadata }: DescribedInput) => ({
  name,
  ...(typeof description === "string" && { description }),
  metadata: metadata ?? {},
});

export const describedMembers = {
  id: Type.Integer(),
  name: Type.String(),
  description: orNull(Type.String()),
  createdTime: Type.Integer(),
  metadata: Type.Record(Type.String(), Type.String()),
  isDeprecated: Type.Boolean(),
};

export const projectMember = { project: Type.String() };

export const describedJson = ({ id, name, description, createdTime, metadata, isDeprecated }: Described) => ({
  ...{ id, name, description: description ?? null, createdTime, metadata, isDeprecated },
});

export const describedChange = {
  description: change(textField("The description")),
  metadata: change(metadataField("Key-value pairs, which replace all existing ones")),
};

export const descriptionChangeOf = (sent: Static<ReturnType<typeof asObject>>): DescriptionChange => ({
  description: changed(sent.description),
  metadata: changed(sent.metadata),
});

const asObject = () => Type.Object(describedChange);

export const body = <Schema extends TSchema>(schema: Schema) =>
  ({ kind: "json", bytesMax: limits.modelBodyBytesMax, schema, nulls: "kept" }) as const;

/** `{}`, the body of operations without input. */
export const nothing = body(Type.Object({}));

const pageParameters = {
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.modelsListDefault, max: limits.listItemsMax }),
};

/**
 * One record in two forms for published clients: those of 2019-03 read `data.items`, older ones the members
 * beside `data` (docs/reference/models.md#responses-of-model-hosting).
 */
export const recordResponse = <Row extends object>(row: Row) => ({ ...itemsResponse([row]), ...row });
export const recordSchema = (item: TObject) =>
  Type.Object({ ...itemsSchema(item).properties, ...item.properties });

/** Like `recordResponse`, for members that are not a record. */
export const membersResponse = <Data extends object>(data: Data) => ({ ...dataResponse(data), ...data });
export const membersSchema = (members: TObject) => Type.Object({ data: members, ...members.properties });

/** A page. Older clients read items and cursor beside `data`. */
const pageResponseSchema = (item: TSchema) =>
  Type.Object({
    ...pageSchema(item).properties,
    items: Type.Array(item),
    nextCursor: Type.Optional(Type.String()),
  });

type Path = Readonly<Record<string, Parameter<unknown>>>;

interface Listing<Row, PathParameters extends Path> {
  readonly path: string;
  readonly summary: string;
  readonly parameters: PathParameters;
  readonly item: TSchema;
  readonly list: (
    ctx: RequestContext,
    page: PageQuery,
    path: ParameterValues<PathParameters>,
  ) => Promise<Page<Row>>;
  readonly toJson: (row: Row, ctx: RequestContext) => unknown;
}

/** The route that lists records. */
export const listing = <Row, PathParameters extends Path>(given: Listing<Row, PathParameters>): Route => ({
  ...read,
  method: "GET",
  path: given.path,
  summary: given.summary,
  parameters: given.parameters,
  query: pageParameters,
  response: () => ({ schema: pageResponseSchema(given.item) }),
  handle: async (ctx, request) => {
    const path = request.path as ParameterValues<PathParameters>;
    const query = request.query as ParameterValues<typeof pageParameters>;
    const collection = [given.path, ctx.projectId, path];
    const pageQuery = pageQueryOf(ctx, collection, query);
    const found = await readWithin(ctx.memory, (bound) => given.list(ctx, { ...pageQuery, bound }, path));
    const { data } = pageResponse(ctx, collection, { pageQuery, page: found }, (row) =>
      given.toJson(row, ctx),
    );
    const { items, nextCursor } = data;
    return { data, items, ...(nextCursor !== undefined && { nextCursor }) };
  },
});

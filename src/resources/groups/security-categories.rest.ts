// Security categories over REST (docs/reference/groups-and-accounts.md#security-categories).
import { Type } from "typebox";
import { limits } from "../../limits.ts";
import type { PageQuery } from "../../query/page.ts";
import {
  cursorParameter,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
} from "../../rest/envelope.ts";
import { idsBody, itemsBody, nameField } from "../../rest/fields.ts";
import { id, oneOfWords, pageSize } from "../../rest/parameters.ts";
import { apiVersions, type Route, route } from "../../rest/route.ts";
import {
  createCategories,
  deleteCategories,
  getCategory,
  listCategories,
  type SecurityCategory,
} from "./security-categories.ts";

const common = { versions: apiVersions } as const;

const categorySchema = Type.Object(
  { id: Type.Integer(), name: Type.String() },
  { title: "SecurityCategory" },
);

const newCategory = Type.Object(
  { name: nameField("The name, unique in the project") },
  { title: "NewSecurityCategory" },
);

const listQuery = {
  sort: oneOfWords("Oldest first (ASC, the default) or newest first", ["ASC", "DESC"]),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.categoriesListDefault, max: limits.categoriesPerPageMax }),
};

export const securityCategoryRoutes: readonly Route[] = [
  route({
    ...common,
    capability: ["securityCategoriesAcl", "CREATE"],
    method: "POST",
    path: "/securitycategories",
    summary: "Create security categories; repeated names create one category",
    body: { kind: "json", schema: itemsBody(newCategory, { min: 1 }) },
    response: () => ({ schema: itemsSchema(categorySchema) }),
    created: ["0.6"],
    handle: async (ctx, { body }) => {
      const names = body.items.map(({ name }) => name);
      return itemsResponse((await createCategories(ctx, names)).map(categoryOf));
    },
  }),
  route({
    ...common,
    capability: ["securityCategoriesAcl", "LIST"],
    method: "GET",
    path: "/securitycategories",
    summary: "List security categories, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(categorySchema) }),
    handle: (ctx, { query: { sort, ...place } }) => {
      const direction = sort === "DESC" ? "descending" : "ascending";
      const collection = ["securitycategories", ctx.projectId, direction];
      const read = (page: PageQuery) => listCategories(ctx, { direction, page });
      return listResponse(ctx, { ...place, collection }, read, categoryOf);
    },
  }),
  route({
    ...common,
    capability: ["securityCategoriesAcl", "LIST"],
    method: "GET",
    path: "/securitycategories/{categoryId}",
    summary: "Read a security category",
    parameters: { categoryId: id("The security category") },
    response: () => ({ schema: itemsSchema(categorySchema) }),
    handle: async (ctx, { path }) => itemsResponse([categoryOf(await getCategory(ctx, path.categoryId))]),
  }),
  route({
    ...common,
    capability: ["securityCategoriesAcl", "DELETE"],
    method: "POST",
    path: "/securitycategories/delete",
    summary: "Delete security categories; their time series stay visible only to members of all categories",
    body: idsBody("Which one"),
    response: () => ({ schema: emptySchema }),
    handle: async (ctx, { body }) => {
      await deleteCategories(ctx, body.items);
      return emptyResponse;
    },
  }),
];

const categoryOf = ({ id, name }: SecurityCategory) => ({ id, name });

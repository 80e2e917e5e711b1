// Derives `DELETE /things/{id}` from each `POST /things/delete` (docs/reference/common.md#ids).
import type { TSchema } from "typebox";
import type { RequestContext } from "../context.ts";
import { Failure, fail } from "../errors.ts";
import { id, type Parameter } from "./parameters.ts";
import type { Route, RouteRequest } from "./route.ts";

/** Adds a route that deletes one record for each route that deletes many, unless it exists. */
export const withSingleDeletes = (routes: readonly Route[]): Route[] => [
  ...routes,
  ...routes.flatMap((many) => singleDeleteOf(many, routes) ?? []),
];

function singleDeleteOf(many: Route, routes: readonly Route[]): Route | undefined {
  if (many.method !== "POST" || !many.path.endsWith("/delete")) return undefined;
  const base = many.path.slice(0, -"/delete".length);
  const siblings = routes.filter(({ path }) => isOneOf(base, path));
  const [name, parameter] = parameterOf(siblings);
  const existing = siblings.filter(({ method }) => method === "DELETE").flatMap(({ versions }) => versions);
  const versions = many.versions.filter((version) => !existing.includes(version));
  if (versions.length === 0) return undefined;
  const { body: _, ...shared } = many;
  return {
    ...shared,
    ...{ method: "DELETE", versions, path: `${base}/{${name}}` },
    summary: `${many.summary.replace(/;.*$/, "")}: one of them`,
    parameters: { ...many.parameters, [name]: parameter },
    handle: (ctx, request) => deleteOne(ctx, { many, name, request }),
  };
}

const isOneOf = (base: string, path: string): boolean =>
  path.startsWith(`${base}/{`) && path.endsWith("}") && !path.slice(base.length + 1).includes("/");

/** The parameter of the other routes for one record. */
function parameterOf(siblings: readonly Route[]): readonly [string, Parameter<unknown>] {
  const [sibling] = siblings.filter(({ method }) => method === "GET");
  if (!sibling) return ["id", id("Which one")];
  const name = sibling.path.slice(sibling.path.lastIndexOf("{") + 1, -1);
  return [name, sibling.parameters[name]!];
}

interface SingleDelete {
  readonly many: Route;
  readonly name: string;
  readonly request: RouteRequest<
    Record<string, Parameter<unknown>>,
    Record<string, Parameter<unknown>>,
    unknown
  >;
}

/** Refuses an unknown record with 404, because the path names it. */
async function deleteOne(ctx: RequestContext, { many, name, request }: SingleDelete) {
  const named = (request.path as Readonly<Record<string, unknown>>)[name];
  try {
    return await many.handle(ctx, { ...request, body: { items: [itemOf(many, named)] } });
  } catch (problem) {
    if (!(problem instanceof Failure && problem.failure === "ids-unknown")) throw problem;
    throw fail("ids-unknown", { field: name, ids: [Number(named)], status: 404 });
  }
}

/** The item of a body that names a record: its id, or an object with one member. */
function itemOf({ body }: Route, named: unknown): unknown {
  const { properties } = (body!.schema as unknown as ItemsSchema).properties.items.items;
  const [member] = Object.keys(properties ?? {});
  return member === undefined ? named : { [member]: named };
}

interface ItemsSchema {
  readonly properties: {
    readonly items: { readonly items: { readonly properties?: Readonly<Record<string, TSchema>> } };
  };
}

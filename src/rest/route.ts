// Routes as data: what a route table says, and what a handler is given. From the tables come registration,
// validation, the rights check, OpenAPI, and a test that fails for a route without capability or schema.
import type { Readable } from "node:stream";
import type { Static, TSchema } from "typebox";
import type { Authenticator, RequestSource } from "../access/authenticator.ts";
import type { BrowserLogin } from "../access/browser-login.ts";
import type { Acl, Action } from "../access/capabilities.ts";
import type { RequestContext, Services } from "../context.ts";
import type { Failure } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Parameter, ParameterValues } from "./parameters.ts";

export const apiVersions = ["0.4", "0.5", "0.6"] as const;
export type ApiVersion = (typeof apiVersions)[number];

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Of a request, by their names in lower case. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/**
 * A body read as JSON whatever its Content-Type says, and checked against `schema` before the handler runs.
 */
export interface JsonBody<Schema extends TSchema> {
  readonly kind: "json";
  /** As sent and inflated; `limits.bodyBytesMax` when absent. */
  readonly bytesMax?: number;
  readonly schema: Schema;
  /** Members that are `null` count as absent, unless a route has a meaning for them. */
  readonly nulls?: "absent" | "kept";
  /**
   * Of a PATCH: `schema` documents that each member is a change or plainly its new value. Plain values become
   * changes, and these are checked against this schema.
   */
  readonly changes?: TSchema;
}

/** What the reading of a large body needs beside its bytes. */
export interface BodyWork {
  /** Aborted when the client has gone or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Reserves so much memory for what is made of the body; a promise when that has to wait. */
  readonly reserve: (bytes: number) => Promise<void> | undefined;
}

/** A body that the route reads from its bytes, inflated. `schema` documents its JSON form. */
export interface BytesBody<Read> {
  readonly kind: "bytes";
  /** As of a `JsonBody`. */
  readonly bytesMax?: number;
  readonly schema: TSchema;
  /** Reads it whole: the memory of the bytes is used again as soon as this resolves. */
  readonly read: (
    bytes: Buffer,
    sent: {
      readonly ctx: RequestContext;
      readonly path: Readonly<Record<string, unknown>>;
      readonly headers: Headers;
      readonly work: BodyWork;
    },
  ) => Promise<Read>;
  /** Documented instead of JSON. */
  readonly contentType?: string;
}

/** An answer that is not one JSON value made in memory: the handler's own bytes, streamed. */
export interface StreamResponse {
  readonly contentType: string;
  readonly stream: Readable;
  /** As of BytesAnswer. */
  readonly nextCursor?: string;
  /** Called when all is sent or given up: from then on nobody uses the bytes. */
  readonly release?: () => void;
}

/** As StreamAnswer, from memory. */
export interface BytesResponse {
  readonly contentType: string;
  readonly bytes: Uint8Array | string;
  /**
   * Where to go on, for content that has no place for it: the header `X-Next-Cursor`, and `Link` when the
   * route takes `cursor` in its query.
   */
  readonly nextCursor?: string;
  readonly release?: () => void;
}

export type RouteResponse = object | StreamResponse | BytesResponse;

/** What one request asks. `version` is that of its path; a handler shapes its answer by it. */
export interface RouteRequest<Path extends Parameters, Query extends Parameters, Body> {
  readonly version: ApiVersion;
  readonly path: ParameterValues<Path>;
  readonly query: ParameterValues<Query>;
  readonly body: Body;
  readonly headers: Headers;
}

/** What a route's answer looks like: a JSON shape, or other content types beside it. */
export interface ResponseSchema {
  readonly schema: TSchema;
  readonly otherContentTypes?: readonly string[];
  /** While there is more, the header `Link` has the address of the rest. */
  readonly hasNextLink?: boolean;
}

export interface Route {
  readonly method: Method;
  /**
   * Below `/api/{version}/projects/{project}`, parameters in braces: `/assets/{assetId}`; "" is the project.
   */
  readonly path: string;
  readonly versions: readonly ApiVersion[];
  readonly summary: string;
  /** Marked in OpenAPI as an area that may change. */
  readonly preview?: boolean;
  /** "member": any caller of the project. */
  readonly capability: readonly [Acl, Action] | "member";
  readonly parameters: Parameters;
  /** The last parameter takes all of the path that is left, slashes as well. */
  readonly takesRest?: boolean;
  readonly query: Parameters;
  readonly body?: JsonBody<TSchema> | BytesBody<unknown>;
  readonly response: (version: ApiVersion) => ResponseSchema;
  /** The versions in which it answers 201 (docs/reference/common.md#status-codes). */
  readonly created?: readonly ApiVersion[];
  /** The member of a created item that its own path ends with; `id` when absent. */
  readonly createdName?: string;
  readonly handle: (
    ctx: RequestContext,
    question: RouteRequest<Parameters, Parameters, unknown>,
  ) => Promise<RouteResponse>;
}

/** The bytes of a body that a route takes. Bodies of routes that have none are read and not used. */
export const bodyBytesMax = (body: Route["body"]): number =>
  body ? (body.bytesMax ?? limits.bodyBytesMax) : limits.openBodyBytesMax;

/** `/api/0.5/projects/{project}/assets/{assetId}`: the whole path of a route in one version. */
export const pathOf = (route: Route, version: ApiVersion) =>
  `/api/${version}/projects/{project}${route.path}`;

/** What an operation does to the stores: a full disk refuses writes, and takes reads and deletes. */
export type Effect = "read" | "write" | "delete";

export function effectOf({
  method,
  path,
  capability,
}: Pick<Route, "method" | "path" | "capability">): Effect {
  if (method === "DELETE" || /\/(delete|remove)$/.test(path)) return "delete";
  const action = capability === "member" ? "READ" : capability[1];
  return method === "GET" || action === "READ" || action === "LIST" ? "read" : "write";
}

type BodyOf<Body> =
  Body extends JsonBody<infer Schema>
    ? Static<Schema>
    : Body extends BytesBody<infer Read>
      ? Read
      : undefined;

type RouteDeclaration<Path extends Parameters, Query extends Parameters, Body> = Omit<
  Route,
  "parameters" | "query" | "body" | "handle"
> & {
  readonly parameters?: Path;
  readonly query?: Query;
  readonly body?: Body;
  readonly handle: (
    ctx: RequestContext,
    question: RouteRequest<Path, Query, BodyOf<Body>>,
  ) => Promise<RouteResponse>;
};

const noParameters = {};

/** Writes down a route; its handler's types follow from the parameters and the body it declares. */
export function route<
  Path extends Parameters = typeof noParameters,
  Query extends Parameters = typeof noParameters,
  Body extends JsonBody<TSchema> | BytesBody<unknown> | undefined = undefined,
>(given: RouteDeclaration<Path, Query, Body>): Route {
  return { parameters: noParameters, query: noParameters, ...given } as unknown as Route;
}

/** An operation outside any project and version, open to everyone: login, and what operators watch. */
export interface OpenRoute {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly query: Parameters;
  readonly body?: JsonBody<TSchema>;
  /** "redirect": 303 to another address. */
  readonly response: ResponseSchema | "redirect";
  readonly handle: (
    doors: Authenticators,
    question: OpenRequest<Parameters, unknown>,
  ) => Promise<RouteResponse | BrowserResponse>;
}

/** By what people come in. */
export interface Authenticators {
  readonly authenticator: Authenticator;
  readonly browserLogin: BrowserLogin;
}

export interface OpenRequest<Query extends Parameters, Body> {
  readonly query: ParameterValues<Query>;
  readonly body: Body;
  readonly sender: RequestSource;
  /** The query as it was sent, with its question mark. */
  readonly search: string;
  /** The address by which clients reach the server, without a slash at its end. */
  readonly baseUrl: string;
}

/** An answer that leaves cookies with a browser, and may send it elsewhere. */
export interface BrowserResponse {
  readonly cookies: readonly string[];
  /** One of these. */
  readonly location?: string;
  readonly json?: object;
}

type OpenRouteDeclaration<Query extends Parameters, Body> = Omit<OpenRoute, "query" | "body" | "handle"> & {
  readonly query?: Query;
  readonly body?: Body;
  readonly handle: (
    doors: Authenticators,
    question: OpenRequest<Query, BodyOf<Body>>,
  ) => Promise<RouteResponse | BrowserResponse>;
};

/** As `route`, for an operation outside any project. */
export function openRoute<
  Query extends Parameters = typeof noParameters,
  Body extends JsonBody<TSchema> | undefined = undefined,
>(given: OpenRouteDeclaration<Query, Body>): OpenRoute {
  return { query: noParameters, ...given } as unknown as OpenRoute;
}

/**
 * An operation that a signed link permits: outside any project, without credentials, its bytes streamed in
 * and out however many they are.
 */
export interface LinkRoute {
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly summary: string;
  readonly parameters: Parameters;
  /** What each status of success means; refusals are the catalogue's. */
  readonly responses: Readonly<Record<number, string>>;
  readonly handle: (services: Services, question: LinkRequest<Parameters>) => Promise<LinkResponse>;
}

export interface LinkRequest<Path extends Parameters> {
  readonly path: ParameterValues<Path>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Only the headers of the answer are wanted. */
  readonly isHead: boolean;
  /** The body as it comes, no faster than it is read. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface LinkResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** One of these, or none. */
  readonly stream?: Readable;
  readonly json?: object;
  readonly refusal?: Failure;
}

type LinkRouteDeclaration<Path extends Parameters> = Omit<LinkRoute, "parameters" | "handle"> & {
  readonly parameters: Path;
  readonly handle: (services: Services, question: LinkRequest<Path>) => Promise<LinkResponse>;
};

/** As `route`, for an operation that a link permits. */
export function linkRoute<Path extends Parameters>(given: LinkRouteDeclaration<Path>): LinkRoute {
  return given as unknown as LinkRoute;
}

// The types of route tables: declarations, and the requests and responses of handlers. Registration,
// validation, the rights check, OpenAPI and the tests of all routes derive from the tables.
import type { Readable } from "node:stream";
import type { Static, TSchema } from "typebox";
import type { Authenticator, RequestSource } from "../access/authenticator.ts";
import type { BrowserLogin } from "../access/browser-login.ts";
import type { Caller } from "../access/caller.ts";
import type { Acl, Action } from "../access/capabilities.ts";
import type { ProgramTokens } from "../access/program-tokens.ts";
import type { Sessions } from "../access/sessions.ts";
import type { RequestContext, Services } from "../context.ts";
import type { Failure } from "../errors.ts";
import type { NotCovered } from "../lib/not-covered.ts";
import { limits } from "../limits.ts";
import type { Parameter, ParameterValues } from "./parameters.ts";

export const apiVersions = ["0.4", "0.5", "0.6"] as const;
export type ApiVersion = (typeof apiVersions)[number];

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The headers of a request by lower-case name. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/**
 * A body that is parsed as JSON, with any Content-Type, and checked against `schema` before the handler runs.
 */
export interface JsonBody<Schema extends TSchema> {
  readonly kind: "json";
  /** Before and after inflation; `limits.bodyBytesMax` when absent. */
  readonly bytesMax?: number;
  readonly schema: Schema;
  /** By default, members that are `null` count as absent. */
  readonly nulls?: "absent" | "kept";
  /** Objects at this path are decoded as a `JsonText`, exactly as sent, instead of values. */
  readonly keptText?: readonly string[];
  /**
   * For PATCH: in `schema` each member is a change or the new value. Values become changes, and these are
   * checked against `changes`.
   */
  readonly changes?: TSchema;
}

/** The abort signal and the memory of reading a large body. */
export interface BodyWork {
  /** Aborted when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal;
  /** Sets the memory reserved for the decoded values; returns a promise if it must wait. */
  readonly reserve: (bytes: number) => Promise<void> | undefined;
}

/** A body that the route decodes itself. `schema` documents its JSON form. */
export interface BytesBody<Read> {
  readonly kind: "bytes";
  /** As in `JsonBody`. */
  readonly bytesMax?: number;
  readonly schema: TSchema;
  /** Decodes all of it: the memory of the bytes is reused when the promise resolves. */
  readonly read: (
    bytes: Buffer,
    input: {
      readonly ctx: RequestContext;
      readonly path: Readonly<Record<string, unknown>>;
      readonly headers: Headers;
      readonly work: BodyWork;
    },
  ) => Promise<Read>;
  /** Replaces JSON in the OpenAPI document. */
  readonly contentType?: string;
}

/** A response whose bytes the handler streams. */
export interface StreamResponse {
  readonly contentType: string;
  readonly stream: Readable;
  /** As in `BytesResponse`. */
  readonly nextCursor?: string;
  /** Called after the last use of the bytes, when the response is sent or aborted. */
  readonly release?: () => void;
}

/** A response whose bytes are in memory. */
export interface BytesResponse {
  readonly contentType: string;
  readonly bytes: Uint8Array | string;
  /**
   * The cursor of the next page, for content without a cursor member. It is sent as the header
   * `X-Next-Cursor`, and in `Link` if the route has a query parameter `cursor`.
   */
  readonly nextCursor?: string;
  readonly release?: () => void;
}

export type RouteResponse = object | StreamResponse | BytesResponse;

/** The decoded request. `version` is the API version of its path, which the response must follow. */
export interface RouteRequest<Path extends Parameters, Query extends Parameters, Body> {
  readonly version: ApiVersion;
  readonly path: ParameterValues<Path>;
  readonly query: ParameterValues<Query>;
  readonly body: Body;
  readonly headers: Headers;
}

/** The JSON schema of a route's responses, and their other content types. */
export interface ResponseSchema {
  readonly schema: TSchema;
  readonly otherContentTypes?: readonly string[];
  /** An incomplete response has the address of the next page in the header `Link`. */
  readonly hasNextLink?: boolean;
}

export interface Route {
  readonly method: Method;
  /**
   * Below `/api/{version}/projects/{project}`, with parameters in braces: `/assets/{assetId}`; "" is the
   * project.
   */
  readonly path: string;
  readonly versions: readonly ApiVersion[];
  readonly summary: string;
  /** Marked in OpenAPI as a preview that may change. */
  readonly preview?: boolean;
  /** "member": any caller of the project. */
  readonly capability: readonly [Acl, Action] | "member";
  /** Where method, path and capability do not tell it. */
  readonly effect?: Effect;
  readonly parameters: Parameters;
  /** The last parameter takes the rest of the path, slashes included. */
  readonly takesRest?: boolean;
  readonly query: Parameters;
  readonly body?: JsonBody<TSchema> | BytesBody<unknown>;
  readonly response: (version: ApiVersion) => ResponseSchema;
  /** The versions in which it returns 201 (docs/reference/common.md#status-codes). */
  readonly created?: readonly ApiVersion[];
  /** The member that ends the path of a created item; `id` when absent. */
  readonly createdName?: string;
  readonly handle: (
    ctx: RequestContext,
    request: RouteRequest<Parameters, Parameters, unknown>,
  ) => Promise<RouteResponse>;
}

/** The size limit of a route's body. Routes without a body read and ignore it. */
export const bodyBytesMax = (body: Route["body"]): number =>
  body ? (body.bytesMax ?? limits.bodyBytesMax) : limits.openBodyBytesMax;

/** `/api/0.5/projects/{project}/assets/{assetId}`: the whole path of a route in one version. */
export const pathOf = (route: Route, version: ApiVersion) =>
  `/api/${version}/projects/{project}${route.path}`;

/** The effect of an operation on the stores. A full disk accepts reads and deletes only. */
export type Effect = "read" | "write" | "delete";

export function effectOf({
  method,
  path,
  capability,
  effect,
}: Pick<Route, "method" | "path" | "capability" | "effect">): Effect {
  if (effect) return effect;
  if (method === "DELETE" || /\/(delete|remove)$/.test(path)) return "delete";
  const action = capability === "member" ? "READ" : capability[1];
  return method === "GET" || action === "READ" || action === "LIST" ? "read" : "write";
}

/** Whether an operation changes nothing and runs no code. Predictions (PUT) run the code of a model. */
export const isQuery = (route: Route): boolean => effectOf(route) === "read" && route.method !== "PUT";

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
    request: RouteRequest<Path, Query, BodyOf<Body>>,
  ) => Promise<RouteResponse>;
};

const noParameters = {};

/** Declares a route; the types of its handler derive from its parameters and body. */
export function route<
  Path extends Parameters = typeof noParameters,
  Query extends Parameters = typeof noParameters,
  Body extends JsonBody<TSchema> | BytesBody<unknown> | undefined = undefined,
>(declaration: RouteDeclaration<Path, Query, Body>): Route {
  return { parameters: noParameters, query: noParameters, ...declaration } as unknown as Route;
}

/** An operation outside projects and versions that needs no credentials, such as the login. */
export interface OpenRoute {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly query: Parameters;
  readonly body?: JsonBody<TSchema>;
  /** Whether the audit log records it, and why not. */
  readonly audit: "sign-in" | NotCovered;
  /** "redirect": 303 to another address; "empty": 204. */
  readonly response: ResponseSchema | "redirect" | "empty";
  readonly handle: (
    authenticators: Authenticators,
    request: OpenRequest<Parameters, unknown>,
  ) => Promise<RouteResponse | BrowserResponse>;
}

/** The services that authenticate callers. */
export interface Authenticators {
  readonly authenticator: Authenticator;
  readonly browserLogin: BrowserLogin;
  readonly programTokens: ProgramTokens;
  readonly sessions: Sessions;
  /** The URL name of the project that the console shows. */
  readonly consoleProject: string;
}

/** Who has signed in, or why a sign-in is refused, for the audit log. */
export interface SignInRecord {
  known(caller: Pick<Caller, "user" | "userId" | "projectId" | "credential">): void;
  /** For a refusal that is no error response. */
  refused(failure: Failure): void;
}

export interface OpenRequest<Query extends Parameters, Body> {
  readonly audit: SignInRecord;
  readonly query: ParameterValues<Query>;
  readonly body: Body;
  readonly sender: RequestSource;
  /** The undecoded query, with its `?`. */
  readonly search: string;
  /** The address of the server for clients, without a slash at its end. */
  readonly baseUrl: string;
}

/** A response that sets cookies in a browser, and may redirect it. */
export interface BrowserResponse {
  readonly cookies: readonly string[];
  /** Either `location` or `json`, or neither: 204. */
  readonly location?: string;
  readonly json?: object;
}

type OpenRouteDeclaration<Query extends Parameters, Body> = Omit<OpenRoute, "query" | "body" | "handle"> & {
  readonly query?: Query;
  readonly body?: Body;
  readonly handle: (
    authenticators: Authenticators,
    request: OpenRequest<Query, BodyOf<Body>>,
  ) => Promise<RouteResponse | BrowserResponse>;
};

/** As `route`, for an operation outside any project. */
export function openRoute<
  Query extends Parameters = typeof noParameters,
  Body extends JsonBody<TSchema> | undefined = undefined,
>(declaration: OpenRouteDeclaration<Query, Body>): OpenRoute {
  return { query: noParameters, ...declaration } as unknown as OpenRoute;
}

/**
 * An operation that a signed link permits: outside projects, without credentials. It streams any number of
 * bytes in and out.
 */
export interface LinkRoute {
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly summary: string;
  readonly parameters: Parameters;
  /** Describes each status of success; refusals are in the catalogue. */
  readonly responses: Readonly<Record<number, string>>;
  readonly handle: (services: Services, request: LinkRequest<Parameters>) => Promise<LinkResponse>;
}

export interface LinkRequest<Path extends Parameters> {
  readonly path: ParameterValues<Path>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** A HEAD request: the response has no body. */
  readonly isHead: boolean;
  /** The body as a stream with backpressure. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface LinkResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** At most one of `stream`, `json` and `refusal`. */
  readonly stream?: Readable;
  readonly json?: object;
  readonly refusal?: Failure;
}

type LinkRouteDeclaration<Path extends Parameters> = Omit<LinkRoute, "parameters" | "handle"> & {
  readonly parameters: Path;
  readonly handle: (services: Services, request: LinkRequest<Path>) => Promise<LinkResponse>;
};

/** As `route`, for an operation that a link permits. */
export function linkRoute<Path extends Parameters>(declaration: LinkRouteDeclaration<Path>): LinkRoute {
  return declaration as unknown as LinkRoute;
}

// Generates the OpenAPI 3.1 description of one version from the route tables.
import type { TSchema } from "typebox";
import { invariant } from "../lib/invariant.ts";
import { parseJson } from "../lib/json.ts";
import type { Parameter } from "./parameters.ts";
import {
  type ApiVersion,
  bodyBytesMax,
  isQuery,
  type LinkRoute,
  type Method,
  type OpenRoute,
  type Parameters,
  pathOf,
  type ResponseSchema,
  type Route,
} from "./route.ts";

type Json = Readonly<Record<string, unknown>>;

const errorStatuses: Readonly<Record<string, string>> = {
  400: "The request is malformed or breaks a rule; the message names the field",
  401: "No valid credentials",
  403: "Not allowed, or a project that is unknown or another's",
  404: "Something that the request names does not exist",
  405: "The path exists, but not for this method",
  409: "The request conflicts with stored data",
  413: "The body is too large, as sent or inflated",
  415: "The body is compressed in another way than gzip",
  429: "Too many attempts from this address, or with these credentials; see `Retry-After`",
  500: "A fault of the server",
  502: "A login failed between the server and the identity provider",
  503: "The deadline of the request passed, or the identity provider does not respond",
};

const errorSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "integer", description: "The status of the response" },
        message: { type: "string" },
        extra: { type: "object", additionalProperties: true },
        notFound: { type: "array", items: { type: ["integer", "string"] } },
        missingFields: { type: "array", items: { type: "string" } },
        position: { type: "integer", description: "The character of the error in an expression, from 1" },
        document: {
          type: "object",
          properties: { kind: { type: "string" }, name: { type: "string" } },
          description: "The document of a configuration that is refused",
        },
        duplicates: { type: "array", items: { type: "object", additionalProperties: true } },
      },
    },
  },
};

const securitySchemes = {
  apiKey: { type: "apiKey", in: "header", name: "api-key" },
  token: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "From the project's identity provider, or from a login in a browser",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "millrace_session",
    description:
      "Set by a login in a browser and by `POST /session`. Its name ends with the port of the server's " +
      "address unless that is 80 or 443, as in `millrace_session_8787`. Under https it begins with " +
      "`__Host-`, below a base path with `__Secure-`",
  },
};

const description =
  "Operations marked `x-preview` are in preview: they may change. Those marked `x-read-only` change " +
  "nothing and run no code of users. With the header `X-See-As-Group` (ids of groups, separated by commas) " +
  "an administrator reads what a member of these groups alone can read.";

/** The whole description of `version`; deterministic, so that it can be cached and compared. */
export function openApiOf(
  version: ApiVersion,
  routes: readonly Route[],
  openRoutes: readonly OpenRoute[],
  linkRoutes: readonly LinkRoute[],
): Json {
  const schemas = new NamedSchemas();
  const paths: Record<string, Record<string, Json>> = {};
  const add = (path: string, method: Method, operation: Json) => {
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = operation;
  };
  for (const route of routes)
    if (route.versions.includes(version))
      add(pathOf(route, version), route.method, operationOf(route, version, schemas));
  for (const route of openRoutes) add(route.path, route.method, openOperationOf(route, schemas));
  for (const route of linkRoutes) add(route.path, route.method, linkOperationOf(route));
  return {
    openapi: "3.1.0",
    info: {
      title: `Millrace API ${version}`,
      version,
      description,
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }, { token: [] }, { session: [] }],
    paths: sorted(paths),
    components: {
      securitySchemes,
      schemas: sorted({ ...schemas.all, Error: errorSchema }),
      responses: Object.fromEntries(
        Object.entries(errorStatuses).map(([status, description]) => [
          `Error${status}`,
          {
            description,
            headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" } },
            content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
          },
        ]),
      ),
      parameters: {
        Project: {
          name: "project",
          in: "path",
          required: true,
          description: "URL name of the project",
          schema: { type: "string" },
        },
      },
      headers: {
        RequestId: { description: "The id of this request in the server's log", schema: { type: "string" } },
        NextLink: {
          description: 'If there is a next page: `<address>; rel="next"`. Send it the same method and body.',
          schema: { type: "string" },
        },
      },
    },
  };
}

function operationOf(route: Route, version: ApiVersion, schemas: NamedSchemas): Json {
  const success = route.created?.includes(version) ? "201" : "200";
  const capability = route.capability === "member" ? "any key of the project" : route.capability.join(" ");
  return {
    operationId: operationIdOf(route.method, route.path),
    tags: [route.path.split("/")[1] || "project"],
    summary: route.summary,
    description: [
      ...(route.preview ? ["**Preview**: may change, not recommended for production."] : []),
      `Needs ${capability}.`,
    ].join(" "),
    ...(route.preview && { "x-preview": true }),
    ...(isQuery(route) && { "x-read-only": true }),
    parameters: [
      { $ref: "#/components/parameters/Project" },
      ...parametersIn("path", route.parameters),
      ...parametersIn("query", route.query),
    ],
    ...bodyOf(route.body, schemas),
    responses: { [success]: successOf(route.response(version), schemas), ...errorResponses() },
  };
}

function openOperationOf(route: OpenRoute, schemas: NamedSchemas): Json {
  return {
    operationId: operationIdOf(route.method, route.path),
    tags: [route.path.split("/")[1]!],
    summary: route.summary,
    description: "Open to everyone.",
    security: [],
    parameters: parametersIn("query", route.query),
    ...bodyOf(route.body, schemas),
    responses: {
      ...openSuccessOf(route.response, schemas),
      ...errorResponses(),
    },
  };
}

function openSuccessOf(response: OpenRoute["response"], schemas: NamedSchemas): Json {
  const headers = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };
  if (response === "empty") return { 204: { description: "Done", headers } };
  if (response !== "redirect") return { 200: successOf(response, schemas) };
  const location = { Location: { schema: { type: "string" } } };
  return { 303: { description: "Redirect to another address", headers: { ...headers, ...location } } };
}

function linkOperationOf(route: LinkRoute): Json {
  const anyBytes = { content: { "application/octet-stream": { schema: {} } } };
  const responses = Object.entries(route.responses).map(([status, description]) => [
    status,
    { description, headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" } }, ...anyBytes },
  ]);
  return {
    operationId: operationIdOf(route.method, route.path),
    tags: [route.path.split("/")[1]!],
    summary: route.summary,
    description: "Open to every holder of the link.",
    security: [],
    parameters: parametersIn("path", route.parameters),
    ...(route.method === "PUT" && { requestBody: { required: true, ...anyBytes } }),
    responses: { ...Object.fromEntries(responses), ...errorResponses() },
  };
}

/** `GET /assets/{assetId}/subtree` as `getAssetsByAssetIdSubtree`. */
const operationIdOf = (method: Method, path: string) =>
  method.toLowerCase() +
  (path === "" ? "/project" : path)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => `by${capital(name)}`)
    .split(/[/.-]/)
    .map(capital)
    .join("");

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const parametersIn = (location: "path" | "query", declared: Parameters): Json[] =>
  Object.entries(declared).map(([name, { schema, description, required }]: [string, Parameter<unknown>]) => ({
    name,
    in: location,
    required: location === "path" || required,
    description,
    schema: plain(schema),
  }));

function bodyOf(body: Route["body"], schemas: NamedSchemas): Json {
  if (!body) return {};
  return {
    requestBody: {
      description: `At most ${bodyBytesMax(body)} bytes, as sent and inflated`,
      required: true,
      content: { [contentTypeOf(body)]: { schema: schemas.hoisted(body.schema) } },
    },
  };
}

const contentTypeOf = (body: NonNullable<Route["body"]>): string =>
  (body.kind === "bytes" && body.contentType) || "application/json";

function successOf(shape: ResponseSchema, schemas: NamedSchemas): Json {
  return {
    description: "Done",
    headers: {
      "X-Request-Id": { $ref: "#/components/headers/RequestId" },
      ...(shape.hasNextLink && { Link: { $ref: "#/components/headers/NextLink" } }),
    },
    content: {
      "application/json": { schema: schemas.hoisted(shape.schema) },
      ...Object.fromEntries((shape.otherContentTypes ?? []).map((type) => [type, { schema: {} }])),
    },
  };
}

const errorResponses = (): Json =>
  Object.fromEntries(
    Object.keys(errorStatuses).map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
  );

/** Moves every schema with a `title` to the components and refers to it. */
class NamedSchemas {
  readonly all: Record<string, unknown> = {};

  hoisted(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.hoisted(item));
    if (typeof schema !== "object" || schema === null) return schema;
    const members = Object.entries(schema).map(([name, value]) => [name, this.hoisted(value)]);
    const copy: Record<string, unknown> = Object.fromEntries(members);
    const title = copy["title"];
    if (typeof title !== "string") return copy;
    const existing = this.all[title];
    invariant(
      existing === undefined || JSON.stringify(existing) === JSON.stringify(copy),
      `one schema is titled ${title}`,
    );
    this.all[title] = copy;
    return { $ref: `#/components/schemas/${title}` };
  }
}

const plain = (schema: TSchema): unknown => parseJson(JSON.stringify(schema));

const sorted = <Value>(members: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));

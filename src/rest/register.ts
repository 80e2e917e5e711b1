// From route tables to a serving instance: what every request goes through, in order, is `answerTo`.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { admit, callerOf } from "../access/authenticate.ts";
import type { Keyring } from "../access/keys.ts";
import type { Services } from "../context.ts";
import { readBody } from "../http/body.ts";
import { ByteBudget } from "../http/byte-budget.ts";
import { requestScope } from "../http/request-scope.ts";
import { limits } from "../limits.ts";
import { type BodyDecoder, jsonDecoder } from "./json.ts";
import { decodeParameters } from "./parameters.ts";
import type { Answer, ApiVersion, OpenRoute, Route } from "./route.ts";

/** What the kernel needs beside the routes. */
export interface Kernel {
  readonly services: Services;
  readonly keys: Keyring;
}

type Sent = Readonly<Record<string, string | string[] | undefined>>;

/** `/api/0.5/projects/{project}/assets/{assetId}`: the whole path of a route in one version. */
export const pathOf = (route: Route, version: ApiVersion) =>
  `/api/${version}/projects/{project}${route.path}`;

const patternOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** Adds every route in each of its versions. */
export function registerRoutes(http: FastifyInstance, kernel: Kernel, routes: readonly Route[]): void {
  const bodies = bodyBudget();
  for (const route of routes) {
    const decodeBody = bodyDecoderOf(route.body);
    for (const version of route.versions) {
      const success = route.created?.includes(version) ? 201 : 200;
      http.route({
        method: route.method,
        url: patternOf(pathOf(route, version)),
        handler: (request, reply) => answerTo(request, reply),
      });

      async function answerTo(request: FastifyRequest, reply: FastifyReply) {
        const sentPath = request.params as Sent;
        const caller = admit(
          await callerOf(kernel.keys, request.headers),
          sentPath["project"] as string,
          route.capability,
        );
        const path = decodeParameters(route.parameters, sentPath);
        const query = decodeParameters(route.query, request.query as Sent);
        let release = () => {};
        const scope = requestScope(reply.raw, () => release());
        const read = await readBody(request.raw, bodies, scope.signal);
        release = read.release;
        const body = decodeBody(read.bytes);
        const ctx = { ...kernel.services, caller, project: caller.projectId, signal: scope.signal };
        const question = { version, path, query, body, headers: request.headers };
        const answer = await scope.within(route.handle(ctx, question));
        reply.code(success);
        if (success === 201) reply.header("Location", locationOf(request, answer));
        return send(reply, answer);
      }
    }
  }
}

/** Adds operations that belong to no project and need no credentials. */
export function registerOpenRoutes(http: FastifyInstance, keys: Keyring, routes: readonly OpenRoute[]): void {
  const bodies = bodyBudget();
  for (const route of routes) {
    const decodeBody = bodyDecoderOf(route.body);
    http.route({
      method: route.method,
      url: route.path,
      handler: async (request, reply) => {
        const query = decodeParameters(route.query, request.query as Sent);
        let release = () => {};
        const scope = requestScope(reply.raw, () => release());
        const read = await readBody(request.raw, bodies, scope.signal);
        release = read.release;
        const body = decodeBody(read.bytes);
        const caller = await callerOf(keys, request.headers);
        return send(reply, await route.handle({ query, body, caller }));
      },
    });
  }
}

const bodyBudget = () => new ByteBudget(limits.bodiesInFlightBytesMax, limits.bodyBytesUncounted);

function bodyDecoderOf(body: Route["body"]): BodyDecoder {
  if (!body) return () => undefined;
  return body.kind === "bytes" ? (bytes) => bytes : jsonDecoder(body.schema, body.nulls);
}

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  if ("contentType" in answer)
    return reply.type(answer.contentType).send("stream" in answer ? answer.stream : answer.bytes);
  return reply.send(answer);
}

/** Where the record just made can be read (platform-api, Errors 2); of several the first. */
function locationOf(request: FastifyRequest, answer: Answer): string {
  const collection = request.url.split("?", 1)[0]!;
  const first = (answer as { data?: { items?: readonly { id?: number }[] } }).data?.items?.[0];
  return first?.id === undefined ? collection : `${collection}/${first.id}`;
}

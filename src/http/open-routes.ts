// Serves the routes that belong to no project and need no credentials, such as the login.
import type { FastifyInstance, FastifyReply } from "fastify";
import { limits } from "../limits.ts";
import { baseUrlOf } from "../rest/base-url.ts";
import { parametersDecoder } from "../rest/parameters.ts";
import type { Authenticators, BrowserResponse, OpenRoute } from "../rest/route.ts";
import type { AuditRule } from "./auditing.ts";
import { addEndpoint, type Kernel } from "./pipeline.ts";
import { restProtocol } from "./protocol.ts";
import type { RawParameters } from "./rest-routes.ts";
import { sendResponse } from "./send.ts";

export function addOpenRoutes(
  http: FastifyInstance,
  kernel: Kernel & Authenticators,
  routes: readonly OpenRoute[],
): void {
  for (const route of routes) addOpenRoute(http, kernel, route);
}

function addOpenRoute(http: FastifyInstance, kernel: Kernel & Authenticators, route: OpenRoute): void {
  const { authenticator, browserLogin, programTokens, sessions, consoleProject, services } = kernel;
  const authenticators = { authenticator, browserLogin, programTokens, sessions, consoleProject };
  const decodeQuery = parametersDecoder(route.query);
  const decodeBody = route.body ? kernel.decoders.of<never>(route.body) : async () => undefined;
  addEndpoint(http, kernel, {
    method: route.method,
    url: route.path,
    admit(request) {
      const source = restProtocol.sourceOf(request);
      return { source, client: source.address };
    },
    audit: ruleOfSignIn(route),
    effect: "read",
    decode: ({ query, url, headers }) => ({
      query: decodeQuery(query as RawParameters),
      search: URL.parse(url, "http://-")?.search ?? "",
      baseUrl: baseUrlOf(services, headers),
    }),
    readBody({ admitted }, receive) {
      if (route.body) authenticator.throttle.refuseAddress(admitted.source.address);
      return receive(limits.openBodyBytesMax, (bytes, work) => decodeBody(bytes, { work }));
    },
    handle: ({ admitted, input, audit }, body) =>
      route.handle(authenticators, { ...input, body, sender: admitted.source, audit }),
    send: ({ reply, lifetime }, response) =>
      "cookies" in response
        ? sendToBrowser(reply, response)
        : sendResponse(reply, response, { lifetime, sendBatch: kernel.sendBatch }),
  });
}

function ruleOfSignIn({ audit, method, path }: OpenRoute): AuditRule {
  if (audit !== "sign-in") return audit;
  return () => ({ kind: "sign-in", action: `${method} ${path}`, resource: "session" });
}

function sendToBrowser(reply: FastifyReply, { cookies, location, json }: BrowserResponse): FastifyReply {
  if (cookies.length > 0) reply.header("Set-Cookie", [...cookies]);
  if (location !== undefined) return reply.redirect(location, 303);
  return json ? reply.send(json) : reply.code(204).send();
}

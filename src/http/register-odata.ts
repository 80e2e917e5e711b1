// The entity-model interface among the routes: every path below its root goes to one handler, undecoded.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RequestSource } from "../access/authenticator.ts";
import { authorize } from "../access/authorize.ts";
import { fail } from "../errors.ts";
import { baseUrlOf } from "../lib/base-url.ts";
import { limits } from "../limits.ts";
import type { EntityModel } from "../odata/model.ts";
import { type ODataRequest, odataService } from "../odata/service.ts";
import { vocabulary } from "../odata/vocabularies.ts";
import { readJson } from "../rest/json.ts";
import { clientOf, contextOf, type Kernel, receive, senderOf, sendStream } from "./register.ts";
import { RequestScope } from "./request-scope.ts";

const rootPath = "/odata/v1/projects/:project";

/** Adds the interface with this model, and beside it, for everyone, the vocabularies that it names. */
export function registerOData(http: FastifyInstance, kernel: Kernel, model: EntityModel): void {
  const { services, authenticator } = kernel;
  const service = odataService(model);
  const answerTo = async (request: FastifyRequest, reply: FastifyReply) => {
    const project = (request.params as { project: string }).project.normalize("NFC");
    const caller = authorize(
      await authenticator.authenticate(odataSenderOf(request), project),
      project,
      "member",
    );
    const base = baseUrlOf(services.baseUrl, request.headers);
    if (base === undefined) throw fail("fields-missing", { fields: ["Host"] });
    const scope = new RequestScope(reply.raw, kernel.deadlines);
    const ctx = { ...contextOf(kernel, caller, scope), baseUrl: base };
    const { method, headers } = request;
    const root = `${base}/odata/v1/projects/${encodeURIComponent(project)}`;
    const bytesMax = limits.entityBodyBytesMax;
    const readJsonBody: ODataRequest["readJsonBody"] = (keptText) =>
      receive(request, { kernel, scope, bytesMax, client: clientOf(caller) }, (bytes, work) =>
        readJson(bytes, { ...(keptText && { keptText }), work }),
      );
    const asked = { method, headers, root, rest: belowRoot(request.raw.url!), readJsonBody };
    const answer = await scope.within(service(ctx, asked));
    if (answer.release) scope.atEnd(answer.release);
    reply.code(answer.status).headers(answer.headers).header("Vary", varyOf(reply));
    scope.sending();
    if (answer.stream) return sendStream(reply, answer.stream, scope);
    return reply.send(typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body);
  };
  const method = ["GET", "POST", "PUT", "PATCH", "DELETE"];
  for (const url of [rootPath, `${rootPath}/*`]) http.route({ method, url, handler: answerTo });
  http.get(`${rootPath}/vocabularies/:file`, (request, reply) => {
    const { file } = request.params as { file: string };
    const document = vocabulary(file);
    if (document === undefined) return answerTo(request, reply);
    return reply.type("application/xml").send(Buffer.from(document));
  });
}

const belowRoot = (url: string): string => /^(?:\/[^/?]*){4}(.*)$/s.exec(url)![1]!;

const varyOf = (reply: FastifyReply): string =>
  [reply.getHeader("Vary") ?? [], "Accept", "Prefer", "Authorization"].flat().join(", ");

/**
 * The credentials of REST, and a key or token as the password of HTTP Basic, because Excel and Power BI can
 * send nothing else (docs/reference/odata.md#requests-and-formats). A token is recognised by its two dots.
 */
export function odataSenderOf(request: FastifyRequest): RequestSource {
  const sender = senderOf(request);
  const { authorization, ...headers } = request.headers;
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined || headers["api-key"] !== undefined) return sender;
  const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  const isToken = /^[^.]+\.[^.]+\.[^.]+$/.test(password);
  const credential = isToken ? { authorization: `Bearer ${password}` } : { "api-key": password || "none" };
  return { ...sender, headers: { ...headers, ...credential } };
}

// Serves OData: every path below its root goes to the entity model without decoding.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RequestSource } from "../access/authenticator.ts";
import { fail } from "../errors.ts";
import { baseUrlOf } from "../lib/base-url.ts";
import { none } from "../lib/not-covered.ts";
import { limits } from "../limits.ts";
import { odataErrorOf } from "../odata/error-response.ts";
import type { EntityModel } from "../odata/model.ts";
import { type ODataRequest, odataService } from "../odata/service.ts";
import { vocabulary, vocabularyFiles } from "../odata/vocabularies.ts";
import { readJson } from "../rest/json.ts";
import { ruleOfOData } from "./audit-rules.ts";
import { basicPasswordOf, withPassword } from "./passwords.ts";
import { addEndpoint, type Kernel } from "./pipeline.ts";
import { admitToProject, contextOf, sourceOf } from "./project-access.ts";
import type { Protocol } from "./protocol.ts";
import { sendStream } from "./send.ts";

export const odataProtocol: Protocol = {
  roots: ["/odata/"],
  sourceOf: odataSourceOf,
  errorOf(failure) {
    const { headers, body } = odataErrorOf(failure);
    return { headers, body: Buffer.from(body) };
  },
};

const rootPath = "/odata/v1/projects/:project";

/** Adds the interface of a model, and the vocabularies that it names; these need no credentials. */
export function addOData(http: FastifyInstance, kernel: Kernel, model: EntityModel): void {
  const service = odataService(model);
  for (const url of [rootPath, `${rootPath}/*`]) addService(http, kernel, { url, service });
  for (const file of vocabularyFiles) addVocabulary(http, kernel, file);
}

function addService(
  http: FastifyInstance,
  kernel: Kernel,
  { url, service }: { readonly url: string; readonly service: ReturnType<typeof odataService> },
): void {
  addEndpoint(http, kernel, {
    method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    url,
    audit: (request) => ruleOfOData(request, belowRoot(request.raw.url!)),
    statusOf: ({ status }) => status,
    admit: (request, audit) =>
      admitToProject(kernel, {
        source: odataSourceOf(request),
        urlName: projectIn(request),
        capability: "member",
        ...{ isQuery: ["GET", "HEAD"].includes(request.method), audit },
      }),
    // The service checks the disk itself, for requests whose path is an insert.
    effect: "read",
    decode(request) {
      const baseUrl = baseUrlOf(kernel.services.baseUrl, request.headers);
      if (baseUrl === undefined) throw fail("fields-missing", { fields: ["Host"] });
      const root = `${baseUrl}/odata/v1/projects/${encodeURIComponent(projectIn(request))}`;
      return { baseUrl, root, rest: belowRoot(request.raw.url!) };
    },
    // The service reads the body itself, after it knows the entity from the path.
    readBody:
      (_, receive): ODataRequest["readJsonBody"] =>
      (keptText) =>
        receive(limits.entityBodyBytesMax, (bytes, work) =>
          readJson(bytes, { ...(keptText && { keptText }), work }),
        ),
    handle({ request, admitted, input, lifetime }, readJsonBody) {
      const { baseUrl, root, rest } = input;
      const { method, headers } = request;
      const ctx = { ...contextOf(kernel, admitted, lifetime), baseUrl };
      return service(ctx, { method, headers, root, rest, readJsonBody });
    },
    send({ reply, lifetime }, { status, headers, body, stream, release }) {
      if (release) lifetime.atEnd(release);
      reply.code(status).headers(headers).header("Vary", varyOf(reply));
      const sent = stream
        ? sendStream(reply, stream, lifetime)
        : reply.send(typeof body === "string" ? Buffer.from(body) : body);
      lifetime.sending();
      return sent;
    },
  });
}

function addVocabulary(http: FastifyInstance, kernel: Kernel, file: string): void {
  addEndpoint(http, kernel, {
    method: "GET",
    url: `${rootPath}/vocabularies/${file}`,
    audit: none("the same for everyone"),
    admit: ({ ip }) => ({ client: ip }),
    effect: "read",
    decode: () => undefined,
    readBody: () => undefined,
    handle: async () => Buffer.from(vocabulary(file)),
    send: ({ reply }, document) => reply.type("application/xml").send(document),
  });
}

const projectIn = ({ params }: FastifyRequest): string =>
  (params as { readonly project: string }).project.normalize("NFC");

const belowRoot = (url: string): string => /^(?:\/[^/?]*){4}(.*)$/s.exec(url)![1]!;

const varyOf = (reply: FastifyReply): string =>
  [reply.getHeader("Vary") ?? [], "Accept", "Prefer", "Authorization"].flat().join(", ");

/**
 * Accepts the credentials of REST, and a key or token as the password of HTTP Basic: Excel and Power BI can
 * send only that (docs/reference/odata.md#requests-and-formats).
 */
function odataSourceOf(request: FastifyRequest): RequestSource {
  const source = sourceOf(request);
  if (request.headers["api-key"] !== undefined) return source;
  const password = basicPasswordOf(request.headers.authorization);
  return password === undefined ? source : withPassword(source, password);
}

// Serves the InfluxDB protocol: writes in line protocol, and ping (docs/influx.md). Queries are in
// `influx-query-routes.ts`.

import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RequestSource } from "../access/authenticator.ts";
import { authorize } from "../access/authorize.ts";
import type { Failure } from "../errors.ts";
import { errorBodyOf } from "../influx/error-body.ts";
import { defaultSeriesTemplate, NameTemplate } from "../influx/name-template.ts";
import { precisionOf } from "../influx/precision.ts";
import { type WriteOptions, type WriteResult, writeLines } from "../influx/write.ts";
import { none } from "../lib/not-covered.ts";
import { limits } from "../limits.ts";
import type { RequestAudit } from "./auditing.ts";
import { addFlux, addQuery, pingHeaders } from "./influx-query-routes.ts";
import { NeedsMain } from "./needs-main.ts";
import { basicPasswordOf, withPassword } from "./passwords.ts";
import { addEndpoint, type Client, type Kernel, type Receive } from "./pipeline.ts";
import { admitToProject, contextOf, type ProjectClient, sourceOf } from "./project-access.ts";
import type { Protocol } from "./protocol.ts";

/** InfluxDB clients that cannot be given a path send to the root of the server. */
export const influxProtocol: Protocol = {
  roots: ["/influx/", "/write", "/query", "/ping", "/api/v2/"],
  sourceOf: influxSourceOf,
  errorOf: (failure) => ({ headers: challengeOf(failure), body: errorBodyOf(failure) }),
};

const challengeOf = ({ status }: Failure): Readonly<Record<string, string>> =>
  status === 401 ? { "WWW-Authenticate": 'Basic realm="Millrace"' } : {};

interface InfluxKernel extends Kernel {
  /** Longer bodies of lines are written by the main thread; without it, this is the main thread. */
  readonly linesBytesMax?: number;
  /** The project of tokens at the root of the server. A key there is for its own project. */
  readonly consoleProject: string;
}

/** Adds the endpoints of each project, and those at the root. */
export function addInflux(http: FastifyInstance, kernel: InfluxKernel): void {
  for (const root of ["/influx/:project", ""]) {
    addPing(http, kernel, `${root}/ping`);
    addQuery(http, kernel, `${root}/query`, (...sent) => admitMember(kernel, ...sent));
    addFlux(http, kernel, `${root}/api/v2/query`, (...sent) => admitMember(kernel, ...sent));
  }
  addWrites(http, kernel);
  addInfluxHealth(http, kernel, "/influx/:project/health");
}

/** Adds the endpoints of writes. */
export function addWrites(http: FastifyInstance, kernel: InfluxKernel): void {
  for (const root of ["/influx/:project", ""])
    for (const path of ["/write", "/api/v2/write"]) addWrite(http, kernel, `${root}${path}`);
}

function addPing(http: FastifyInstance, kernel: Kernel, url: string): void {
  addEndpoint(http, kernel, {
    method: "GET",
    url,
    audit: none("the same for everyone"),
    admit: ({ ip }): Client => ({ client: ip }),
    effect: "read",
    decode: () => undefined,
    readBody: () => undefined,
    handle: async () => undefined,
    send: ({ reply }) => reply.code(204).headers(pingHeaders).send(),
  });
}

function addWrite(http: FastifyInstance, kernel: InfluxKernel, url: string): void {
  addEndpoint<ProjectClient, WriteOptions, Receive, WriteResult>(http, kernel, {
    method: "POST",
    url,
    audit: () => ({ kind: "write", action: "influx write", resource: "timeseries" }),
    statusOf: () => 204,
    admit: (...sent) => admitWriter(kernel, ...sent),
    effect: "write",
    decode: writeOptionsOf,
    // The lines are stored while the body is in memory, so the handler reads it.
    readBody: (_, receive) => receive,
    handle: ({ admitted, input, lifetime }, receive) =>
      receive(limits.bulkBodyBytesMax, async (bytes) => {
        // Lines that are stored in parts could be stored twice if a later part needs the main thread.
        if (bytes.length > (kernel.linesBytesMax ?? Number.POSITIVE_INFINITY)) throw new NeedsMain();
        return writeLines(contextOf(kernel, admitted, lifetime), bytes, input);
      }),
    send({ reply, lifetime }, { cutPoints }) {
      if (cutPoints > 0) reply.header("X-Millrace-Rounded-Times", cutPoints);
      const sent = reply.code(204).headers(pingHeaders).send();
      lifetime.sending();
      return sent;
    },
  });
}

/** Adds the health check of InfluxDB below a project; `/health` at the root is that of the server. */
function addInfluxHealth(http: FastifyInstance, kernel: Kernel, url: string): void {
  addEndpoint(http, kernel, {
    method: "GET",
    url,
    audit: none("the same for everyone"),
    admit: ({ ip }): Client => ({ client: ip }),
    effect: "read",
    decode: () => undefined,
    readBody: () => undefined,
    handle: async () => undefined,
    send: ({ reply }) => reply.headers(pingHeaders).send(health),
  });
}

const health = {
  name: "influxdb",
  message: "ready for queries and writes",
  status: "pass",
  version: "1.8.10",
};

type Sent = readonly [request: FastifyRequest, audit: RequestAudit];

const admitWriter = (kernel: InfluxKernel, ...sent: Sent): Promise<ProjectClient> =>
  admit(kernel, sent, { capability: ["timeSeriesAcl", "WRITE"], isQuery: false });

/** Statements require their capabilities themselves. */
const admitMember = (kernel: InfluxKernel, ...sent: Sent): Promise<ProjectClient> =>
  admit(kernel, sent, { capability: "member", isQuery: true });

async function admit(
  kernel: InfluxKernel,
  [request, audit]: Sent,
  rights: Pick<Parameters<typeof admitToProject>[1], "capability" | "isQuery">,
): Promise<ProjectClient> {
  const source = influxSourceOf(request);
  const { project } = request.params as { readonly project?: string };
  return admitToProject(kernel, {
    source,
    urlName: project ?? (await ownProject(kernel, source)),
    ...{ ...rights, audit },
  });
}

/** The project of the key, or of the settings for a token. Refuses (401) other requests. */
async function ownProject(
  { authenticator, consoleProject }: InfluxKernel,
  source: RequestSource,
): Promise<string> {
  const { caller, refusal } = await authenticator.authenticate(source, consoleProject);
  const project = caller?.projectUrlName ?? consoleProject;
  return authorize({ ...(caller && { caller }), ...(refusal && { refusal }) }, project).projectUrlName;
}

function writeOptionsOf({ query, headers }: FastifyRequest): WriteOptions {
  const parameters = query as Readonly<Record<string, string | string[] | undefined>>;
  const last = (value: string | string[] | undefined) => [value].flat().at(-1) || undefined;
  const option = (name: string) => last(parameters[name]);
  const series = option("series") ?? headerText(last(headers["x-millrace-series"]));
  const asset = option("asset") ?? headerText(last(headers["x-millrace-asset"]));
  return {
    precision: precisionOf(option("precision")),
    seriesTemplate: new NameTemplate(series ?? defaultSeriesTemplate, "series"),
    assetTemplate: asset === undefined ? undefined : new NameTemplate(asset, "asset"),
    db: option("db") ?? option("bucket") ?? "",
  };
}

/** Node decodes headers as Latin-1. Most clients send UTF-8; anything else stays Latin-1. */
function headerText(value: string | undefined): string | undefined {
  const bytes = value && Buffer.from(value, "latin1");
  return bytes && isUtf8(bytes) ? bytes.toString() : value;
}

/**
 * Accepts the credentials of REST, and a key or token as the parameter `p`, as the password of HTTP Basic, or
 * as `Token x`, `Token user:x` and `Bearer x`.
 */
function influxSourceOf(request: FastifyRequest): RequestSource {
  const source = sourceOf(request);
  const { authorization, "api-key": key } = request.headers;
  if (key) return source;
  const { p } = request.query as { readonly p?: string | string[] };
  const password = authorization === undefined ? [p].flat()[0] : passwordIn(authorization);
  return password === undefined ? source : withPassword(source, password);
}

function passwordIn(authorization: string): string | undefined {
  const [, token] = /^(?:token +(?:[^:\s]*:)?|bearer +)(\S+)$/i.exec(authorization) ?? [];
  return token ?? basicPasswordOf(authorization);
}

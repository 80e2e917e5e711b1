// Responses with a status of 400 and above, in the format of their protocol.
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { Failure, type FailureCode, fail, isServerError } from "../errors.ts";
import { limits } from "../limits.ts";
import { addressRefusal } from "./address.ts";
import { type Protocol, protocolOf, sendError } from "./protocol.ts";
import { brokenOffStatus, ClientGone } from "./request-lifetime.ts";

interface ErrorHandling {
  readonly log: Logger;
  /** Called for each write that the disk refused. */
  readonly recordRefusal: (problem: string) => void;
  readonly protocols: readonly Protocol[];
}

/** Sends refusals of the catalogue. Server errors are logged with their stack. */
export function errorHandler({ log, recordRefusal, protocols }: ErrorHandling) {
  return (problem: unknown, request: FastifyRequest, reply: FastifyReply) => {
    if (problem instanceof ClientGone || isCutOff(problem, reply)) {
      log.debug({ requestId: request.id, path: pathToLog(request) }, new ClientGone().message);
      return reply.code(brokenOffStatus).send();
    }
    const failure = problem instanceof Failure ? problem : refusalByFastify(problem, request);
    if (diskFailures.has(failure.failure)) recordRefusal(failure.message);
    if (isServerError(failure.status))
      log.error({ err: problem, requestId: request.id, path: pathToLog(request) }, failure.message);
    const { retryAfterSeconds = failure.status === 503 ? limits.retryAfterSeconds : undefined } =
      failure.details as { readonly retryAfterSeconds?: number };
    if (retryAfterSeconds !== undefined) reply.header("Retry-After", retryAfterSeconds);
    const { allowed } = failure.details as { readonly allowed?: readonly string[] };
    if (allowed) reply.header("Allow", allowed.join(", "));
    // The rest of a stalled body is not read.
    if (failure.status === 408) reply.header("Connection", "close");
    return sendError(reply, failure, protocolOf(protocols, request.url));
  };
}

/** A stream of a response may end before its connection tells that the client went away. */
const isCutOff = (problem: unknown, { raw }: FastifyReply): boolean =>
  (problem as Partial<FastifyError>).code === "ERR_STREAM_PREMATURE_CLOSE" && (raw.socket?.destroyed ?? true);

/** Failed writes to a disk that reports free space. */
const diskFailures: ReadonlySet<FailureCode> = new Set([
  "catalog-not-stored",
  "points-not-stored",
  "file-not-stored",
]);

/** The refusal for an error of Fastify; all other errors are server errors. */
function refusalByFastify(problem: unknown, { id, url }: FastifyRequest): Failure {
  const { code, statusCode: status = 500, message = "" } = problem as Partial<FastifyError>;
  if (code === "FST_ERR_MAX_PARAM_LENGTH")
    return fail("path-segment-too-long", { limit: limits.pathSegmentBytesMax });
  if (status < 400 || status >= 500) return fail("internal", { requestId: id });
  const undecodable = code === "FST_ERR_BAD_URL" ? addressRefusal(url) : undefined;
  return undecodable ?? fail("request-malformed", { problem: message });
}

/** The path for logs, without values of parameters and paths of links: both may contain tokens. */
function pathToLog({ url, routeOptions }: FastifyRequest): string {
  if ((routeOptions?.config as { isTransfer?: boolean } | undefined)?.isTransfer)
    return routeOptions.url ?? "";
  const [path = "", query] = url.split("?", 2);
  const names = [...new URLSearchParams(query).keys()].map((name) => `${encodeURIComponent(name)}=...`);
  return names.length === 0 ? path : `${path}?${names.join("&")}`;
}

// Every answer with a status of 400 and above: `{"error":{"code","message",...}}` (platform-api, Errors).
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { Failure, fail } from "../errors.ts";

export const errorBody = (failure: Failure) => ({
  error: { code: failure.status, message: failure.message, ...failure.members },
});

/** Answers a refusal as the catalogue says, anything else as our fault, logged with its stack. */
export function errorAnswer(log: Logger) {
  return (problem: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const failure = problem instanceof Failure ? problem : refusalByFastify(problem, request.id);
    if (failure.status >= 500)
      log.error({ err: problem, requestId: request.id, path: request.url }, failure.message);
    return reply.code(failure.status).send(errorBody(failure));
  };
}

/** What Fastify itself refuses (a malformed address, a parameter that is too long), else a fault of ours. */
function refusalByFastify(problem: unknown, requestId: string): Failure {
  const { statusCode, message } = problem as { statusCode?: number; message?: string };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return fail("request-malformed", { problem: message ?? "unknown", status: statusCode });
  return fail("internal", { requestId });
}

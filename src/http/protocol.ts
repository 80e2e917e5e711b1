// The protocols that the server speaks: where requests have their credentials, and how errors are written.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RequestSource } from "../access/authenticator.ts";
import type { Failure } from "../errors.ts";
import { sourceOf } from "./project-access.ts";

export interface Protocol {
  /** Paths of the protocol begin with one of these. */
  readonly roots: readonly string[];
  readonly sourceOf: (request: FastifyRequest) => RequestSource;
  /** The body of an error response, and its headers. */
  readonly errorOf: (failure: Failure) => ErrorResponse;
}

export interface ErrorResponse {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object | Buffer;
}

/** `{"error":{"code","message",...}}` (docs/reference/common.md#errors). */
export const errorBody = (failure: Failure) => ({
  error: { code: failure.status, message: failure.message, ...failure.members },
});

/** Also the protocol of paths that belong to none, such as those of the login. */
export const restProtocol: Protocol = {
  roots: ["/api/"],
  sourceOf,
  errorOf: (failure) => ({ body: errorBody(failure) }),
};

/** The protocol of a path. */
export const protocolOf = (protocols: readonly Protocol[], path: string): Protocol =>
  protocols.find((protocol) => isOf(protocol, path)) ?? restProtocol;

/** Whether the path belongs to the protocol. */
export const isOf = ({ roots }: Protocol, path: string): boolean =>
  roots.some((root) => path.startsWith(root));

export const sendError = (reply: FastifyReply, failure: Failure, { errorOf }: Protocol): FastifyReply => {
  const { headers = {}, body } = errorOf(failure);
  return reply.code(failure.status).headers(headers).send(body);
};

// Sends error responses on the socket for requests that Node cannot parse as HTTP.
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type Failure, fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { errorBody } from "./protocol.ts";

interface ClientError extends Error {
  readonly code?: string;
}

/** Sends the usual error body and request id. Closes the connection: the rest cannot be parsed. */
export function sendClientError(problem: ClientError, socket: Socket, requestId: string): void {
  if (problem.code === "ECONNRESET" || !socket.writable) return;
  const refusal = refusalOf(problem.code);
  const { status } = refusal;
  const body = JSON.stringify(errorBody(refusal));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function refusalOf(code: string | undefined): Failure {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return fail("request-too-slow", {});
  if (code === "HPE_HEADER_OVERFLOW") return fail("headers-too-large", { limit: limits.headBytesMax });
  if (code === "HPE_INVALID_URL")
    return fail("request-malformed", { problem: "its address has a character that must be percent-encoded" });
  return fail("request-malformed", { problem: "it is not valid HTTP/1.1" });
}

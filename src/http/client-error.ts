// Answers to requests that Node itself cannot read as HTTP, written to the bare socket.
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { fail } from "../errors.ts";
import { errorBody } from "./error-answer.ts";

interface ClientError extends Error {
  readonly code?: string;
}

/** The same error body and request id as any other refusal; the connection ends, as it cannot be trusted. */
export function answerClientError(problem: ClientError, socket: Socket, requestId: string): void {
  if (problem.code === "ECONNRESET" || !socket.writable) return;
  const { status, text } = meaningOf(problem.code);
  const body = JSON.stringify(errorBody(fail("request-malformed", { problem: text, status })));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function meaningOf(code: string | undefined): { status: number; text: string } {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return { status: 408, text: "it was not received in time" };
  if (code === "HPE_HEADER_OVERFLOW") return { status: 431, text: "its headers are too large" };
  return { status: 400, text: "it is not valid HTTP/1.1" };
}

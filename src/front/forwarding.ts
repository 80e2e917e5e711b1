// Forwards requests from a front thread to the main thread, over a Unix socket.
import { type ClientRequest, type IncomingMessage, request as send } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { hasBody } from "../http/body.ts";
import { type Deadlines, RequestLifetime } from "../http/request-lifetime.ts";
import { invariant } from "../lib/invariant.ts";
import { limits } from "../limits.ts";
import { MainAgent } from "./main-agent.ts";

/** Headers between two neighbours, and those that this thread decides on. */
const notForwarded: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "upgrade", "expect", "transfer-encoding"],
  "x-forwarded-for",
]);

/** Of a request whose body this thread has inflated. */
const ofBody: ReadonlySet<string> = new Set(["content-length", "content-encoding"]);

/** The main thread has the other deadlines; it cannot see that a client reads nothing more. */
const forwardedDeadlines: Deadlines = {
  requestMs: Number.POSITIVE_INFINITY,
  idleMs: limits.uploadIdleMsMax,
  sendMs: 24 * 3_600_000,
};

export class Forwarding {
  readonly #forwarded = new WeakSet<object>();
  readonly #agent: MainAgent;

  constructor(socketPath: string) {
    this.#agent = new MainAgent(socketPath, { keepAlive: true, maxFreeSockets: 64 });
  }

  /** Whether the main thread serves the request, and counts it. */
  has(request: FastifyRequest): boolean {
    return this.#forwarded.has(request.raw);
  }

  /**
   * Sends the request to the main thread, and its response to the client. Give it the body, inflated, if it
   * has been read.
   */
  forward(request: FastifyRequest, reply: FastifyReply, body?: Buffer): void {
    const { raw } = request;
    const response = reply.raw;
    this.#forwarded.add(raw);
    reply.hijack();
    // The client has gone; its address is unknown by now.
    if (response.destroyed) return;
    const lifetime = new RequestLifetime(response, forwardedDeadlines);
    const outgoing = send({
      agent: this.#agent,
      method: raw.method,
      path: raw.url,
      setHost: false,
      maxHeaderSize: 2 * limits.headBytesMax,
      headers: headersOf(request, body),
    });
    let hasResponse = false;
    outgoing.on("response", (incoming) => {
      hasResponse = true;
      response.writeHead(incoming.statusCode!, incoming.statusMessage, headersBack(incoming));
      incoming.pipe(response);
      incoming.once("error", () => response.destroy());
      lifetime.sending();
    });
    outgoing.on("error", () => {
      if (!hasResponse) response.destroy();
    });
    // The main thread may respond before it has read the body, whose rest the client still sends.
    const leaveBody = () => raw.unpipe(outgoing).resume();
    outgoing.once("close", leaveBody);
    response.once("close", () => {
      if (response.writableFinished && outgoing.writableFinished) return;
      leaveBody();
      outgoing.destroy();
    });
    sendBody(raw, outgoing, body);
  }

  close(): void {
    this.#agent.destroy();
  }
}

function sendBody(raw: IncomingMessage, outgoing: ClientRequest, body: Buffer | undefined): void {
  invariant(body !== undefined || !raw.readableDidRead, "a body that has been read is forwarded from memory");
  if (body !== undefined) outgoing.end(body);
  else if (hasBody(raw)) {
    // Node would wait for the first bytes of the body, which the main thread may refuse by its headers.
    outgoing.flushHeaders();
    raw.pipe(outgoing);
  } else outgoing.end();
}

/** The main thread trusts this one to name the address of the client. */
function headersOf({ raw, ip }: FastifyRequest, body: Buffer | undefined): string[] {
  const { rawHeaders } = raw;
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const isReplaced = body !== undefined && ofBody.has(name);
    if (!notForwarded.has(name) && !isReplaced) headers.push(rawHeaders[at]!, rawHeaders[at + 1]!);
  }
  headers.push("X-Forwarded-For", ip);
  if (body !== undefined) headers.push("Content-Length", String(body.length));
  else if (raw.headers["transfer-encoding"] !== undefined) headers.push("Transfer-Encoding", "chunked");
  return headers;
}

function headersBack({ rawHeaders }: IncomingMessage): string[] {
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!.toLowerCase(), rawHeaders[at + 1]!];
    // The rest of a body is not read if the main thread closes.
    const closes = name === "connection" && value.toLowerCase() === "close";
    if (closes || !notForwarded.has(name)) headers.push(rawHeaders[at]!, value);
  }
  return headers;
}

// Forwards requests from a front thread to the main thread, over a Unix socket.
import { Agent, type ClientRequest, type IncomingMessage, request as send } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { hasBody } from "../http/body.ts";

/** Headers between two neighbours, and those that this thread decides on. */
const notForwarded: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "upgrade", "expect", "transfer-encoding"],
  "x-forwarded-for",
]);

/** Of a request whose body this thread has inflated. */
const ofBody: ReadonlySet<string> = new Set(["content-length", "content-encoding"]);

export class Forwarding {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  readonly #forwarded = new WeakSet<object>();

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** Whether the main thread serves the request, and counts it. */
  has(request: FastifyRequest): boolean {
    return this.#forwarded.has(request.raw);
  }

  /**
   * Sends the request to the main thread, and its response to the client. `body` replaces one that was read.
   */
  forward(request: FastifyRequest, reply: FastifyReply, body?: Buffer): void {
    const { raw } = request;
    const response = reply.raw;
    this.#forwarded.add(raw);
    reply.hijack();
    const outgoing = send({
      agent: this.#agent,
      socketPath: this.#socketPath,
      method: raw.method,
      path: raw.url,
      setHost: false,
      headers: headersOf(request, body),
    });
    outgoing.on("response", (incoming) => {
      response.writeHead(incoming.statusCode!, incoming.statusMessage, headersBack(incoming));
      incoming.pipe(response);
      incoming.once("error", () => response.destroy());
    });
    outgoing.once("error", () => fail(reply));
    response.once("close", () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    sendBody(raw, outgoing, body);
  }

  close(): void {
    this.#agent.destroy();
  }
}

function sendBody(raw: IncomingMessage, outgoing: ClientRequest, body: Buffer | undefined): void {
  if (body !== undefined) outgoing.end(body);
  else if (hasBody(raw)) raw.pipe(outgoing);
  else outgoing.end();
}

/** The main thread names the address of the client last, so that it trusts one hop. */
function headersOf({ raw, ip }: FastifyRequest, body: Buffer | undefined): string[] {
  const { rawHeaders } = raw;
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const isReplaced = body !== undefined && ofBody.has(name);
    if (!notForwarded.has(name) && !isReplaced) headers.push(rawHeaders[at]!, rawHeaders[at + 1]!);
  }
  headers.push("X-Forwarded-For", ip, "Connection", "keep-alive");
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

/** The main thread has closed the connection, as it does at the end of its own: the client sees the same. */
const fail = ({ raw }: FastifyReply): void => {
  raw.destroy();
};

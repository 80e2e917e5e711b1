// Serves every request: `serve` runs the stages from top to bottom. A protocol adds endpoints, which define
// these stages.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Authenticator } from "../access/authenticator.ts";
import type { KeyUses, RequestUse } from "../access/key-limits.ts";
import type { Services } from "../context.ts";
import type { FairTurns, Turn } from "../lib/fair-turns.ts";
import type { JsonDecoders } from "../rest/json.ts";
import type { BodyWork, Effect } from "../rest/route.ts";
import { type AuditRule, RequestAudit } from "./auditing.ts";
import { type BodyMemory, readBody } from "./body.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import { NeedsMain } from "./needs-main.ts";
import { type Deadlines, RequestLifetime, transferDeadlines } from "./request-lifetime.ts";
import type { SendBatch } from "./send-batch.ts";

/** The services that all endpoints use. */
export interface Kernel {
  readonly services: Services;
  readonly authenticator: Pick<Authenticator, "authenticate">;
  readonly keyUses: KeyUses;
  /** Of JSON bodies. */
  readonly decoders: JsonDecoders;
  /** Reads take their turns on this thread, so that writes do not wait for many of them. */
  readonly readTurns: FairTurns;
  /** Short responses of this thread are sent together. */
  readonly sendBatch: SendBatch;
  /** For the bodies of all requests in progress. */
  readonly bodies: BodyMemory;
  /** For all responses in progress. */
  readonly responses: MemoryBudget;
  readonly deadlines: Deadlines;
}

/** The stages of one operation. */
export interface Endpoint<Admitted extends Client, Input, Body, Result> {
  readonly method: string | readonly string[];
  readonly url: string;
  /**
   * Authenticates and authorizes the caller, if the operation needs one; refuses others (401, 403). Tells
   * the audit log who the caller is.
   */
  admit(request: FastifyRequest, audit: RequestAudit): Admitted | Promise<Admitted>;
  /** How the audit log records the operation, or why it does not. */
  readonly audit: AuditRule;
  readonly effect: Effect;
  /** Decodes path and query. */
  decode(request: FastifyRequest): Input;
  /** Reads the body with `receive`, or leaves it to the handler. */
  readBody(exchange: Exchange<Admitted, Input>, receive: Receive): Body | Promise<Body>;
  handle(exchange: Exchange<Admitted, Input>, body: Body): Promise<Result>;
  send(exchange: Exchange<Admitted, Input>, result: Result): FastifyReply | Promise<FastifyReply>;
  /** The status of the response for the audit log; 200 when absent. */
  statusOf?(result: Result): number;
  /** A transfer of any length: it has no deadline, its bytes are not compressed, its path is a secret. */
  readonly isTransfer?: true;
}

/** The client that the memory of a request counts for. */
export interface Client {
  readonly client: string;
  /** Of this request, if its key has limits; it ends with the response. */
  readonly use?: RequestUse;
  /** Of this request, if it only reads. */
  readonly turn?: Turn;
}

/** A request in progress. */
export interface Exchange<Admitted, Input> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly admitted: Admitted;
  readonly input: Input;
  readonly lifetime: RequestLifetime;
  readonly audit: RequestAudit;
}

/** Receives the body, of at most `bytesMax` bytes, and returns the result of `read`. */
export type Receive = <Read>(
  bytesMax: number,
  read: (bytes: Buffer, work: BodyWork) => Promise<Read>,
) => Promise<Read>;

/** Serves an endpoint. */
export function addEndpoint<Admitted extends Client, Input, Body, Result>(
  http: FastifyInstance,
  kernel: Kernel,
  endpoint: Endpoint<Admitted, Input, Body, Result>,
): void {
  const { sendBatch } = kernel;
  // A stage returns a promise only if it has to wait. Few requests wait before their handler.
  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    sendBatch.beforeWork({ mayBeLong: endpoint.effect !== "read" });
    const audit = new RequestAudit(kernel.services.audit, endpoint.audit, request);
    try {
      const admitted = await endpoint.admit(request, audit);
      if (admitted.use) endWithResponse(admitted.use, request.raw, reply.raw);
      if (endpoint.effect !== "read") await prepareDisk(kernel.services, endpoint.effect);
      const input = endpoint.decode(request);
      const lifetime = new RequestLifetime(
        reply.raw,
        endpoint.isTransfer ? transferDeadlines : kernel.deadlines,
      );
      if (endpoint.isTransfer) request.raw.setTimeout(transferDeadlines.idleMs, () => request.raw.destroy());
      const waiting = turnOf(admitted, lifetime);
      if (waiting) {
        await waiting;
        sendBatch.beforeWork({ mayBeLong: false });
      }
      const exchange: Exchange<Admitted, Input> = { request, reply, admitted, input, lifetime, audit };
      const body = await endpoint.readBody(exchange, receiverOf(kernel, exchange));
      const begun = audit.begin(body);
      if (begun) await begun;
      const handled = audit.follow(endpoint.handle(exchange, body), {
        statusOf: (result) => endpoint.statusOf?.(result) ?? 200,
        atEnd: (end) => lifetime.atEnd(() => end(reply.raw.writableFinished)),
      });
      const result = await lifetime.within(handled);
      const waitingToSend = turnOf(admitted, lifetime);
      if (waitingToSend) await waitingToSend;
      // Other requests may have been served since the one of this response was handled.
      sendBatch.beforeWork({ mayBeLong: false });
      return await endpoint.send(exchange, result);
    } catch (problem) {
      await audit.failed(problem);
      throw problem;
    }
  };
  const { url, isTransfer } = endpoint;
  const method = [endpoint.method].flat();
  http.route({ method, url, handler: serve, ...(isTransfer && transferOptions) });
}

/** Of a route without a deadline, whose bytes are not compressed. */
export const transferOptions = { compress: false, config: { isTransfer: true } } as const;

/** Waits for the turn of a read: before it is handled, and before its response is written. */
function turnOf({ turn }: Client, lifetime: RequestLifetime): Promise<void> | undefined {
  const waiting = turn?.next();
  return waiting && lifetime.within(waiting);
}

/** Counts the bytes of the request's body and of its response, as they are on the network. */
function endWithResponse(use: RequestUse, request: IncomingMessage, response: ServerResponse): void {
  const { socket, headers } = request;
  const before = { read: socket.bytesRead, written: socket.bytesWritten };
  const end = () => {
    // The body, or a part of it, may have been read before. A body of unknown length has no header for it.
    const read = Math.max(Number(headers["content-length"] ?? 0), socket.bytesRead - before.read);
    use.use("bytes", read + socket.bytesWritten - before.written);
    use.end();
  };
  if (response.closed) end();
  else response.once("close", end);
}

/** Refuses writes (503) if the disk is full, and frees reserved space for deletes. */
async function prepareDisk({ disk }: Services, effect: Effect): Promise<void> {
  if (effect === "write") disk.requireSpace();
  if (effect === "delete" && disk.isFull) await disk.prepareDelete();
}

/**
 * The memory of a body is reserved until the end of the request. The buffer of its bytes is reused after
 * `read` has settled.
 */
function receiverOf<Admitted extends Client>(
  { bodies }: Kernel,
  { request, admitted, lifetime }: Exchange<Admitted, unknown>,
): Receive {
  return async (bytesMax, read) => {
    const { client } = admitted;
    const { signal } = lifetime;
    const { bytes, reservation, reuse } = await readBody(request.raw, bodies, { bytesMax, client, signal });
    lifetime.atEnd(() => reservation.release());
    let decodedBytes = 0;
    const reserve = (more: number) => {
      decodedBytes = more;
      return reservation.resize(bytes.length + more, signal);
    };
    try {
      return await read(bytes, { signal, reserve });
    } catch (problem) {
      if (problem instanceof NeedsMain) problem.body = Buffer.from(bytes);
      throw problem;
    } finally {
      reuse();
      // A reservation that shrinks never waits.
      reservation.resize(Math.min(decodedBytes, reservation.bytes), signal);
    }
  };
}

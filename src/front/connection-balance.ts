// Spreads connections over the threads that listen at one port.
//
// The system chooses a thread for each new connection at random, and clients keep connections for hours: one
// thread would serve three of four, and the main thread all that were opened before the others listened. So a
// thread with too many of them ends a connection with its next response, and its client opens another one. It
// does not end a connection whose client has sent more than the request of this response.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { hasBody } from "../http/body.ts";

/** Of a thread that does not listen. */
const closed = 2 ** 30;

/** The number of connections of each thread, in memory that all share. */
export const connectionCounts = (threads: number): Int32Array =>
  new Int32Array(new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT)).fill(closed);

/** An open connection of this thread that it has not ended. */
interface Open {
  /** Requests that have been received, and whose responses have not been sent. */
  requests: number;
}

export class ConnectionBalance {
  readonly #counts: Int32Array;
  readonly #thread: number;
  readonly #open = new Map<Socket, Open>();

  /** `thread` is the number of this one. */
  constructor(counts: Int32Array, thread: number) {
    this.#counts = counts;
    this.#thread = thread;
  }

  /** Counts and ends the connections of the server; call it before the server listens. */
  watch(http: FastifyInstance): void {
    this.count(http.server);
    http.addHook("onSend", (request, reply, _payload, done) => {
      if (this.shouldEnd(request.raw)) reply.header("connection", "close");
      done();
    });
  }

  count(server: Server): void {
    server.on("connection", (socket) => this.#opened(socket));
    server.prependListener("request", (request, response) => this.#requested(request, response));
  }

  /** The thread listens from now on. */
  begin(): void {
    Atomics.store(this.#counts, this.#thread, this.#open.size);
  }

  /** The thread accepts no more connections: those of others are not ended for it. */
  end(): void {
    Atomics.store(this.#counts, this.#thread, closed);
  }

  /** Whether the connection is to end with the response to this request, which is about to be sent. */
  shouldEnd(request: IncomingMessage): boolean {
    const { socket } = request;
    if (!this.#hasTooMany || this.#open.get(socket)?.requests !== 1) return false;
    if (hasBody(request) && !request.complete) return false;
    this.#forget(socket);
    return true;
  }

  #opened(socket: Socket): void {
    this.#open.set(socket, { requests: 0 });
    Atomics.add(this.#counts, this.#thread, 1);
    socket.once("close", () => this.#forget(socket));
  }

  #forget(socket: Socket): void {
    if (this.#open.delete(socket)) Atomics.sub(this.#counts, this.#thread, 1);
  }

  #requested({ socket }: IncomingMessage, response: ServerResponse): void {
    const open = this.#open.get(socket);
    if (open === undefined) return;
    open.requests += 1;
    response.once("close", () => {
      open.requests -= 1;
    });
  }

  /** Whether another thread has at least two connections less, and a fifth less. */
  get #hasTooMany(): boolean {
    const own = Atomics.load(this.#counts, this.#thread);
    if (own >= closed) return false;
    let fewest = own;
    for (let thread = 0; thread < this.#counts.length; thread++)
      fewest = Math.min(fewest, Atomics.load(this.#counts, thread));
    return own - fewest >= 2 && own - fewest > own / 5;
  }
}

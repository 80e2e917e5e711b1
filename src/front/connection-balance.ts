// Spreads connections over the threads that listen at one port.
//
// The system chooses a thread for each new connection at random, and clients keep connections for hours: one
// thread would serve three of four, and the main thread all that were opened before the others listened. So a
// thread with too many of them ends a connection with its next response, and its client opens another one.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Of a thread that does not listen. */
const closed = 2 ** 30;

/** The number of connections of each thread, in memory that all share. */
export const connectionCounts = (threads: number): Int32Array =>
  new Int32Array(new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT)).fill(closed);

export class ConnectionBalance {
  readonly #counts: Int32Array;
  readonly #thread: number;
  /** The open connections of this thread that it does not end. */
  readonly #open = new Set<Socket>();

  /** Counts the connections of a server, which is that of the thread with this number. */
  constructor(server: Server, counts: Int32Array, thread: number) {
    this.#counts = counts;
    this.#thread = thread;
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

  #opened(socket: Socket): void {
    if (socket.remoteAddress === undefined) return; // A front thread.
    this.#open.add(socket);
    Atomics.add(this.#counts, this.#thread, 1);
    socket.once("close", () => this.#forget(socket));
  }

  #forget(socket: Socket): void {
    if (this.#open.delete(socket)) Atomics.sub(this.#counts, this.#thread, 1);
  }

  #requested({ socket }: IncomingMessage, response: ServerResponse): void {
    if (!this.#hasTooMany || !this.#open.has(socket)) return;
    response.shouldKeepAlive = false;
    this.#forget(socket);
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

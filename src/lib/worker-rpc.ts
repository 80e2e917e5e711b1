// Requests to another thread and their replies, which come alone or as an array. All pending requests are
// rejected when the thread ends.
import type { MessagePort, Transferable, Worker } from "node:worker_threads";

/** A reply carries the id of its request. Messages with other ids are ignored. */
interface Identified {
  readonly id: number;
}

export class WorkerRpc<Request, Reply extends Identified> {
  readonly #channel: Worker | MessagePort;
  /** By id; an id has at most one pending request. */
  readonly #pending = new Map<number, PromiseWithResolvers<Reply>>();
  readonly #ended = Promise.withResolvers<void>();
  #failure: Error | undefined;
  #lastId = 0;

  /** `channel` is the thread, or a port whose other end the thread has; `name` is for error messages. */
  constructor(channel: Worker | MessagePort, name: string) {
    this.#channel = channel;
    const events = channel as Pick<Worker, "on" | "once">;
    events.on("message", (message: Reply | readonly Reply[]) => {
      for (const reply of [message].flat() as Reply[]) this.#take(reply.id)?.resolve(reply);
    });
    events.once("error", (cause) => this.#fail(new Error(`${name} failed: ${String(cause)}`, { cause })));
    const end = () => {
      this.#fail(new Error(`${name} has ended`));
      this.#ended.resolve();
    };
    events.once("exit", end).once("close", end); // A port closes.
  }

  /** Whether the thread has failed or ended: it accepts no more requests. */
  get hasEnded(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether no request is pending. */
  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** Resolves when the thread has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  newId(): number {
    return ++this.#lastId;
  }

  /** Sends a message that gets no reply. */
  post(message: Request, transfer: Transferable[] = []): void {
    this.#channel.postMessage(message, transfer);
  }

  /** Sends a request. Resolves with its reply; rejects when the thread has ended. */
  request(message: Request & Identified, transfer?: Transferable[]): Promise<Reply> {
    const reply = this.replyTo(message.id);
    if (!this.#failure) this.post(message, transfer);
    return reply;
  }

  /** Resolves with the reply to a request that the caller posts; rejects when the thread has ended. */
  async replyTo(id: number): Promise<Reply> {
    if (this.#failure) throw this.#failure;
    const pending = Promise.withResolvers<Reply>();
    this.#pending.set(id, pending);
    return await pending.promise;
  }

  /** Rejects a pending request whose reply is no longer needed. */
  cancel(id: number, reason: unknown): void {
    this.#take(id)?.reject(reason);
  }

  #take(id: number): PromiseWithResolvers<Reply> | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #fail(failure: Error): void {
    this.#failure ??= failure;
    for (const id of [...this.#pending.keys()]) this.cancel(id, this.#failure);
  }
}

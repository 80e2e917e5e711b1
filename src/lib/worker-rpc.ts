// Requests to a worker thread and their replies, which come alone or as an array. All pending requests are
// rejected when the thread ends.
import type { Worker } from "node:worker_threads";

/** A reply carries the id of its request. Messages with other ids are ignored. */
interface Identified {
  readonly id: number;
}

export class WorkerRpc<Request, Reply extends Identified> {
  readonly #worker: Worker;
  /** By id; an id has at most one pending request. */
  readonly #pending = new Map<number, PromiseWithResolvers<Reply>>();
  readonly #ended = Promise.withResolvers<void>();
  #failure: Error | undefined;
  #lastId = 0;

  /** `name` is the thread's name in error messages. */
  constructor(worker: Worker, name: string) {
    this.#worker = worker;
    worker.on("message", (message: Reply | readonly Reply[]) => {
      for (const reply of [message].flat() as Reply[]) this.#take(reply.id)?.resolve(reply);
    });
    worker.once("error", (cause) => this.#fail(new Error(`${name} failed: ${String(cause)}`, { cause })));
    worker.once("exit", () => {
      this.#fail(new Error(`${name} has ended`));
      this.#ended.resolve();
    });
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
  post(message: Request): void {
    this.#worker.postMessage(message);
  }

  /** Sends a request. Resolves with its reply; rejects when the thread has ended. */
  request(message: Request & Identified): Promise<Reply> {
    const reply = this.replyTo(message.id);
    if (!this.#failure) this.post(message);
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

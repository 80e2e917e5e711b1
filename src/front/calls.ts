// Calls of functions in another thread, with their results and errors.
import type { MessagePort, Transferable, Worker } from "node:worker_threads";
import { errorFrom, messageOf } from "../errors/between-threads.ts";
import { WorkerRpc } from "../lib/worker-rpc.ts";
import type { ThreadCall, ThreadReply } from "./messages.ts";

type InputOf<One> = One extends { input: infer Input } ? Input : never;
type ResultOf<One> = One extends { result: infer Result } ? Result : never;

/** The functions of a thread, by name. */
export type Served<Calls> = {
  readonly [Name in keyof Calls]: (input: InputOf<Calls[Name]>) => Promise<ResultOf<Calls[Name]>>;
};

/** Calls the functions of the other thread; `News` are messages without a reply. */
export class ThreadCaller<Calls, News = never> {
  readonly #rpc: WorkerRpc<ThreadCall<Calls> | News, ThreadReply>;
  readonly #name: string;

  /** `name` is the other thread's name in error messages. */
  constructor(channel: Worker | MessagePort, name: string) {
    this.#rpc = new WorkerRpc(channel, name);
    this.#name = name;
  }

  /** Resolves when the other thread has ended. */
  get ended(): Promise<void> {
    return this.#rpc.ended;
  }

  tell(news: News): void {
    this.#rpc.post(news);
  }

  /** Rejects with the error of the function, or when the thread has ended. */
  async call<Name extends keyof Calls>(
    name: Name,
    input: InputOf<Calls[Name]>,
    transfer?: Transferable[],
  ): Promise<ResultOf<Calls[Name]>> {
    const id = this.#rpc.newId();
    const call = { kind: "call", id, name, input } as ThreadCall<Calls> & { readonly id: number };
    const reply = await this.#rpc.request(call, transfer);
    if (reply.kind === "failed") throw errorFrom(reply, this.#name);
    return reply.result as ResultOf<Calls[Name]>;
  }
}

/**
 * Serves the calls that arrive at a port; other messages go to `hear`. Replies that are ready together are
 * sent together: to wake the other thread costs more than many a call.
 */
export function serveCalls<Calls, News = never>(
  port: MessagePort,
  functions: Served<Calls>,
  hear: (news: News) => void = () => {},
): void {
  const run = async (call: ThreadCall<Calls>): Promise<ThreadReply> => {
    try {
      const result = await functions[call.name](call.input as never);
      return { kind: "result", id: call.id, result };
    } catch (error) {
      return { kind: "failed", id: call.id, ...messageOf(error) };
    }
  };
  let ready: ThreadReply[] = [];
  const send = (): void => {
    port.postMessage(ready);
    ready = [];
  };
  port.on("message", (message: ThreadCall<Calls> | News) => {
    if (isCall<Calls>(message))
      void run(message).then((reply) => {
        if (ready.push(reply) === 1) queueMicrotask(send);
      });
    else hear(message);
  });
}

const isCall = <Calls>(message: unknown): message is ThreadCall<Calls> =>
  (message as { readonly kind?: unknown }).kind === "call";

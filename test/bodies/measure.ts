// Starts a server in another process, sends it requests, and returns the cost of each.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { ApiVersion } from "../../src/rest/route.ts";
import type { Cost, Order, Reply, Started } from "./measured-server.ts";

export interface Request {
  readonly method: string;
  /** From the root. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Measured extends Cost {
  readonly status: number;
  /** The start of the response. */
  readonly text: string;
  readonly answerBytes: number;
  /** On the clock. */
  readonly ms: number;
}

const entry = new URL("./measured-server.ts", import.meta.url).pathname;
const textShown = 300;

/** A path below the project, from the root. */
export const pathBelow = (version: ApiVersion, path: string) => `/api/${version}/projects/demo${path}`;

export class MeasuredServer {
  readonly #child: ChildProcess;
  readonly #baseUrl: string;
  readonly #key: string;

  private constructor(child: ChildProcess, started: Started) {
    this.#child = child;
    this.#baseUrl = started.baseUrl;
    this.#key = started.key;
  }

  static async start(): Promise<MeasuredServer> {
    const execArgv = ["--expose-gc", "--disable-warning=ExperimentalWarning"];
    const child = fork(entry, { execArgv });
    const ended = once(child, "exit").then(() => {
      throw new Error("the server ended before it served");
    });
    const [started] = (await Promise.race([once(child, "message"), ended])) as [Started];
    ended.catch(() => {});
    return new MeasuredServer(child, started);
  }

  /** Sends without measuring. */
  async send({ method, path, body, headers = {} }: Request): Promise<{ status: number; text: string }> {
    const response = await this.#fetch({ method, path, headers, ...(body !== undefined && { body }) });
    return { status: response.status, text: await response.text() };
  }

  async measure(request: Request): Promise<Measured> {
    await this.#order("begin");
    const began = performance.now();
    const response = await this.#fetch(request);
    let answerBytes = 0;
    let text = "";
    for await (const chunk of response.body ?? []) {
      answerBytes += chunk.length;
      if (text.length < textShown) text += Buffer.from(chunk.subarray(0, textShown)).toString();
    }
    const ms = performance.now() - began;
    const cost = (await this.#order("end")) as Cost;
    return { ...cost, status: response.status, text: text.slice(0, textShown), answerBytes, ms };
  }

  async close(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.send("close" satisfies Order);
    await exited;
  }

  #fetch({ method, path, body, headers = {} }: Request): Promise<Response> {
    return fetch(this.#baseUrl + path, {
      method,
      headers: { "api-key": this.#key, ...headers },
      ...(body !== undefined && { body: body as string }),
    });
  }

  async #order(order: Order): Promise<Reply> {
    const replied = once(this.#child, "message");
    this.#child.send(order);
    const [reply] = (await replied) as [Reply];
    return reply;
  }
}

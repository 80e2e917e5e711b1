// The client of the public API for commands: login, requests with bounded retries, pages with cursors.
import { setTimeout as pause } from "node:timers/promises";
import { parseJson } from "../lib/json.ts";
import { limits } from "../limits.ts";

/** The server refused or cannot be reached; the message says which and why. */
export class ServerProblem extends Error {
  /** The server may have done the work although its response did not arrive. */
  readonly mayBeDone: boolean;
  readonly status: number | undefined;
  /** The `error` of the response; empty if there was none. */
  readonly error: Readonly<Record<string, unknown>>;

  constructor(message: string, { mayBeDone = false, status, error = {} }: ProblemDetails = {}) {
    super(message);
    this.mayBeDone = mayBeDone;
    this.status = status;
    this.error = error;
  }
}

/** The server did not respond. */
export class NoResponse extends ServerProblem {}

interface ProblemDetails {
  readonly mayBeDone?: boolean;
  readonly status?: number;
  readonly error?: Readonly<Record<string, unknown>>;
}

/** The address and the credential with which a command connects to a project. */
export interface Target {
  readonly server: string;
  readonly key: string;
}

interface LoginStatus {
  readonly loggedIn: boolean;
  readonly project: string;
  readonly projectId: number;
}

export interface Patience {
  /** How long a request may take. Default: as long as the server may work on it. */
  readonly requestMs?: number;
  /** How often a request that may be repeated is. Default: `importRetriesMax`. */
  readonly retriesMax?: number;
}

/** The body and headers of a request, if any. */
interface RequestContent {
  readonly body?: string | Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type ConnectionApiVersion = "0.4" | "0.5" | "0.6";

type FetchBody = Exclude<NonNullable<Parameters<typeof fetch>[1]>["body"], undefined>;

export class Connection {
  readonly server: string;
  readonly #key: string;
  readonly #signal: AbortSignal;
  readonly #patience: Required<Patience>;
  #project = "";
  #projectId = -1;

  constructor({ server, key }: Target, signal: AbortSignal, patience: Patience = {}) {
    this.server = server;
    this.#key = key;
    this.#signal = signal;
    const { requestMs = limits.requestMsMax, retriesMax = limits.importRetriesMax } = patience;
    this.#patience = { requestMs, retriesMax };
  }

  get project(): string {
    return this.#project;
  }

  get projectId(): number {
    return this.#projectId;
  }

  /** Learns the key's project; every further call is for that one. Tries once: nothing is begun yet. */
  async login(): Promise<void> {
    const response = await this.#once("GET", "/login/status");
    const { data } = parseJson(await response.text()) as { data: LoginStatus };
    if (!data.loggedIn) throw new ServerProblem(`${this.server} does not know this API key`);
    this.#project = data.project;
    this.#projectId = data.projectId;
  }

  /** The path of a resource below the project. */
  pathOf(resource: string, version: ConnectionApiVersion = "0.5"): string {
    return `/api/${version}/projects/${encodeURIComponent(this.#project)}${resource && `/${resource}`}`;
  }

  /**
   * For requests that may be repeated: retries after 429, 5xx and a broken connection, with growing delays.
   */
  async json(method: string, path: string, sent: RequestContent = {}): Promise<unknown> {
    return parseJson(await this.#retried(async () => (await this.#once(method, path, sent)).text()));
  }

  /** As `json`; returns the bytes of the response. */
  bytes(method: string, path: string, sent: RequestContent = {}): Promise<Buffer> {
    return this.#retried(async () => Buffer.from(await (await this.#once(method, path, sent)).arrayBuffer()));
  }

  /** Repeats the request only if the server was too busy to start it. */
  async jsonOnce(method: string, path: string, sent: RequestContent = {}): Promise<unknown> {
    const once = async () => (await this.#once(method, path, sent)).text();
    return parseJson(await this.#retried(once, ({ status }) => status === 429));
  }

  /** Fetches a link, which needs no credentials. The caller reads the body. */
  link(method: string, address: string, sent: RequestContent = {}): Promise<Response> {
    return this.#send(method, address, sent, undefined);
  }

  /** Every item of a list, a page at a time. `query` holds the filters and the size of a page. */
  async *pages<Item>(path: string, query: Readonly<Record<string, string>>): AsyncGenerator<Item[]> {
    let cursor: string | undefined;
    do {
      const asked = new URLSearchParams({ ...query, ...(cursor !== undefined && { cursor }) });
      const { data } = (await this.json("GET", `${path}?${asked}`)) as {
        data: { items: Item[]; nextCursor?: string };
      };
      yield data.items;
      cursor = data.nextCursor;
    } while (cursor);
  }

  /** Waits before a further attempt, longer each time. */
  async pause(attempt: number): Promise<void> {
    const waitMs = Math.min(limits.importRetryWaitMsMax, 250 * 2 ** attempt);
    await pause(waitMs * (0.5 + Math.random() / 2), undefined, { signal: this.#signal });
  }

  async #retried<Result>(
    attempt: () => Promise<Result>,
    isWorthwhile: (problem: ServerProblem) => boolean = ({ status, mayBeDone }) =>
      mayBeDone || status === 429,
  ): Promise<Result> {
    for (let failed = 0; ; failed++) {
      try {
        return await attempt();
      } catch (problem) {
        const known =
          problem instanceof ServerProblem || this.#signal.aborted ? problem : this.#lost(problem);
        const isFinal = !(known instanceof ServerProblem) || !isWorthwhile(known);
        if (isFinal || failed === this.#patience.retriesMax) throw known;
        await this.pause(failed);
      }
    }
  }

  #once(method: string, path: string, sent: RequestContent = {}): Promise<Response> {
    return this.#send(method, this.server + path, sent, this.#key);
  }

  async #send(
    method: string,
    address: string,
    { body, headers }: RequestContent,
    key?: string,
  ): Promise<Response> {
    const isStream = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
    const timeout = isStream || key === undefined ? [] : [AbortSignal.timeout(this.#patience.requestMs)];
    try {
      const response = await fetch(address, {
        method,
        headers: {
          ...(key !== undefined && { "api-key": key }),
          ...(typeof body === "string" && { "content-type": "application/json" }),
          ...headers,
        },
        signal: AbortSignal.any([...timeout, this.#signal]),
        ...(body !== undefined && { body: body as FetchBody }),
        ...(isStream && { duplex: "half" }),
      });
      if (response.ok) return response;
      const problem = `${method} ${new URL(address).pathname} was answered ${response.status}`;
      const { status } = response;
      const text = await response.text();
      const error = errorIn(text);
      throw new ServerProblem(`${problem}: ${error?.["message"] ?? text.slice(0, 300)}`, {
        ...{ mayBeDone: status >= 500, status },
        ...(error && { error }),
      });
    } catch (problem) {
      if (this.#signal.aborted || problem instanceof ServerProblem) throw problem;
      throw this.#lost(problem);
    }
  }

  #lost(problem: unknown): NoResponse {
    return new NoResponse(`${this.server} does not respond: ${causeOf(problem)}`, { mayBeDone: true });
  }
}

function errorIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return (parseJson(text) as { error?: Readonly<Record<string, unknown>> }).error;
  } catch {
    return undefined;
  }
}

function causeOf(problem: unknown): string {
  const error = problem as Error & { cause?: { code?: string; message?: string } };
  return error.cause?.code ?? error.cause?.message ?? error.message;
}

// The importer's side of the public API: login, assets and series by name, points; with bounded retries.
import { setTimeout as pause } from "node:timers/promises";
import { parseJson } from "../lib/json.ts";
import { limits } from "../limits.ts";

export interface FoundSeries {
  readonly name: string;
  readonly isString: boolean;
}

export interface NewSeries {
  readonly name: string;
  readonly unit?: string;
  readonly description?: string;
  readonly isString: boolean;
  readonly isStep: boolean;
  readonly assetId?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

interface FoundAsset {
  readonly id: number;
  readonly name: string;
  readonly parentId?: number;
}

/** The server refused or cannot be reached; the message says which and why. */
export class ServerProblem extends Error {}

export class Api {
  readonly #server: string;
  readonly #key: string;
  readonly #signal: AbortSignal;
  #project = "";

  constructor(server: string, key: string, signal: AbortSignal) {
    this.#server = server;
    this.#key = key;
    this.#signal = signal;
  }

  get project(): string {
    return this.#project;
  }

  /** Learns the key's project; every further call is for that one. Tries once: nothing is begun yet. */
  async login(): Promise<void> {
    const outcome = await this.#try("GET", "/login/status");
    if (!("answer" in outcome)) throw new ServerProblem(outcome.problem);
    const { data } = outcome.answer as { data: { loggedIn: boolean; project: string } };
    if (!data.loggedIn) throw new ServerProblem(`${this.#server} does not know this API key`);
    this.#project = data.project;
  }

  /** Those of `names` that exist. */
  async findSeries(names: readonly string[]): Promise<Map<string, FoundSeries>> {
    const wanted = new Set(names);
    const found = new Map<string, FoundSeries>();
    const query = { q: commonPrefix(names), limit: String(limits.listItemsMax) };
    for await (const one of this.#pages<FoundSeries>("timeseries", query))
      if (wanted.has(one.name)) found.set(one.name, one);
    return found;
  }

  async createSeries(series: readonly NewSeries[]): Promise<void> {
    for (let at = 0; at < series.length; at += limits.importItemsPerRequest) {
      const items = series.slice(at, at + limits.importItemsPerRequest);
      await this.#call("POST", this.#path("timeseries"), JSON.stringify({ items }));
    }
  }

  /** The asset of that name under a parent (absent: a root); refuses to choose among several. */
  async findAsset(name: string, depth: number, parentId?: number): Promise<number | undefined> {
    const query = { name, depth: String(depth), limit: String(limits.listItemsMax) };
    const found: number[] = [];
    for await (const one of this.#pages<FoundAsset>("assets", query))
      if (one.name === name && one.parentId === parentId) found.push(one.id);
    if (found.length > 1)
      throw new ServerProblem(
        `${found.length} assets are named ${name} there; give the id instead of the path`,
      );
    return found[0];
  }

  async createAsset(name: string, parentId?: number): Promise<number> {
    const items = [{ name, ...(parentId !== undefined && { parentId }) }];
    const answer = await this.#call("POST", this.#path("assets"), JSON.stringify({ items }));
    const created = (answer as { data: { items: { id: number }[] } }).data.items[0];
    if (!created) throw new ServerProblem(`The server did not say which asset it made of ${name}`);
    return created.id;
  }

  /** `body` is the text of a multi-series insert; resolves when the server has it on disk. */
  async insertPoints(body: string): Promise<void> {
    await this.#call("POST", this.#path("timeseries/data"), body);
  }

  #path(rest: string): string {
    return `/api/0.5/projects/${encodeURIComponent(this.#project)}/${rest}`;
  }

  async *#pages<Item>(resource: string, query: Readonly<Record<string, string>>): AsyncGenerator<Item> {
    let cursor: string | undefined;
    do {
      const asked = new URLSearchParams({ ...query, ...(cursor !== undefined && { cursor }) });
      const { data } = (await this.#call("GET", `${this.#path(resource)}?${asked}`)) as {
        data: { items: Item[]; nextCursor?: string };
      };
      yield* data.items;
      cursor = data.nextCursor;
    } while (cursor);
  }

  /** Asks until there is an answer: tries again after 429, 5xx and a broken connection, longer each time. */
  async #call(method: string, path: string, body?: string): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#try(method, path, body);
      if ("answer" in outcome) return outcome.answer;
      if (!outcome.again || attempt === limits.importRetriesMax) throw new ServerProblem(outcome.problem);
      const waitMs = Math.min(limits.importRetryWaitMsMax, 250 * 2 ** attempt);
      await pause(waitMs * (0.5 + Math.random() / 2), undefined, { signal: this.#signal });
    }
  }

  async #try(
    method: string,
    path: string,
    body?: string,
  ): Promise<{ answer: unknown } | { problem: string; again: boolean }> {
    const headers = {
      "api-key": this.#key,
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    try {
      const timeout = AbortSignal.timeout(limits.requestMsMax);
      const signal = AbortSignal.any([timeout, this.#signal]);
      const response = await fetch(this.#server + path, {
        method,
        headers,
        signal,
        ...(body !== undefined && { body }),
      });
      const text = await response.text();
      if (response.ok) return { answer: parseJson(text) };
      const again = response.status === 429 || response.status >= 500;
      return { problem: `${method} ${path} was answered ${response.status}: ${messageIn(text)}`, again };
    } catch (problem) {
      if (this.#signal.aborted) throw problem;
      return { problem: `${this.#server} does not answer: ${causeOf(problem)}`, again: true };
    }
  }
}

function messageIn(text: string): string {
  try {
    return (parseJson(text) as { error: { message: string } }).error.message;
  } catch {
    return text.slice(0, 300);
  }
}

function causeOf(problem: unknown): string {
  const error = problem as Error & { cause?: { code?: string; message?: string } };
  return error.cause?.code ?? error.cause?.message ?? error.message;
}

/** The longest text that every name begins with. */
function commonPrefix(names: readonly string[]): string {
  const [first = "", ...others] = names;
  let length = first.length;
  for (const name of others) while (!name.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

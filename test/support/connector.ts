// A connector in a process of its own, and the server that it writes to, for tests.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "./folder.ts";
import { type RunningProcess, runMillrace, serveMillrace } from "./process.ts";

export const adminKey = "the-key-of-the-connector-0123456789-abcdef";
type Json = Readonly<Record<string, unknown>>;

/** Fails when it is not true within these minutes. */
export async function until(
  isTrue: () => Promise<boolean> | boolean,
  what: string,
  minutes = 1,
): Promise<void> {
  const endMs = performance.now() + minutes * 60_000;
  while (!(await isTrue())) {
    if (performance.now() > endMs) assert.fail(`not within ${minutes} min: ${what}`);
    await pause(50);
  }
}

/** A server with its data, which can be killed and started again at the same address. */
export class ConnectedServer {
  readonly #data = temporaryFolder();
  readonly #more: Readonly<Record<string, string>>;
  #server: Awaited<ReturnType<typeof serveMillrace>> | undefined;
  #port = "0";

  /** A variable CONNECTOR_KEY has its key. */
  constructor(more: Readonly<Record<string, string>> = {}) {
    this.#more = more;
  }

  async start(): Promise<void> {
    const settings = {
      ...{ MILLRACE_ADMIN_KEY: adminKey, MILLRACE_DATA: this.#data, MILLRACE_PORT: this.#port },
      ...{ CONNECTOR_KEY: adminKey, ...this.#more },
    };
    this.#server = await serveMillrace(settings, temporaryFolder());
    this.#port = new URL(this.baseUrl).port;
  }

  async kill(): Promise<void> {
    this.#server!.child.kill("SIGKILL");
    await this.#server!.ended;
  }

  /** Ends it in order; returns its status. */
  async stop(): Promise<number | null> {
    this.#server!.child.kill("SIGTERM");
    return (await this.#server!.ended).status;
  }

  /** Its log so far. */
  errors(): string {
    return this.#server!.errors();
  }

  get baseUrl(): string {
    return this.#server!.baseUrl;
  }

  /** The items of a response; fails for a refusal. */
  async items(method: string, path: string, body?: object): Promise<Json[]> {
    return (await this.page(`/api/0.6/projects/default/${path}`, method, body)).items;
  }

  async page(path: string, method = "GET", body?: object): Promise<{ items: Json[]; nextCursor?: string }> {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: { "api-key": adminKey, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as {
      data?: { items: Json[]; nextCursor?: string };
      error?: Json;
    };
    assert.equal(response.status, 200, JSON.stringify(error));
    return data!;
  }

  /** The number of points of a series; 0 for one that does not exist. */
  async countOf(name: string): Promise<number> {
    const found = await this.items("GET", `timeseries?name=${encodeURIComponent(name)}`);
    if (found.length === 0) return 0;
    const query = "aggregates=count&granularity=365d&start=0&limit=1000";
    const [item] = await this.items("GET", `timeseries/data/${encodeURIComponent(name)}?${query}`);
    return (item!["datapoints"] as { count: number }[]).reduce((sum, { count }) => sum + count, 0);
  }

  /** A configuration file; series have the name of the connector and a slash before theirs. */
  configured(name: string, source: Json, buffer: Json = {}): string {
    const file = join(temporaryFolder(), "plant.yaml");
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the connector replaces it.
    const destination = { server: this.baseUrl, key: "${MILLRACE_KEY}", prefix: `${name}/` };
    writeFileSync(file, JSON.stringify({ version: 1, name, buffer, source, destination }));
    return file;
  }
}

export const connect = (file: string, ...words: string[]): RunningProcess =>
  connectWithin([], file, ...words);

/** As `connect`, as the last command that `within` runs. */
export const connectWithin = (within: readonly string[], file: string, ...words: string[]): RunningProcess =>
  runMillrace(["connect", file, ...words], { MILLRACE_KEY: adminKey }, temporaryFolder(), within);

/** Ends the connector as Control-C does; returns its output. */
export async function stopped(connector: RunningProcess): Promise<string> {
  connector.child.kill("SIGINT");
  const { status, output, errors } = await connector.ended;
  assert.equal(status, 0, output + errors);
  return output;
}

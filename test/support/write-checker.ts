// Clients that write through one address, record the acknowledged writes, and then look for them on any
// server.
//
// Each client changes records of its own, one request after another. So the expected state of each is known:
// that of the last acknowledged change, or of one that was not acknowledged after it.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** The states that a record may have; undefined is absent. */
type Possible<Value> = ReadonlySet<Value | undefined>;

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly json: { readonly data?: unknown } | undefined;
}

export interface Access {
  readonly baseUrl: string;
  readonly key: string;
}

/** After this a client gives up a request, which then counts as one without a response. */
const requestMsMax = 60_000;
const afterRefusalMs = 100;
const lookUpAttemptsMax = 60;

/** The kinds of requests whose interruptions are measured. */
export const kinds = ["points written", "points read", "records written", "records read", "files"] as const;
export type Kind = (typeof kinds)[number];

export class WriteChecker {
  readonly #access: Access;
  readonly #name: string;
  readonly #betweenMs: number;
  readonly #ending = new AbortController();
  readonly #clients: Promise<void>[] = [];
  readonly #logs: { readonly kind: Kind; readonly successes: number[] }[] = [];
  readonly #points = new Map<string, Ledger<number>>();
  readonly #assets = new Ledger<true>();
  readonly #assetIds = new Map<string, number>();
  readonly #files = new Ledger<string>();
  readonly #fileIds = new Map<string, number>();
  /** Responses that no client should get. */
  readonly violations: string[] = [];
  readonly refusals: Record<Kind, number> = {
    ...{ "points written": 0, "points read": 0, "records written": 0, "records read": 0, files: 0 },
  };

  /** Each client waits `betweenMs` after a request. */
  constructor(access: Access, name: string, betweenMs = 25) {
    this.#access = access;
    this.#name = name;
    this.#betweenMs = betweenMs;
  }

  get acknowledged(): Readonly<Record<string, number>> {
    const points = [...this.#points.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0);
    return { points, assets: this.#assets.acknowledged, files: this.#files.acknowledged };
  }

  async start(): Promise<void> {
    const names = [0, 1].map((client) => `${this.#name} ${client}`);
    const made = await this.#call("POST", "/timeseries", { items: names.map((name) => ({ name })) });
    assert.equal(made.status, 200, made.text || this.violations.join());
    for (const name of names) {
      const ledger = new Ledger<number>();
      this.#points.set(name, ledger);
      this.#run("points written", (turn) => this.#writePoint(name, ledger, turn));
      this.#run("points read", () => this.#readLatest(name, ledger));
    }
    this.#run("records written", (turn) => this.#writeAsset(turn));
    this.#run("records read", () => this.#readAsset());
    this.#run("files", (turn) => this.#writeFile(turn));
  }

  /** Ends the clients after their requests. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#clients);
  }

  /** The longest time in seconds that a client had no success between these times, for each kind. */
  interruptions(fromMs: number, toMs: number): Readonly<Record<Kind, number>> {
    const longest = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
    for (const { kind, successes } of this.#logs) {
      const inside = successes.filter((timeMs) => timeMs > fromMs && timeMs < toMs);
      const times = [fromMs, ...inside, toMs];
      for (let at = 1; at < times.length; at++)
        longest[kind] = Math.max(longest[kind], (times[at]! - times[at - 1]!) / 1000);
    }
    return longest;
  }

  /** Whether each client of the kind had a success of a request that began after this time. */
  servedSince(kind: Kind, fromMs: number): boolean {
    const logs = this.#logs.filter((one) => one.kind === kind);
    // The first success may be that of an earlier request.
    return logs.every(({ successes }) => successes.filter((timeMs) => timeMs > fromMs).length > 1);
  }

  /** Lost and repeated records, and deleted ones that came back, on the server at this address. */
  async findings(baseUrl: string): Promise<string[]> {
    const at = { ...this.#access, baseUrl };
    const found = await Promise.all([
      ...[...this.#points].map(([name, ledger]) => pointFindings(at, name, ledger)),
      this.#assetFindings(at),
      this.#fileFindings(at),
    ]);
    return found.flat().map((one) => `${one} (${baseUrl})`);
  }

  /** Repeats a turn; the turn returns whether it succeeded. */
  #run(kind: Kind, takeTurn: (turn: number) => Promise<boolean>): void {
    const successes: number[] = [];
    this.#logs.push({ kind, successes });
    const work = async () => {
      for (let turn = 0; !this.#ending.signal.aborted; turn++) {
        const isDone = await takeTurn(turn);
        if (isDone) successes.push(performance.now());
        else this.refusals[kind]++;
        await pause(isDone ? this.#betweenMs : afterRefusalMs);
      }
    };
    this.#clients.push(work());
  }

  async #writePoint(series: string, ledger: Ledger<number>, turn: number): Promise<boolean> {
    const earlier = turn % 5 === 4 ? ledger.settledKey((key) => key !== ledger.newestKey) : undefined;
    const path = `/timeseries/data/${encodeURIComponent(series)}`;
    if (earlier !== undefined && turn % 2 === 0)
      return ledger.change(earlier, undefined, async () =>
        this.#isDone(await this.#call("DELETE", `${path}/deletesingle?timestamp=${earlier}`)),
      );
    const timestamp = Number(earlier ?? turn);
    return ledger.change(String(timestamp), turn, async () =>
      this.#isDone(await this.#call("POST", path, { items: [{ timestamp, value: turn }] })),
    );
  }

  /** The latest point must be as new as that of the last acknowledged write before the request. */
  async #readLatest(series: string, ledger: Ledger<number>): Promise<boolean> {
    const newest = ledger.newestKey;
    const reply = await this.#call("GET", `/timeseries/latest/${encodeURIComponent(series)}`);
    if (!this.#isDone(reply)) return false;
    const [latest] = itemsOf<{ timestamp: number }>(reply);
    if (newest !== undefined && (latest?.timestamp ?? -1) < Number(newest))
      this.violations.push(`latest of ${series}: ${latest?.timestamp} after ${newest} was acknowledged`);
    return true;
  }

  async #writeAsset(turn: number): Promise<boolean> {
    const earlier =
      turn % 4 === 3 ? this.#assets.settledKey((name) => name !== this.#assets.newestKey) : undefined;
    if (earlier !== undefined) {
      const items = [this.#assetIds.get(earlier)];
      return this.#assets.change(earlier, undefined, async () =>
        this.#isDone(await this.#call("POST", "/assets/delete", { items })),
      );
    }
    const name = `${this.#name} ${turn}`;
    return this.#assets.change(name, true, async () => {
      const reply = await this.#call("POST", "/assets", { items: [{ name }] });
      if (!this.#isDone(reply)) return false;
      this.#assetIds.set(name, itemsOf<{ id: number }>(reply)[0]!.id);
      return true;
    });
  }

  /** The asset that was acknowledged last must be there. */
  async #readAsset(): Promise<boolean> {
    const id = this.#assetIds.get(this.#assets.newestKey ?? "");
    const reply = await this.#call("GET", id === undefined ? "/assets?limit=1" : `/assets/${id}`);
    return this.#isDone(reply);
  }

  async #writeFile(turn: number): Promise<boolean> {
    const earlier = turn % 4 === 3 ? this.#files.settledKey(() => true) : undefined;
    if (earlier !== undefined)
      return this.#files.change(earlier, undefined, async () => {
        const items = [this.#fileIds.get(earlier)];
        return this.#isDone(await this.#call("POST", "/files/delete", { items }));
      });
    const fileName = `${this.#name} ${turn}`;
    return this.#files.change(fileName, fileName, async () => {
      const begun = await this.#call("POST", "/files/initupload", { fileName });
      if (!this.#isDone(begun)) return false;
      const { uploadURL, fileId } = begun.json!.data as { uploadURL: string; fileId: number };
      this.#fileIds.set(fileName, fileId);
      return this.#isDone(await call(uploadURL, { method: "PUT", body: fileName }, this.violations));
    });
  }

  async #assetFindings(at: Access): Promise<string[]> {
    const counts = new Map<string, number>();
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const query = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const reply = await lookUp(at, `/assets?limit=1000${query}`);
      assert.equal(reply.status, 200, reply.text);
      for (const { name } of itemsOf<{ name: string }>(reply)) counts.set(name, (counts.get(name) ?? 0) + 1);
      cursor = (reply.json!.data as { nextCursor?: string }).nextCursor;
    }
    return [...this.#assets.expected].flatMap(([name, possible]) => {
      const count = counts.get(name) ?? 0;
      if (count > 1) return [`asset ${name} is there ${count} times`];
      return problemOf(`asset ${name}`, possible, count === 1 ? true : undefined);
    });
  }

  async #fileFindings(at: Access): Promise<string[]> {
    const found: string[] = [];
    for (const [name, possible] of this.#files.expected) {
      const id = this.#fileIds.get(name);
      if (id === undefined) continue;
      const link = await lookUp(at, `/files/${id}/downloadlink`);
      const url = (link.json?.data ?? "") as string;
      const bytes = url.startsWith("http") ? await download(at, url) : undefined;
      found.push(...problemOf(`file ${name}`, possible, bytes));
    }
    return found;
  }

  #call(method: string, path: string, body?: unknown): Promise<Reply> {
    return callApi(this.#access, method, path, body, this.violations);
  }

  /** A refusal is a 503 with `Retry-After`; `call` reports any other one. */
  readonly #isDone = ({ status }: Reply): boolean => status === 200;
}

/** Of each key the states that it may have. */
class Ledger<Value> {
  readonly #possible = new Map<string, Possible<Value>>();
  acknowledged = 0;
  /** The key whose creation was acknowledged last. */
  newestKey: string | undefined;

  get expected(): ReadonlyMap<string, Possible<Value>> {
    return this.#possible;
  }

  /** A key that has a value for certain. */
  settledKey(isWanted: (key: string) => boolean): string | undefined {
    const keys = [...this.#possible].filter(
      ([key, possible]) => possible.size === 1 && !possible.has(undefined) && isWanted(key),
    );
    return keys[Math.floor(Math.random() * keys.length)]?.[0];
  }

  async change(key: string, value: Value | undefined, request: () => Promise<boolean>): Promise<boolean> {
    const before = this.#possible.get(key);
    this.#possible.set(key, new Set([...(before ?? [undefined]), value]));
    if (!(await request())) return false;
    this.#possible.set(key, new Set([value]));
    this.acknowledged++;
    if (before === undefined) this.newestKey = key;
    return true;
  }
}

function problemOf<Value>(what: string, possible: Possible<Value>, found: Value | undefined): string[] {
  if (possible.has(found)) return [];
  if (found === undefined) return [`${what} is lost`];
  return possible.has(undefined) && possible.size === 1
    ? [`${what} was deleted, and is there`]
    : [`${what} is ${found} instead of ${[...possible].join(" or ")}`];
}

/** A request of the look-up, which is repeated as `Retry-After` says. */
async function lookUp(at: Access, path: string): Promise<Reply> {
  for (let attempts = 1; ; attempts++) {
    const reply = await callApi(at, "GET", path);
    if (reply.status !== 503 || attempts >= lookUpAttemptsMax) return reply;
    await pause(1_000);
  }
}

async function pointFindings(at: Access, series: string, ledger: Ledger<number>): Promise<string[]> {
  const values = new Map<string, number>();
  const found: string[] = [];
  for (let start = 0; ; ) {
    const path = `/timeseries/data/${encodeURIComponent(series)}?start=${start}&end=9999999&limit=10000`;
    const reply = await lookUp(at, path);
    assert.equal(reply.status, 200, reply.text);
    const [item] = itemsOf<{ datapoints: { timestamp: number; value: number }[] }>(reply);
    const points = item?.datapoints ?? [];
    for (const { timestamp, value } of points) {
      if (values.has(String(timestamp))) found.push(`point ${timestamp} of ${series} is there twice`);
      values.set(String(timestamp), value);
    }
    if (points.length < 10_000) break;
    start = points.at(-1)!.timestamp + 1;
  }
  for (const [key, possible] of ledger.expected)
    found.push(...problemOf(`point ${key} of ${series}`, possible, values.get(key)));
  return found;
}

const itemsOf = <Item>({ json }: Reply): readonly Item[] =>
  ((json?.data as { items?: readonly Item[] } | undefined)?.items ?? []) as readonly Item[];

/** The bytes of a link, from this server. */
const download = async ({ baseUrl }: Access, link: string): Promise<string> =>
  (await fetch(baseUrl + new URL(link).pathname)).text();

function callApi(
  { baseUrl, key }: Access,
  ...[method, path, body, violations]: [string, string, unknown?, string[]?]
): Promise<Reply> {
  const request = {
    method,
    headers: { "api-key": key, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  return call(`${baseUrl}/api/0.5/projects/default${path}`, request, violations);
}

/** Reports responses that are neither a success nor a 503 with `Retry-After`. */
async function call(url: string, request: RequestInit, violations: string[] = []): Promise<Reply> {
  const what = `${request.method} ${new URL(url).pathname.slice(0, 80)}`;
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(requestMsMax) });
    const text = await response.text();
    const { status, headers } = response;
    const isClear = status === 200 || (status === 503 && Number(headers.get("retry-after")) > 0);
    if (!isClear) violations.push(`${what}: ${status} ${text.slice(0, 300)}`);
    const json = text.startsWith("{") ? (JSON.parse(text) as Reply["json"]) : undefined;
    return { status, text, json };
  } catch (problem) {
    violations.push(`${what}: ${(problem as Error).message} ${(problem as Error).cause ?? ""}`);
    return { status: 0, text: "", json: undefined };
  }
}

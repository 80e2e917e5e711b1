// Requests to a server that may be away for a while. A response that no client should get is a finding.
import { administratorKey } from "../systems/millrace.ts";

export const project = "/api/0.6/projects/default";

/** After this a request counts as one without a response. */
const requestMsMax = 60_000;

/** The response of a success. Undefined means that the server was away, or busy as it may be. */
export type Reply = string | undefined;

export class SoakClient {
  readonly #baseUrl: string;
  readonly #times = new Map<string, number[]>();
  /** Responses that no client should get, and data that differs from the written data. */
  readonly findings: string[] = [];
  requests = 0;
  away = 0;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** Its time counts for this kind of request, if it succeeds. */
  async send(kind: string, method: "GET" | "POST", path: string, body?: string): Promise<Reply> {
    this.requests++;
    const headers = { "api-key": administratorKey, "content-type": "application/json" };
    const startedMs = performance.now();
    let status: number;
    let text: string;
    let canRepeat: boolean;
    try {
      const signal = AbortSignal.timeout(requestMsMax);
      const request = { method, headers, signal, ...(body !== undefined && { body }) };
      const response = await fetch(this.#baseUrl + path, request);
      canRepeat = response.headers.has("retry-after");
      [status, text] = [response.status, await response.text()];
    } catch (problem) {
      this.away++;
      if ((problem as Error).name === "TimeoutError") this.findings.push(`${kind}: no response in a minute`);
      return undefined;
    }
    if (status === 503 && canRepeat) this.away++;
    else if (status !== 200) this.findings.push(`${kind}: ${status} ${text.slice(0, 300)}`);
    if (status !== 200) return undefined;
    const times = this.#times.get(kind);
    if (times) times.push(performance.now() - startedMs);
    else this.#times.set(kind, [performance.now() - startedMs]);
    return text;
  }

  /** Adds a finding if the two differ. */
  compare(what: string, found: unknown, expected: unknown): void {
    const [a = "", b = ""] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a === b) return;
    let same = 0;
    while (a[same] === b[same]) same++;
    const around = (text: string) => text.slice(Math.max(same - 50, 0), same + 100);
    this.findings.push(`${what}, at character ${same}: ${around(a)} instead of ${around(b)}`);
  }

  /** The times in ms of the successes of each kind since the last call. */
  takeTimes(): ReadonlyMap<string, readonly number[]> {
    const taken = new Map(this.#times);
    this.#times.clear();
    return taken;
  }
}

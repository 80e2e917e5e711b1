// The client of a Millrace server: requests with retries, series that are created when they are missing, and
// whole results of reads.

const { setTimeout: pause } = require("node:timers/promises");

const requestMsMax = 60_000;
const retryWaitMsMax = 30_000;
const pageSize = 10_000;

/** The server refused a request; `error` is the member `error` of its response. */
class Refusal extends Error {
  constructor(status, error, text) {
    super(error?.message ?? `the server responded ${status}: ${text.slice(0, 300)}`);
    this.status = status;
    this.error = error ?? {};
  }
}

class MillraceClient {
  #address;
  #project;
  #key;

  constructor({ address, project, key }) {
    this.#address = address.replace(/\/+$/, "");
    this.#project = project;
    this.#key = key;
  }

  /** Sends a request once. Throws a `Refusal` for a status of 400 and above. */
  async send(method, path, { body, query, signal } = {}) {
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    const root = `${this.#address}/api/0.6/projects/${encodeURIComponent(this.#project)}`;
    const timeout = AbortSignal.timeout(requestMsMax);
    const response = await fetch(`${root}${path}${search}`, {
      method,
      headers: { "api-key": this.#key, ...(body && { "content-type": "application/json" }) },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = parsed(text);
    if (!response.ok) throw new Refusal(response.status, json?.error, text);
    return json;
  }

  /**
   * Repeats a request that changes nothing when it is repeated, until the server responds or the signal.
   * `onWait` receives the reason of a wait.
   */
  async sendUntilDone(method, path, options, onWait) {
    for (let failed = 0; ; failed++) {
      try {
        return await this.send(method, path, options);
      } catch (problem) {
        const isFinal = problem instanceof Refusal && isAboutRequest(problem);
        if (isFinal || options.signal?.aborted) throw problem;
        onWait(problem instanceof Refusal ? problem.message : `no connection: ${reasonOf(problem)}`);
        await pause(Math.min(retryWaitMsMax, 500 * 2 ** failed), undefined, { signal: options.signal });
      }
    }
  }

  /** Writes points, an array for each name of a series. Creates missing series if `create` is set. */
  async insert(points, { create, signal, onWait }) {
    const items = [...points].map(([name, datapoints]) => ({ name, datapoints }));
    const request = { body: { items }, signal };
    try {
      await this.sendUntilDone("POST", "/timeseries/data", request, onWait);
    } catch (problem) {
      const missing =
        problem instanceof Refusal && problem.status === 404 ? problem.error.notFound : undefined;
      if (!create || missing === undefined) throw problem;
      await this.#createSeries(missing, points, { signal, onWait });
      await this.sendUntilDone("POST", "/timeseries/data", request, onWait);
    }
  }

  async #createSeries(names, points, { signal, onWait }) {
    const items = names.map((name) => ({ name, isString: typeof points.get(name)[0].value === "string" }));
    try {
      await this.sendUntilDone("POST", "/timeseries", { body: { items }, signal }, onWait);
    } catch (problem) {
      // Another client has created them meanwhile.
      if (!(problem instanceof Refusal && problem.status === 409)) throw problem;
    }
  }

  async latest(name) {
    const { data } = await this.send("POST", "/timeseries/latest", { body: { items: [{ name }] } });
    return data.items[0]?.datapoints?.[0];
  }

  /** All points of a range, in requests of `pageSize` points; at most `limit` if it is given. */
  async points(name, { start, end, limit = Number.POSITIVE_INFINITY }) {
    const found = [];
    for (let from = start; found.length < limit; ) {
      const page = await this.#page(name, { start: from, end }, Math.min(pageSize, limit - found.length));
      found.push(...page.points);
      if (page.points.length < page.size) break;
      from = page.points.at(-1).timestamp + 1;
    }
    return found;
  }

  /** Aggregates of a range: at most `pageSize` buckets in one request. */
  async aggregates(name, { start, end, aggregates, granularity }) {
    const found = [];
    for (let from = start; ; ) {
      const page = await this.#page(name, { start: from, end, aggregates, granularity }, pageSize);
      // The next request begins in the last bucket, which it returns again.
      const lastMs = found.at(-1)?.timestamp ?? Number.NEGATIVE_INFINITY;
      found.push(...page.points.filter(({ timestamp }) => timestamp > lastMs));
      if (page.points.length < page.size) return found;
      from = page.points.at(-1).timestamp + 1;
    }
  }

  async #page(name, range, size) {
    const query = { ...definedOf(range), limit: String(size) };
    const { data } = await this.send("GET", `/timeseries/data/${encodeURIComponent(name)}`, { query });
    return { points: data.items[0]?.datapoints ?? [], size };
  }

  /** Creates events. Those with the `source` and `sourceId` of an event that exists are left as they are. */
  async createEvents(events, { signal, onWait }) {
    for (let left = events; left.length > 0; ) {
      try {
        return await this.sendUntilDone("POST", "/events", { body: { items: left }, signal }, onWait);
      } catch (problem) {
        const isThere = problem instanceof Refusal && problem.status === 409;
        const duplicates = isThere ? (problem.error.duplicates ?? []) : [];
        const rest = left.filter((one) => !duplicates.some((other) => isSameEvent(one, other)));
        if (rest.length === left.length) throw problem;
        left = rest;
      }
    }
  }

  /** All events that the filter finds, page by page; at most `limit` if it is given. */
  async events(filter, limit = Number.POSITIVE_INFINITY) {
    const found = [];
    for (let cursor; found.length < limit; ) {
      const size = Math.min(1_000, limit - found.length);
      const query = { ...definedOf(filter), limit: String(size), ...(cursor && { cursor }) };
      const { data } = await this.send("GET", "/events", { query });
      found.push(...data.items);
      cursor = data.nextCursor;
      if (!cursor) break;
    }
    return found;
  }
}

/** Whether another attempt with the same content would be refused as well. */
const isAboutRequest = ({ status, error }) => error.code === status && status < 500 && status !== 429;

const isSameEvent = (one, other) => one.sourceId !== undefined && one.sourceId === other.sourceId;

const definedOf = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));

const reasonOf = ({ cause, message }) => cause?.code ?? cause?.message ?? message;

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

module.exports = { MillraceClient };

// Sends the buffer to the server, oldest records first, and removes the acknowledged records.
import { setTimeout as pause } from "node:timers/promises";
import { ServerProblem } from "../client/connection.ts";
import { parseJson } from "../lib/json.ts";
import { limits } from "../limits.ts";
import type { Destination, SeriesPoints } from "./destination.ts";
import { type Drop, type Entry, type ForwardBuffer, rangeOf } from "./forward-buffer.ts";
import type { Health } from "./health.ts";
import type { SourceEvent, SourceRow } from "./records.ts";
import { numbersBySeries, stringsBySeries } from "./series-points.ts";

export interface ForwarderOptions {
  readonly buffer: ForwardBuffer;
  readonly destination: Destination;
  readonly health: Health;
  /** Runs before each attempt. */
  readonly prepare: () => Promise<void>;
  /** Ends the sending; the other records stay in the buffer. */
  readonly signal: AbortSignal;
}

/** Sends `items` whole, or in parts if the server refuses it. */
interface Sending<Item> {
  readonly items: readonly Item[];
  readonly send: (items: readonly Item[]) => Promise<void>;
  readonly countOf: (item: Item) => number;
  readonly nameOf: (item: Item) => string;
}

/** The newest point that the server has. */
export interface NewestPoint {
  readonly timeMs: number;
  /** From its time until the server had it; 0 for a time in the future. */
  readonly lagMs: number;
}

const why = {
  full: "the buffer was full",
  age: "they were older than the buffer keeps",
  memory: "the disk could not keep up",
  stopped: "the connector was stopped while the buffer was full",
} as const;

export class Forwarder {
  readonly #options: ForwarderOptions;
  #wake: (() => void) | undefined;
  #isStored = true;
  #newest: NewestPoint | undefined;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  get newest(): NewestPoint | undefined {
    return this.#newest;
  }

  /** There may be new entries. */
  stored(): void {
    this.#isStored = true;
    this.#wake?.();
  }

  /** Runs until the signal. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    signal.addEventListener("abort", () => this.#wake?.());
    for (let failed = 0; !signal.aborted; ) {
      this.#isStored = false;
      try {
        await this.#options.prepare();
        const isIdle = !(await this.#sendOldest());
        failed = 0;
        if (isIdle) await this.#untilStored();
      } catch (problem) {
        if (signal.aborted) return;
        const place = problem instanceof ServerProblem ? "server" : "sending";
        this.#options.health.problem(place, (problem as Error).message);
        const waitMs = Math.min(limits.connectorRetryWaitMsMax, 500 * 2 ** failed);
        failed += 1;
        await pause(waitMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  #untilStored(): Promise<void> {
    if (this.#isStored || this.#options.signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    return promise;
  }

  /** Whether there was something to send. */
  async #sendOldest(): Promise<boolean> {
    const { buffer, health } = this.#options;
    const entries = buffer.take(limits.connectorPointsPerRequest);
    if (entries.length === 0) {
      await this.#tellDrops();
      return false;
    }
    try {
      buffer.remove(entries, await this.#send(entries));
    } catch (problem) {
      buffer.putBack();
      throw problem;
    }
    health.solved("server");
    health.solved("sending");
    await this.#tellDrops();
    return true;
  }

  /** The number of records that the server refused. */
  async #send(entries: readonly Entry[]): Promise<number> {
    const { destination } = this.#options;
    switch (entries[0]!.kind) {
      case "numbers":
      case "strings":
        return await this.#sendPoints(this.#pointsOf(entries));
      case "events":
        return await this.#sendInParts({
          items: itemsOf<SourceEvent>(entries),
          send: (items) => destination.createEvents(items),
          countOf: () => 1,
          nameOf: ({ sourceId }) => `the event ${sourceId}`,
        });
      case "rows":
        return await this.#sendInParts({
          items: itemsOf<SourceRow>(entries),
          send: (items) => destination.insertRows(items),
          countOf: () => 1,
          nameOf: ({ database, table, key }) => `the row ${key} of ${database}.${table}`,
        });
    }
  }

  async #sendPoints({ batch, newestMs }: { batch: SeriesPoints[]; newestMs: number }): Promise<number> {
    const { destination } = this.#options;
    const refused = await this.#sendInParts({
      items: batch,
      send: (items) => destination.insert(items),
      countOf: ({ times }) => times.length,
      nameOf: ({ series, times }) => `${times.length} points of ${destination.nameOf(series)}`,
    });
    if (newestMs >= (this.#newest?.timeMs ?? newestMs))
      this.#newest = { timeMs: newestMs, lagMs: Math.max(0, Date.now() - newestMs) };
    return refused;
  }

  /** Halves a refused batch until it is one item, which is given up. */
  async #sendInParts<Item>(sending: Sending<Item>): Promise<number> {
    const { items, send, countOf, nameOf } = sending;
    if (items.length === 0) return 0;
    try {
      await send(items);
      return 0;
    } catch (problem) {
      if (!(problem instanceof ServerProblem)) throw problem;
      const isRefused = isAboutRecords(problem);
      if (!isRefused && !(isTooLarge(problem) && items.length > 1)) throw problem;
      if (items.length > 1) {
        const half = items.length >> 1;
        const first = await this.#sendInParts({ ...sending, items: items.slice(0, half) });
        return first + (await this.#sendInParts({ ...sending, items: items.slice(half) }));
      }
      this.#options.health.note("records", `The server refused ${nameOf(items[0]!)}: ${problem.message}`);
      return countOf(items[0]!);
    }
  }

  /**
   * The points of each series in the order in which they arrived. The buffer has the last description of a
   * series. Later points of the other type may have changed it, so the type is that of the points.
   */
  #pointsOf(entries: readonly Entry[]): { batch: SeriesPoints[]; newestMs: number } {
    const { buffer } = this.#options;
    const bodies = entries.map(({ body }) => body);
    const isString = entries[0]!.kind === "strings";
    const found = isString ? stringsBySeries(bodies) : numbersBySeries(bodies);
    const batch = found.map(({ series, times, values }) => ({
      series: { ...buffer.seriesOf(series), isString },
      times,
      values,
    }));
    let newestMs = Number.NEGATIVE_INFINITY;
    for (const { times } of found) newestMs = Math.max(newestMs, rangeOf(times).toMs);
    return { batch, newestMs };
  }

  /** An event for each gap, so that people see it beside the data. */
  async #tellDrops(): Promise<void> {
    const { buffer, destination, health } = this.#options;
    if (buffer.counts.dropped === 0) return;
    const drops = buffer.finalDrops();
    if (drops.length === 0) return;
    try {
      await destination.createEvents(drops.map((drop) => eventOf(drop, buffer.instance)));
    } catch (problem) {
      if (!(problem instanceof ServerProblem)) throw problem;
      // These events wait for the next try: a key that may not write events must not slow down the records.
      health.problem("drops", `The events about dropped records were not written: ${problem.message}`);
      return;
    }
    health.solved("drops");
    buffer.removeDrops(drops);
  }
}

/**
 * Whether Millrace refuses the records themselves. Otherwise they stay in the buffer: a proxy that responds
 * with 404 while the server is updated, or a project that is gone, says nothing about them.
 */
function isAboutRecords({ status, error }: ServerProblem): boolean {
  if (error["code"] !== status) return false;
  return status === 404 ? error["notFound"] !== undefined : [400, 409, 413].includes(status!);
}

/** Also for a proxy, which may have a lower bound than Millrace. */
const isTooLarge = ({ status }: ServerProblem): boolean => status === 413;

const eventOf = ({ id, why: reason, items, fromMs, toMs }: Drop, instance: string): SourceEvent => ({
  sourceId: `${instance}:dropped:${id}`,
  ...{ type: "connector", subtype: "dropped", startTime: fromMs, endTime: toMs },
  description: `${items} records of the source were dropped, because ${why[reason]}`,
  metadata: { records: String(items), reason },
});

const itemsOf = <Item>(entries: readonly Entry[]): Item[] =>
  entries.flatMap(({ body }) => parseJson(Buffer.from(body).toString()) as Item[]);

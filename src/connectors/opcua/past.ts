// Reads the values of the time without a session, and older history back to a date.
import { setTimeout as pause } from "node:timers/promises";
import type { SourceRun } from "../source.ts";
import type { OpcUaSettings } from "./configuration.ts";
import { type HistoryRange, type HistoryRefusal, readHistory } from "./history.ts";
import type { Reception } from "./reception.ts";
import type { PlantSession } from "./session.ts";
import type { Variable } from "./variables.ts";

/** An outage that is not filled yet. */
export interface Outage {
  /** The last time at which all values had arrived; undefined at the first start. */
  readonly sinceMs: number | undefined;
  readonly ranges: readonly HistoryRange[];
}

/** Marks of the buffer, which hold over a kill. */
const marks = { alive: "opcua:alive", outage: "opcua:outage", backfilled: "opcua:backfilled" } as const;

const aliveEveryMs = 10_000;
/** How long the first session waits for the last points on the server. */
const latestMsMax = 10_000;
const backfillStepMs = 86_400_000;
/** Of the status of the server. */
const currentTime = "i=2258";
const valueAttribute = 13;
const namesShownMax = 10;

function namesOf(refusals: readonly HistoryRefusal[]): string {
  const names = refusals.slice(0, namesShownMax).map(({ variable }) => variable.series.name);
  const more = refusals.length - names.length;
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

export class Past {
  readonly #run: SourceRun;
  readonly #settings: OpcUaSettings;
  readonly #reception: Reception;
  readonly #address: string;
  #aliveMs: number | undefined;
  /** By the monotonic clock. */
  #storedAliveMs = Number.NEGATIVE_INFINITY;
  #isFirst = true;

  constructor(run: SourceRun, settings: OpcUaSettings, reception: Reception, address: string) {
    this.#run = run;
    this.#settings = settings;
    this.#reception = reception;
    this.#address = address;
    this.#aliveMs = this.#timeOf(marks.alive);
  }

  /** A message arrived. Values that were sampled before it may be on their way. */
  heard(nowMs: number): void {
    const { samplingMs, publishingMs } = this.#settings.subscribe;
    this.#aliveMs = nowMs - samplingMs - 2 * publishingMs;
    if (performance.now() - this.#storedAliveMs < aliveEveryMs) return;
    this.#storedAliveMs = performance.now();
    this.#run.intake.offer({ marks: { [marks.alive]: String(this.#aliveMs) } });
  }

  /** To be called before the subscriptions: they write newer points. */
  async beginFilling(variables: readonly Variable[]): Promise<Outage> {
    const unfilledMs = this.#timeOf(marks.outage);
    const latest = this.#isFirst && this.#settings.history.fill ? await this.#latest(variables) : [];
    this.#isFirst = false;
    const newest = latest.reduce(
      (a, b) => (b === undefined || (a !== undefined && a > b) ? a : b),
      undefined,
    );
    const lostMs = this.#aliveMs ?? newest;
    const sinceMs = unfilledMs === undefined ? lostMs : Math.min(unfilledMs, lostMs ?? unfilledMs);
    if (sinceMs === undefined || !this.#settings.history.fill) return { sinceMs, ranges: [] };
    await this.#run.intake.add({ marks: { [marks.outage]: String(sinceMs) } });
    const ranges = variables.flatMap((variable, i) => {
      const lastMs = this.#reception.lastMs(variable) ?? latest[i] ?? this.#aliveMs;
      if (!variable.hasHistory || lastMs === undefined) return [];
      return [{ variable, fromMs: Math.min(lastMs + 1, unfilledMs ?? lastMs + 1) }];
    });
    return { sinceMs, ranges };
  }

  /** Throws when the session is lost; the next session repeats it. */
  async fill(
    plant: PlantSession,
    { sinceMs, ranges }: Outage,
    variables: readonly Variable[],
  ): Promise<void> {
    if (sinceMs === undefined) return;
    const toMs = await this.#nowMs(plant);
    const { points, refusals } = await this.#read(plant, ranges, toMs);
    const unread = refusals.filter(({ isPassing }) => isPassing);
    const without = variables.length - ranges.length + refusals.length - unread.length;
    const event = {
      sourceId: `opcua:outage:${this.#address}:${sinceMs}`,
      ...{ type: "opcua", subtype: "outage", startTime: sinceMs, endTime: Math.max(sinceMs, toMs) },
      description: [
        `No values arrived from ${this.#address}. The history filled ${points} points;`,
        `${without} variables have no history, of ${unread.length} the server did not give it`,
      ].join(" "),
      metadata: {
        ...{ variables: String(variables.length), withoutHistory: String(without) },
        ...{ unread: String(unread.length) },
        ...(unread.length > 0 && { unreadSeries: namesOf(unread) }),
      },
    };
    await this.#run.intake.add({ events: [event], marks: { [marks.outage]: "" } });
    this.#run.health.tell("source", `${points} points of the history fill the outage`);
  }

  /** Reads older days, the newest first, back to the date of the configuration. */
  async backfill(plant: PlantSession, variables: readonly Variable[]): Promise<void> {
    const { backfillMs } = this.#settings.history;
    if (backfillMs === undefined) return;
    const withHistory = variables.filter(({ hasHistory }) => hasHistory);
    let toMs = this.#timeOf(marks.backfilled) ?? (await this.#nowMs(plant));
    while (toMs > backfillMs && !this.#run.signal.aborted) {
      const fromMs = Math.max(backfillMs, toMs - backfillStepMs);
      const ranges = withHistory.map((variable) => ({ variable, fromMs }));
      const { refusals } = await this.#read(plant, ranges, toMs);
      const unread = refusals.filter(({ isPassing }) => isPassing);
      // The next session begins with this day.
      if (unread.length > 0) throw new Error(`the server did not give that of ${namesOf(unread)}`);
      await this.#run.intake.add({ marks: { [marks.backfilled]: String(fromMs) } });
      toMs = fromMs;
    }
  }

  async #read(plant: PlantSession, ranges: readonly HistoryRange[], toMs: number) {
    let points = 0;
    const refusals = await readHistory(plant, {
      ...{ ranges, toMs },
      onValues: async (variable, values) => {
        points += await this.#reception.takeHistory(variable, values);
      },
    });
    for (const { variable, reason } of refusals) {
      const message = `The server has no history of ${variable.series.name}: ${reason}`;
      this.#run.health.note("source", message);
    }
    return { points, refusals };
  }

  /** Ours, or that of the server if it is later: the clock of one of them may be slow. */
  async #nowMs({ library, session }: PlantSession): Promise<number> {
    const nodeId = library.coerceNodeId(currentTime);
    const [found] = await session.read([{ nodeId, attributeId: valueAttribute }]);
    const time = found?.value?.value;
    return Math.max(Date.now(), time instanceof Date ? time.getTime() : 0);
  }

  async #latest(variables: readonly Variable[]): Promise<(number | undefined)[]> {
    const ended = new AbortController();
    const waiting = pause(latestMsMax, undefined, { signal: ended.signal }).then(() => {
      throw new Error(`no response within ${latestMsMax / 1_000} s`);
    });
    waiting.catch(() => {});
    try {
      return await Promise.race([this.#run.server.latest(variables.map(({ series }) => series)), waiting]);
    } catch (problem) {
      const message = `The last points of the server are not known: ${(problem as Error).message}`;
      this.#run.health.note("server", message);
      return [];
    } finally {
      ended.abort();
    }
  }

  #timeOf(mark: string): number | undefined {
    const text = this.#run.intake.mark(mark);
    return text ? Number(text) : undefined;
  }
}

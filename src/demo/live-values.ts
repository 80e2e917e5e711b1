// Writes the points of the plant as time passes, every second, and its events. Points missed while nothing
// ran is written more coarsely.
import { setTimeout as pause } from "node:timers/promises";
import { type Connection, ServerProblem } from "../client/connection.ts";
import { limits } from "../limits.ts";
import { type Description, readDescription } from "./description.ts";
import type { Ids } from "./ensure.ts";
import { externalIdOf, type PlantEvent } from "./events/plant-event.ts";
import { demoSeed, eventItem, insertPoints } from "./loader.ts";
import { PointMessage } from "./point-message.ts";
import { Recording } from "./recording.ts";
import { source } from "./records.ts";
import { historyResolution, lastDayResolution, liveResolution, type Value } from "./samples.ts";
import { dayMs, minuteMs } from "./simulation/conditions.ts";

const secondMs = 1000;
/** A series that has a point at every fast time. */
const clockSeries = "23-FT-1012";
const retryMs = 15_000;
const eventsEveryMs = 10 * secondMs;

export class LiveValues {
  readonly #connection: Connection;
  readonly #assets: Ids;
  /** By external id, of the events that have not ended. */
  readonly #eventIds: Map<string, number>;
  readonly #recording: Recording;
  readonly #message: PointMessage;
  /** Events that the server does not have yet. */
  readonly #begun: PlantEvent[] = [];
  /** Events whose ends the server does not have yet. */
  readonly #ended: PlantEvent[] = [];
  /** An insert that failed, or is not complete. */
  #unsent: Uint8Array<ArrayBuffer> | undefined;
  /** The time of the last points. */
  #atMs: number;

  private constructor(connection: Connection, description: Description, state: LiveState) {
    this.#connection = connection;
    this.#assets = state.assets;
    this.#eventIds = new Map(state.open.map(({ event, id }) => [externalIdOf(event), id]));
    this.#recording = state.recording;
    this.#message = new PointMessage(description.series);
    this.#atMs = state.atMs;
  }

  /** Continues after the last point that the project has. */
  static async resume(connection: Connection, endMs: number): Promise<LiveValues> {
    const description = readDescription();
    const latest = await connection.json("GET", connection.pathOf(`timeseries/latest/${clockSeries}`, "0.6"));
    const { items } = (latest as { data: { items: { timestamp: number }[] } }).data;
    const lastMs = items[0]?.timestamp ?? endMs;
    const atMs = Math.max(lastMs, startOf(Date.now()) - limits.demoDaysMax * dayMs);
    const open = await openEvents(connection);
    const history = { seed: demoSeed, endMs };
    const events = open.map(({ event }) => event);
    const recording = new Recording(description, history, { startMs: startOf(atMs), open: events });
    const assets = await idsOf(connection);
    return new LiveValues(connection, description, { assets, open, recording, atMs: startOf(atMs) });
  }

  /** Runs until a request is refused. */
  async run(): Promise<void> {
    while (true) {
      await this.#patiently(() => this.#catchUp(startOf(Date.now())));
      await pause(secondMs - (Date.now() % secondMs));
    }
  }

  /** A server that is busy, or has no disk space left, gets refused points again later. */
  async #patiently(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (problem) {
      if (!(problem instanceof ServerProblem) || !problem.mayBeDone) throw problem;
      await pause(retryMs);
    }
  }

  async #catchUp(nowMs: number): Promise<void> {
    const write = (series: number, ms: number, value: Value) => this.#message.add(series, ms, value);
    await this.#send();
    while (this.#atMs < nowMs) {
      const resolution = resolutionFor(nowMs - this.#atMs);
      const stepMs = resolution.fastMs;
      const nextMs = Math.min(nowMs, Math.floor(this.#atMs / stepMs) * stepMs + stepMs);
      this.#recording.record(nextMs, resolution, write);
      this.#atMs = nextMs;
      if (nextMs % eventsEveryMs === 0) {
        const { begun, ended } = this.#recording.events.observe(nextMs);
        this.#begun.push(...begun);
        this.#ended.push(...ended);
      }
      if (this.#message.isFull) await this.#send();
    }
    await this.#send();
  }

  async #send(): Promise<void> {
    this.#unsent ??= this.#message.points > 0 ? this.#message.take() : undefined;
    if (this.#unsent) await insertPoints(this.#connection, this.#unsent);
    this.#unsent = undefined;
    await this.#createEvents();
    await this.#endEvents();
  }

  async #createEvents(): Promise<void> {
    if (this.#begun.length === 0) return;
    const created = await this.#post(
      "events",
      this.#begun.map((event) => eventItem(event, this.#assets)),
    );
    for (const [at, { id }] of created.entries()) this.#eventIds.set(externalIdOf(this.#begun[at]!), id);
    this.#begun.length = 0;
  }

  async #endEvents(): Promise<void> {
    const changes = this.#ended.flatMap((event) => {
      const id = this.#eventIds.get(externalIdOf(event));
      return id === undefined
        ? []
        : [{ id, endTime: { set: event.endMs }, metadata: { set: event.metadata } }];
    });
    if (changes.length > 0) await this.#post("events/update", changes);
    for (const event of this.#ended) this.#eventIds.delete(externalIdOf(event));
    this.#ended.length = 0;
  }

  async #post(path: string, items: readonly object[]): Promise<readonly { readonly id: number }[]> {
    const body = JSON.stringify({ items });
    const response = await this.#connection.json("POST", this.#connection.pathOf(path, "0.6"), { body });
    return (response as { data: { items: { id: number }[] } }).data.items;
  }
}

interface LiveState {
  readonly assets: Ids;
  readonly open: readonly OpenEvent[];
  readonly recording: Recording;
  readonly atMs: number;
}

const startOf = (ms: number) => Math.floor(ms / secondMs) * secondMs;

/** The longer ago, the more coarsely. */
function resolutionFor(missedMs: number) {
  if (missedMs < minuteMs) return liveResolution;
  return missedMs < dayMs ? lastDayResolution : historyResolution;
}

interface OpenEvent {
  readonly event: PlantEvent;
  readonly id: number;
}

interface FoundEvent {
  readonly id: number;
  readonly externalId: string;
  readonly type: string;
  readonly subtype: string;
  readonly description: string;
  readonly startTime: number;
  readonly endTime?: number;
  readonly metadata: Readonly<Record<string, string>>;
}

async function openEvents(connection: Connection): Promise<OpenEvent[]> {
  const open: OpenEvent[] = [];
  const query = { source, limit: String(limits.listItemsMax) };
  for await (const page of connection.pages<FoundEvent>(connection.pathOf("events", "0.6"), query))
    for (const { id, externalId, startTime, endTime, type, subtype, description, metadata } of page) {
      if (endTime !== undefined) continue;
      const key = externalId.slice(0, externalId.lastIndexOf(" "));
      const event = { key, type, subtype, description, startMs: startTime, assets: [], metadata };
      open.push({ id, event });
    }
  return open;
}

async function idsOf(connection: Connection): Promise<Ids> {
  const ids = new Map<string, number>();
  const query = { source, limit: String(limits.listItemsMax) };
  const path = connection.pathOf("assets", "0.6");
  for await (const page of connection.pages<{ id: number; externalId: string }>(path, query))
    for (const { id, externalId } of page) ids.set(externalId, id);
  return ids;
}

// Loads the demo plant into a project, as a client of the public API. Run again after an interruption, it
// creates the missing records and writes the same points again.
import type { Connection } from "../client/connection.ts";
import { type Description, readDescription } from "./description.ts";
import { demoFiles, loadFiles } from "./documents/files.ts";
import { ensure, type Ids } from "./ensure.ts";
import { externalIdOf, type PlantEvent } from "./events/plant-event.ts";
import { PointMessage } from "./point-message.ts";
import { rawTables } from "./raw-tables.ts";
import { Recording } from "./recording.ts";
import {
  loadAssets,
  loadOperator,
  loadPumpCurves,
  loadRawTables,
  loadRelationships,
  loadSeries,
  loadTrends,
  source,
} from "./records.ts";
import { historyResolution, lastDayResolution, type Resolution, type Value } from "./samples.ts";
import { dayMs } from "./simulation/conditions.ts";

/** The seed of every demo plant: its pictures are the same everywhere. */
export const demoSeed = 24;

export interface DemoHistory {
  readonly endMs: number;
  readonly days: number;
}

/** `percent` of everything, and the name of the current step. */
export type TellProgress = (percent: number, step: string) => void;

/** The share of the points in the time of a load, in percent. */
const pointsPercent = { from: 6, to: 96 };

export async function loadDemo(
  connection: Connection,
  { endMs, days }: DemoHistory,
  tell: TellProgress,
): Promise<void> {
  const description = readDescription();
  tell(0, "assets");
  const assets = await loadAssets(connection, description);
  tell(1, "time series");
  await loadSeries(connection, description, assets);
  tell(2, "sequences, relationships and trends");
  await loadPumpCurves(connection, description, assets);
  await loadRelationships(connection, description);
  await loadTrends(connection, description, endMs);
  tell(3, "raw tables");
  await loadRawTables(connection, rawTables(description), assets);
  tell(3.5, "files");
  await loadFiles(connection, demoFiles(description), assets);
  tell(4, "accounts");
  await loadOperator(connection, assets);
  const startMs = endMs - days * dayMs;
  const recording = new Recording(description, { seed: demoSeed, endMs }, { startMs });
  const writer = new Writer(connection, description, assets);
  const { from, to } = pointsPercent;
  const share = (ms: number) => from + ((to - from) * (ms - startMs)) / (endMs - startMs);
  const lastDayMs = Math.max(startMs, endMs - dayMs);
  const show = (ms: number) => tell(share(ms), "datapoints");
  await writer.record(recording, { fromMs: startMs, toMs: lastDayMs, resolution: historyResolution }, show);
  await writer.record(recording, { fromMs: lastDayMs, toMs: endMs, resolution: lastDayResolution }, show);
  await writer.flush();
  tell(to, "events");
  await writer.events(recording.events.open);
  tell(100, "events");
}

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  readonly resolution: Resolution;
}

const insertsAtOnce = 4;
const eventsEveryMs = 60_000;

/** Writes the points and events of a recording. */
class Writer {
  readonly #connection: Connection;
  readonly #assets: Ids;
  readonly #message: PointMessage;
  readonly #inserts = new Set<Promise<unknown>>();
  readonly #ended: PlantEvent[] = [];
  #failure: unknown;

  constructor(connection: Connection, { series }: Description, assets: Ids) {
    this.#connection = connection;
    this.#assets = assets;
    this.#message = new PointMessage(series);
  }

  async record(
    recording: Recording,
    { fromMs, toMs, resolution }: Range,
    show: (ms: number) => void,
  ): Promise<void> {
    const write = (series: number, ms: number, value: Value) => this.#message.add(series, ms, value);
    for (let ms = fromMs; ms < toMs; ms += resolution.fastMs) {
      recording.record(ms, resolution, write);
      if (ms % eventsEveryMs === 0) this.#ended.push(...recording.events.observe(ms).ended);
      if (!this.#message.isFull) continue;
      await this.#insert();
      show(ms);
    }
  }

  async flush(): Promise<void> {
    await this.#insert();
    await Promise.all(this.#inserts);
    if (this.#failure) throw this.#failure;
  }

  /** Creates the events that have ended, and those that have not. */
  async events(open: readonly PlantEvent[]): Promise<void> {
    const items = [...this.#ended, ...open].map((event) => eventItem(event, this.#assets));
    await ensure(this.#connection, { resource: "events", member: "externalId" }, items);
  }

  async #insert(): Promise<void> {
    if (this.#message.points === 0) return;
    const sent = insertPoints(this.#connection, this.#message.take()).catch((problem) => {
      this.#failure ??= problem;
    });
    const insert = sent.finally(() => this.#inserts.delete(insert));
    this.#inserts.add(insert);
    if (this.#inserts.size >= insertsAtOnce) await Promise.race(this.#inserts);
    if (this.#failure) throw this.#failure;
  }
}

export async function insertPoints(connection: Connection, body: Uint8Array<ArrayBuffer>): Promise<void> {
  const headers = { "content-type": "application/protobuf" };
  await connection.bytes("POST", connection.pathOf("timeseries/data", "0.6"), { body, headers });
}

export const eventItem = (event: PlantEvent, assets: Ids) => ({
  ...{ externalId: externalIdOf(event), source, sourceId: externalIdOf(event) },
  ...{ type: event.type, subtype: event.subtype, description: event.description },
  ...{ startTime: event.startMs, ...(event.endMs !== undefined && { endTime: event.endMs }) },
  ...{ metadata: event.metadata, assetIds: event.assets.map((name) => assets.get(name)) },
});

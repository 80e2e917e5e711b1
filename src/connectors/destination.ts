// Sends records to the server and creates missing series, and missing assets with `createAssets`.
import { type Connection, ServerProblem } from "../client/connection.ts";
import { limits } from "../limits.ts";
import type { SeriesDescription, SourceEvent, SourceRow } from "./records.ts";
import { insertBody, type PointsOfSeries } from "./series-points.ts";

export interface DestinationOptions {
  /** Of the connector: the `source` of its events. */
  readonly name: string;
  readonly prefix: string;
  readonly asset: number | undefined;
  readonly createSeries: boolean;
  readonly createAssets: boolean;
}

/** The points of one series, at least one. */
export interface SeriesPoints extends Pick<PointsOfSeries, "times" | "values"> {
  readonly series: SeriesDescription;
}

type Duplicate = Readonly<Record<string, unknown>>;

interface Found {
  readonly id: number;
  readonly name: string;
}

function* inRequests<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += limits.connectorItemsPerRequest)
    yield items.slice(at, at + limits.connectorItemsPerRequest);
}

/**
 * Throws if the asset of the configuration does not exist, or if that remains unknown. The server refuses all
 * that goes below a missing asset, and no record is at fault. A key without READ of assets cannot check it.
 */
export async function requireAsset(connection: Connection, asset: number | undefined): Promise<void> {
  if (asset === undefined) return;
  try {
    await connection.json("GET", connection.pathOf(`assets/${asset}`, "0.6"));
  } catch (problem) {
    if (!(problem instanceof ServerProblem)) throw problem;
    if (problem.status === 403) return;
    if (problem.status !== 400 && problem.error["notFound"] === undefined) throw problem;
    throw new ServerProblem(`destination.asset: there is no asset ${asset} that this key may read`);
  }
}

/** Of items: the cause may be an item, or a missing asset that it goes below. */
const isRefusal = (problem: unknown): problem is ServerProblem =>
  problem instanceof ServerProblem && (problem.status === 400 || problem.status === 404);

export class Destination {
  readonly #connection: Connection;
  readonly #options: DestinationOptions;
  /** Ids by the path of names below the destination's asset. */
  readonly #assets = new Map<string, Promise<number | undefined>>();

  constructor(connection: Connection, options: DestinationOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  nameOf({ name }: SeriesDescription): string {
    return this.#options.prefix + name;
  }

  /** All of the points or none. Creates series that are missing. */
  async insert(batch: readonly SeriesPoints[]): Promise<void> {
    const body = insertBody(
      batch.map(({ series, times, values }) => ({ name: this.nameOf(series), times, values })),
    );
    const headers = { "content-type": "application/json" };
    const path = this.#connection.pathOf("timeseries/data", "0.6");
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        await this.#connection.json("POST", path, { body, headers });
        return;
      } catch (problem) {
        const missing = this.#missingIn(problem, batch);
        if (missing.length === 0 || isRepeated || !this.#options.createSeries) throw problem;
        await this.#createBelowAssets(missing);
      }
    }
  }

  /** Events that exist already are the same events. */
  async createEvents(events: readonly SourceEvent[]): Promise<void> {
    const source = this.#options.name;
    const { asset } = this.#options;
    const items = events.map((event) => ({
      ...event,
      source,
      ...(asset !== undefined && { assetIds: [asset] }),
    }));
    const path = this.#connection.pathOf("events", "0.6");
    const isSame = (item: SourceEvent, duplicate: Duplicate) => item.sourceId === duplicate["sourceId"];
    try {
      for (const some of inRequests(items)) await this.#createNew(path, some, isSame);
    } catch (problem) {
      if (isRefusal(problem)) await requireAsset(this.#connection, asset);
      throw problem;
    }
  }

  async insertRows(rows: readonly SourceRow[]): Promise<void> {
    const tables = Map.groupBy(rows, ({ database, table }) => JSON.stringify([database, table]));
    for (const ofTable of tables.values()) {
      const { database, table } = ofTable[0]!;
      const resource = `raw/${encodeURIComponent(database)}/${encodeURIComponent(table)}`;
      const path = `${this.#connection.pathOf(resource, "0.5")}/create?ensureParent=true`;
      for (const some of inRequests(ofTable)) {
        const items = some.map(({ key, columns }) => ({ key, columns }));
        await this.#connection.json("POST", path, { body: JSON.stringify({ items }) });
      }
    }
  }

  /** The time of the newest point of each series, in ms; undefined without one, and for an unknown series. */
  async latest(series: readonly SeriesDescription[]): Promise<(number | undefined)[]> {
    const path = this.#connection.pathOf("timeseries/latest", "0.6");
    const times: (number | undefined)[] = [];
    for (const some of inRequests(series)) times.push(...(await this.#latestOf(path, some)));
    return times;
  }

  async #latestOf(path: string, series: readonly SeriesDescription[]): Promise<(number | undefined)[]> {
    const body = JSON.stringify({ items: series.map((one) => ({ name: this.nameOf(one) })) });
    try {
      const { data } = (await this.#connection.json("POST", path, { body })) as {
        data: { items: { datapoints: { timestamp: number }[] }[] };
      };
      return data.items.map(({ datapoints: [point] }) => point?.timestamp);
    } catch (problem) {
      const missing = new Set(
        this.#missingIn(
          problem,
          series.map((one) => ({ series: one })),
        ),
      );
      if (missing.size === 0) throw problem;
      const known = series.filter((one) => !missing.has(one));
      const times = known.length === 0 ? [] : await this.#latestOf(path, known);
      return series.map((one) => times[known.indexOf(one)]);
    }
  }

  #missingIn<Item extends { readonly series: SeriesDescription }>(
    problem: unknown,
    batch: readonly Item[],
  ): SeriesDescription[] {
    const isMissing = problem instanceof ServerProblem && problem.status === 404;
    const { notFound } = isMissing ? (problem.error as { notFound?: string[] }) : {};
    if (!notFound) return [];
    const names = new Set(notFound);
    return batch.map(({ series }) => series).filter((series) => names.has(this.nameOf(series)));
  }

  /** If it is refused, the ids of assets are found again and it is repeated once: an asset may be deleted. */
  async #createBelowAssets(series: readonly SeriesDescription[]): Promise<void> {
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        await this.#create(series);
        return;
      } catch (problem) {
        if (!isRefusal(problem)) throw problem;
        await requireAsset(this.#connection, this.#options.asset);
        if (isRepeated || this.#assets.size === 0)
          // Only an asset can be missing here, which was just deleted: no record is at fault.
          throw problem.status === 404 ? new ServerProblem(problem.message) : problem;
        // An asset that is still being created would be created twice.
        await Promise.allSettled(this.#assets.values());
        this.#assets.clear();
      }
    }
  }

  async #create(series: readonly SeriesDescription[]): Promise<void> {
    const path = this.#connection.pathOf("timeseries", "0.6");
    const items = await Promise.all(
      series.map(async ({ isString, isStep, unit, description, metadata, assetPath, ...rest }) => ({
        name: this.nameOf(rest),
        ...(isString && { isString }),
        ...(isStep && { isStep }),
        ...{ unit, description, metadata },
        assetId: await this.#assetOf(assetPath ?? []),
      })),
    );
    for (const some of inRequests(items))
      await this.#createNew(path, some, (item, duplicate) => item.name === duplicate["name"]);
  }

  /** Creates the items that do not exist. */
  async #createNew<Item extends object>(
    path: string,
    items: readonly Item[],
    isSame: (item: Item, duplicate: Duplicate) => boolean,
  ): Promise<void> {
    for (let left = items; left.length > 0; ) {
      try {
        await this.#connection.json("POST", path, { body: JSON.stringify({ items: left }) });
        return;
      } catch (problem) {
        const isThere = problem instanceof ServerProblem && problem.status === 409;
        const duplicates = isThere ? ((problem.error["duplicates"] ?? []) as Duplicate[]) : [];
        const rest = left.filter((item) => !duplicates.some((duplicate) => isSame(item, duplicate)));
        if (rest.length === left.length) throw problem;
        left = rest;
      }
    }
  }

  #assetOf(path: readonly string[]): Promise<number | undefined> {
    const { asset, createAssets } = this.#options;
    if (path.length === 0 || !createAssets) return Promise.resolve(asset);
    const key = JSON.stringify(path);
    const found = this.#assets.get(key) ?? this.#childOf(this.#assetOf(path.slice(0, -1)), path.at(-1)!);
    this.#assets.set(key, found);
    found.catch(() => this.#assets.delete(key));
    return found;
  }

  async #childOf(parent: Promise<number | undefined>, name: string): Promise<number> {
    const parentId = await parent;
    const children = this.#connection.pathOf("assets/children", "0.6");
    const query = { from: name, limit: "1", ...(parentId !== undefined && { parentId: String(parentId) }) };
    const { data } = (await this.#connection.json("GET", `${children}?${new URLSearchParams(query)}`)) as {
      data: { items: Found[] };
    };
    if (data.items[0]?.name === name) return data.items[0].id;
    const body = JSON.stringify({ items: [{ name, parentId }] });
    const made = (await this.#connection.jsonOnce("POST", this.#connection.pathOf("assets", "0.6"), {
      body,
    })) as {
      data: { items: Found[] };
    };
    return made.data.items[0]!.id;
  }
}

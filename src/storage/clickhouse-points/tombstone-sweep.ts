// Removes the points that tombstones delete, by mutations of ClickHouse, then the tombstones.
//
// A mutation rewrites all parts that have such points. So it runs seldom, for many tombstones at once.
import { setTimeout as sleep } from "node:timers/promises";
import { limits } from "../../limits.ts";
import type { ClickHouseClient } from "./client.ts";
import { joinSql, type Sql, sql } from "./sql.ts";
import { farMs, selectTombstones, type Tombstone } from "./tombstones.ts";

export interface SweepSettings {
  readonly client: ClickHouseClient;
  readonly monotonicMs: () => number;
  /** Called when a sweep fails; the next one tries again. */
  readonly onFailure: (problem: unknown) => void;
}

export class TombstoneSweep {
  readonly #settings: SweepSettings;
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  /** The highest version of a tombstone at the last sweep. */
  #seenVersion = 0;
  #removedMs: number;

  constructor(settings: SweepSettings) {
    this.#settings = settings;
    this.#removedMs = settings.monotonicMs();
    this.#timer = setInterval(() => this.#tick(), limits.clickHouseSweepMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#running;
  }

  /**
   * Removes the tombstones that an earlier sweep has seen, if they are many or old. Inserts with versions
   * below theirs have ended since then: an insert takes less time than the interval of the sweeps. So no
   * insert can bring back a point that a removed tombstone deletes.
   */
  async sweep(): Promise<void> {
    const ready = this.#seenVersion;
    const { newest, isDue } = await this.#load(ready);
    this.#seenVersion = newest;
    if (!isDue) return;
    for (;;) {
      const some = await this.#next(ready);
      if (some.length === 0 || this.#stopping.signal.aborted) return;
      await this.#remove(some);
      this.#removedMs = this.#settings.monotonicMs();
    }
  }

  #tick(): void {
    this.#running ??= this.sweep()
      .catch((problem: unknown) => {
        if (!this.#stopping.signal.aborted) this.#settings.onFailure(problem);
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #load(ready: number): Promise<{ readonly newest: number; readonly isDue: boolean }> {
    const rows = await this.#settings.client.query(
      sql`SELECT max(newest) AS newest, max(ready) AS most, sum(ready) AS total FROM
        (SELECT max(version) AS newest, countIf(version <= ${ready}) AS ready
        FROM tombstones WHERE series != ${noSeries} GROUP BY series)`,
    );
    const one = (name: string) => rows.numbers(name)[0] ?? 0;
    const isOld = this.#settings.monotonicMs() - this.#removedMs >= limits.clickHouseSweepAgeMs;
    const isMany = one("most") * 2 > limits.clickHouseTombstonesMax || one("total") > tombstonesPerMutation;
    return { newest: one("newest"), isDue: one("total") > 0 && (isOld || isMany) };
  }

  /** Of each series at most `layersMax`, because they make the condition of the mutation longer. */
  #next(ready: number): Promise<Tombstone[]> {
    return selectTombstones(
      this.#settings.client,
      sql`SELECT series, start, end, version AS newest FROM tombstones
        WHERE version <= ${ready} AND series != ${noSeries}
        ORDER BY series, version LIMIT ${layersMax} BY series LIMIT ${tombstonesPerMutation}`,
    );
  }

  /** The tombstones are there until their points are gone, so that a read finds either none or both. */
  async #remove(tombstones: readonly Tombstone[]): Promise<void> {
    await this.#mutate(
      sql`ALTER TABLE points DELETE WHERE ${deletedBy(tombstones)}`,
      sql`INSERT INTO points (series, t, version) VALUES (${noSeries}, 0, 0)`,
    );
    const rows = tombstones.map(
      ({ series, startMs, endMs, version }) => sql`(${series},${startMs},${endMs},${version})`,
    );
    await this.#mutate(
      sql`ALTER TABLE tombstones DELETE
        WHERE (series, start, end, version) IN (${joinSql(rows, sql`,`)}) OR series = ${noSeries}`,
      sql`INSERT INTO tombstones (series, start, end, version) VALUES (${noSeries}, 0, 0, 0)`,
    );
  }

  /**
   * ClickHouse runs mutations in the background. This waits until every replica has run all of them. They
   * leave out the part of the last insert with a quorum until another insert follows: that of `insertion`,
   * whose row no read finds.
   */
  async #mutate(statement: Sql, insertion: Sql): Promise<void> {
    const { signal } = this.#stopping;
    const { client } = this.#settings;
    await client.execute(statement, { max_ast_elements: nodesMax });
    if (client.location.quorum !== undefined) await client.execute(insertion);
    const replicas = client.replicas;
    try {
      while (!(await areDone(replicas))) await sleep(mutationPollMs, undefined, { signal });
    } finally {
      for (const replica of replicas) replica.close();
    }
  }
}

/** Throws when a replica is away, which may still have the points of tombstones. */
async function areDone(replicas: readonly ClickHouseClient[]): Promise<boolean> {
  const states = await Promise.all(
    replicas.map(async (replica) => {
      const rows = await replica.query(
        sql`SELECT count() AS total, countIf(NOT is_done) AS running,
          (SELECT max(total_replicas) FROM system.replicas WHERE database = currentDatabase()) AS replicas
          FROM system.mutations WHERE database = currentDatabase()`,
      );
      const one = (name: string) => rows.numbers(name)[0] ?? 0;
      return { total: one("total"), running: one("running"), replicas: one("replicas") };
    }),
  );
  if (states.some((state) => state.replicas > replicas.length))
    throw new Error("MILLRACE_POINTS does not name all replicas of ClickHouse; deleted points stay on disk");
  return states.every(({ total, running }) => running === 0 && total === states[0]!.total);
}

/** No series of a catalog has this id. */
const noSeries = 0;
const tombstonesPerMutation = 2_000;
const layersMax = 64;
const mutationPollMs = 50;
const nodesMax = 2 ** 20;

/**
 * A condition that the points of these tombstones meet. Its cost for each row depends on the layers, not on
 * the number of tombstones: a layer has at most one tombstone of each series, and finds it in a hash table.
 */
function deletedBy(tombstones: readonly Tombstone[]): Sql {
  const layers: Tombstone[][] = [];
  let layer = 0;
  for (const [index, one] of tombstones.entries()) {
    layer = tombstones[index - 1]?.series === one.series ? layer + 1 : 0;
    layers[layer] ??= [];
    layers[layer]!.push(one);
  }
  return joinSql(layers.map(deletedByLayer), sql` OR `);
}

/** Times are shifted, because an array cannot have both negative integers and large ones. */
function deletedByLayer(tombstones: readonly Tombstone[]): Sql {
  const ids = tombstones.map(({ series }) => series);
  const starts = tombstones.map(({ startMs }) => startMs + farMs);
  const ends = tombstones.map(({ endMs }) => endMs + farMs);
  const versions = tombstones.map(({ version }) => version);
  return sql`(t + ${farMs} >= transform(series, [${ids}], [${starts}], ${farMs * 2 - 1})
    AND t + ${farMs} < transform(series, [${ids}], [${ends}], 0)
    AND version < transform(series, [${ids}], [${versions}], 0))`;
}

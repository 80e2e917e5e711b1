// Looks through the whole file of a shard that nobody has open, and mends of it what can be mended.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Finding, integrityOf, type Remedy } from "../findings.ts";
import type { Damage, PointColumns } from "../points.ts";
import { DamagedBlock, decodeBlock } from "./block.ts";
import { type Kind, numbers } from "./columns.ts";
import { openSummary, type Place, sealSummary } from "./sealed-summary.ts";
import { summarise } from "./summary.ts";

interface Row extends Place {
  readonly series: number;
  readonly kind: Kind;
  readonly summary: Uint8Array | null;
  readonly bytes: Uint8Array | null;
}

const columns = "series, kind, data_id AS id, first_ms AS firstMs, last_ms AS lastMs";

const countAnew = `UPDATE state SET points = (SELECT coalesce(sum(count), 0) FROM block),
  blocks = (SELECT count(*) FROM block)`;

export class ShardDoctor {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #asideFolder: string;

  /** Blocks that are taken out go into `asideFolder`. Throws when the file is no database. */
  constructor(folder: string, file: string, asideFolder: string) {
    this.#file = file;
    this.#asideFolder = asideFolder;
    this.#database = new DatabaseSync(join(folder, file));
  }

  /** The sequence number of the journal up to which the shard holds all changes. */
  get applied(): number {
    return this.#state().applied;
  }

  /** What SQLite says of its own file. While it says something, nothing else can be believed. */
  integrity(): Finding[] {
    return integrityOf(this.#database, this.#file);
  }

  /** Every block with its place and its summary, what was quarantined earlier, and the totals. */
  *findings(): Generator<Finding> {
    let [points, blocks] = [0, 0];
    let last: Row | undefined;
    const all = `SELECT ${columns}, count, summary, bytes FROM block LEFT JOIN data ON data.id = data_id
      ORDER BY series, kind, first_ms`;
    for (const found of this.#database.prepare(all).iterate()) {
      const row = found as unknown as Row;
      points += row.count;
      blocks++;
      const isSameSeries = row.series === last?.series && row.kind === last.kind;
      if (isSameSeries && row.firstMs <= last!.lastMs)
        yield this.#found(row.id, `a block behind ${last!.lastMs} ms`, `one from ${row.firstMs} ms on`);
      last = row;
      yield* this.#block(row);
    }
    yield* this.#quarantined();
    const state = this.#state();
    if (state.points !== points || state.blocks !== blocks)
      yield {
        ...this.#found(0, `${points} points in ${blocks} blocks`, `${state.points} in ${state.blocks}`),
        remedy: { says: "count anew", apply: () => this.#run(countAnew) },
      };
  }

  close(): void {
    this.#database.close();
  }

  *#block(row: Row): Generator<Finding> {
    let points: PointColumns;
    try {
      points = pointsOf(row);
    } catch (why) {
      const { expected, found } = damageOf(why);
      yield { ...this.#found(row.id, expected, found), remedy: this.#takenOut(row) };
      return;
    }
    if (row.kind !== numbers) return;
    const summary = summarise(points.times, points.values as Float64Array, 0, row.count);
    try {
      const { count, min, max } = openSummary(row, row.summary ?? new Uint8Array(0));
      if (count !== summary.count || min !== summary.min || max !== summary.max)
        throw new DamagedBlock("the summary of its points", "another one");
    } catch (why) {
      const { expected, found } = damageOf(why);
      const apply = () =>
        this.#run("UPDATE block SET summary = ? WHERE data_id = ?", sealSummary(row, summary), row.id);
      yield { ...this.#found(row.id, expected, found), remedy: { says: "make the summary anew", apply } };
    }
  }

  *#quarantined(): Generator<Finding> {
    const known = this.#database.prepare(`
      SELECT ${columns}, expected, found, bytes FROM damaged LEFT JOIN data ON data.id = data_id`);
    for (const one of known.all()) {
      const { expected, found, ...row } = one as unknown as Row & Damage;
      yield { ...this.#found(row.id, expected, found), remedy: this.#takenOut(row) };
    }
  }

  #takenOut({ series, kind, firstMs, lastMs, id, bytes }: Omit<Row, "count" | "summary">): Remedy {
    const name = `${this.#file}-block-${id}-series-${series}-from-${firstMs}-to-${lastMs}`;
    const isKept = bytes !== null;
    return {
      says: `give up the points of series ${series} from ${firstMs} to ${lastMs} ms${
        isKept ? `, with the block kept as ${name}` : ""
      }`,
      apply: () => {
        if (isKept) writeFileSync(join(this.#asideFolder, name), bytes, { flush: true });
        this.#run("BEGIN IMMEDIATE");
        const owned = "series = ? AND kind = ? AND first_ms = ? AND data_id = ?";
        this.#run(`DELETE FROM block WHERE ${owned}`, series, kind, firstMs, id);
        this.#run("DELETE FROM damaged WHERE data_id = ?", id);
        this.#run("DELETE FROM data WHERE id = ?", id);
        this.#run(countAnew);
        this.#run("COMMIT");
      },
    };
  }

  #state(): { applied: number; points: number; blocks: number } {
    const state = this.#database.prepare("SELECT applied, points, blocks FROM state").get();
    return state as { applied: number; points: number; blocks: number };
  }

  #run(sql: string, ...parameters: (number | Uint8Array)[]): void {
    this.#database.prepare(sql).run(...parameters);
  }

  #found(offset: number, expected: string, found: string): Damage {
    return { file: this.#file, offset, expected, found };
  }
}

function pointsOf({ bytes, firstMs, lastMs, count }: Row): PointColumns {
  if (bytes === null) throw new DamagedBlock("the bytes of the block", "none");
  const points = decodeBlock(bytes);
  const { times } = points;
  if (times[0] !== firstMs || times.at(-1) !== lastMs || times.length !== count) {
    const found = `${times.length} from ${times[0]} to ${times.at(-1)}`;
    throw new DamagedBlock(`${count} points from ${firstMs} to ${lastMs} ms`, found);
  }
  return points;
}

function damageOf(why: unknown): DamagedBlock {
  if (why instanceof DamagedBlock) return why;
  throw why;
}

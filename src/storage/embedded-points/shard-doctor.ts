// Looks through the whole file of a shard that nobody has open, and mends of it what can be mended.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Finding, integrityOf, type Remedy } from "../findings.ts";
import type { Damage, PointColumns } from "../points.ts";
import { DamagedBlock, decodeBlock } from "./block.ts";
import { type Kind, numbers } from "./columns.ts";
import { addSeal, blockSumOf, bornSeal, openRow, type Place, sealRow } from "./sealed-row.ts";
import { firstOf } from "./segment.ts";
import {
  putStateSql,
  readStateSql,
  type ShardIdentity,
  type State,
  stateOf,
  stateValues,
} from "./shard-state.ts";
import { summarise } from "./summary.ts";

interface Row extends Place {
  readonly kind: Kind;
  readonly sealed: Uint8Array;
  readonly bytes: Uint8Array | null;
}

/** The file of a shard, and which one it must be. */
export type Examined = ShardIdentity & { readonly file: string };

const columns = "series, kind, data_id AS id, first_ms AS firstMs, last_ms AS lastMs";

export class ShardDoctor {
  readonly #database: DatabaseSync;
  readonly #folder: string;
  readonly #file: string;
  readonly #asideFolder: string;
  /** Which shard the file must be. */
  readonly #identity: ShardIdentity;

  /** Blocks that are taken out go into `asideFolder`. Throws when the file is no database. */
  constructor(folder: string, { file, ...identity }: Examined, asideFolder: string) {
    this.#folder = folder;
    this.#file = file;
    this.#identity = identity;
    this.#asideFolder = asideFolder;
    this.#database = new DatabaseSync(join(folder, file));
  }

  /** The sequence number of the journal up to which the shard holds all changes; NaN when it is not known. */
  get applied(): number {
    return this.#state()?.applied ?? Number.NaN;
  }

  /** That the file is another shard's or of another store: then it is a stranger's as a whole. */
  stranger(): Finding[] {
    const { store, shard } = this.#state() ?? this.#identity;
    if (store === this.#identity.store && shard === this.#identity.shard) return [];
    const expected = `shard ${this.#identity.shard} of store ${this.#identity.store}`;
    return [this.#found(0, expected, `shard ${shard} of store ${store}`)];
  }

  /** What SQLite says of its own file. While it says something, nothing else can be believed. */
  integrity(): Finding[] {
    return integrityOf(this.#database, this.#file);
  }

  /** Every block with its place and its summary, what was quarantined earlier, and the totals. */
  *findings(): Generator<Finding> {
    let last: Row | undefined;
    const all = `SELECT ${columns}, count, sealed, bytes FROM block LEFT JOIN data ON data.id = data_id
      ORDER BY series, kind, first_ms`;
    for (const found of this.#database.prepare(all).iterate()) {
      const row = found as unknown as Row;
      const isSameSeries = row.series === last?.series && row.kind === last.kind;
      if (isSameSeries && row.firstMs <= last!.lastMs)
        yield this.#found(row.id, `a block behind ${last!.lastMs} ms`, `one from ${row.firstMs} ms on`);
      last = row;
      yield* this.#block(row);
    }
    yield* this.#quarantined();
    yield* this.#counted();
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
    const summary =
      row.kind === numbers ? summarise(points.times, points.values as Float64Array, 0, row.count) : undefined;
    const anew = sealRow(row, { summary, blockSum: blockSumOf(row.bytes!) });
    try {
      const found = openRow(row, row.sealed);
      if (found.blockSum !== blockSumOf(row.bytes!))
        throw new DamagedBlock("the block of its row", "another one");
      const { count, min, max } = found.summary ?? {};
      if (count !== summary?.count || min !== summary?.min || max !== summary?.max)
        throw new DamagedBlock("the summary of its points", "another one");
    } catch (why) {
      const { expected, found } = damageOf(why);
      // The seal says that the keys are right. Else the block may be that of another series.
      const isOwn = anew.seal === bornSeal(row.sealed);
      const apply = () => this.#run("UPDATE block SET sealed = ? WHERE data_id = ?", anew.sealed, row.id);
      const remedy = isOwn ? { says: "make the summary anew", apply } : this.#takenOut(row);
      yield { ...this.#found(row.id, expected, found), remedy };
    }
  }

  /** Whether the rows are those that were written: one that is missing is found by nothing else. */
  *#counted(): Generator<Finding> {
    const state = this.#state();
    const { points, blocks, seals } = this.#count();
    const isRight = state?.points === points && state.blocks === blocks && state.seals === seals;
    if (isRight) return;
    const said = state ? `${state.points} points in ${state.blocks} blocks` : "how many points and blocks";
    const found = state ? `${points} in ${blocks}, the sum of their seals ${seals}` : "damage";
    const expected = state ? `${said}, the sum of their seals ${state.seals}` : said;
    yield {
      ...this.#found(0, expected, found),
      remedy: { says: "count anew", apply: () => this.#countAnew() },
    };
  }

  #count(): Pick<State, "points" | "blocks" | "seals"> {
    let [points, blocks, seals] = [0, 0, 0];
    for (const row of this.#database.prepare("SELECT count, sealed FROM block").iterate()) {
      const { count, sealed } = row as unknown as Row;
      points += count;
      blocks++;
      seals = addSeal(seals, bornSeal(sealed));
    }
    return { points, blocks, seals };
  }

  #countAnew(): void {
    const applied = this.#state()?.applied ?? this.#appliedByJournal();
    this.#run(putStateSql, ...stateValues({ applied, ...this.#count(), ...this.#identity }));
  }

  /**
   * No segment is deleted before all that it holds is in blocks; taking some of it in again changes nothing.
   */
  #appliedByJournal(): number {
    const firsts = readdirSync(this.#folder).flatMap((name) => firstOf(name) ?? []);
    return firsts.length === 0 ? 0 : Math.min(...firsts) - 1;
  }

  *#quarantined(): Generator<Finding> {
    const known = this.#database.prepare(`
      SELECT ${columns}, expected, found, bytes FROM damaged LEFT JOIN data ON data.id = data_id`);
    for (const one of known.all()) {
      const { expected, found, ...row } = one as unknown as Row & Damage;
      yield { ...this.#found(row.id, expected, found), remedy: this.#takenOut(row) };
    }
  }

  #takenOut({ series, kind, firstMs, lastMs, id, bytes }: Omit<Row, "count" | "sealed">): Remedy {
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
        this.#run(
          "DELETE FROM data WHERE id = ? AND NOT EXISTS (SELECT 1 FROM block WHERE data_id = id)",
          id,
        );
        this.#countAnew();
        this.#run("COMMIT");
      },
    };
  }

  #state(): State | undefined {
    return stateOf(this.#database.prepare(readStateSql).get());
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

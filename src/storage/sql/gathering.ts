// How records with conditions on their assets are read in an order: gathered, or met on the way.
//
// Few are gathered and sorted: of 100,000 events those of a pump in 1 ms, by looking at one after the other
// in 250 ms. Of many the next ones are near: of a whole plant's 1,000,000 series the first 100 are met in
// 1 ms, gathered in 300 ms. Which of the two it is, a look at the first records tells.

import { sql } from "kysely";
import { conjunctsOf } from "../../query/conjuncts.ts";
import { and, type Filter } from "../../query/filter.ts";
import type { OrderBy, Position } from "../../query/page.ts";
import { columnRef, gatheredIds, hangsOnAssets, recordsWhere, type Subject } from "./compile-filter.ts";
import type { Condition, Db, Expression } from "./dialect.ts";

/** A piece of an order to be read. */
export interface Piece {
  readonly filter: Filter;
  readonly order: readonly OrderBy[];
  /** The list behind `order by`. */
  readonly sorted: Expression;
  /** What bounds the piece. */
  readonly within: readonly Condition[];
  /** Up to a position and including it, in the direction of reading. */
  readonly upTo: (position: Position) => Condition;
  readonly limit: number;
}

/** Reads the first records of the piece that meet a condition; `read` is given the whole of it. */
export async function readNearest<Row>(
  db: Db,
  subject: Subject,
  piece: Piece,
  read: (where: Condition) => Promise<Row[]>,
): Promise<Row[]> {
  const { filter, within, limit } = piece;
  const { gathering } = subject;
  const readWhere = (...more: readonly Condition[]) => read(sql.join([...more, ...within], sql` and `));
  const parts = conjunctsOf(filter);
  const links = parts.filter((part) => hangsOnAssets(part, subject));
  if (links.length === 0) return readWhere(recordsWhere(filter, subject));
  const checked = (some: readonly Filter[]) =>
    recordsWhere(and(...some), { ...subject, oneByOne: ["links"] });
  const others = and(...parts.filter((part) => !links.includes(part)));
  const last = await positionAfter(db, subject, { ...piece, filter: others });
  if (!last) return readWhere(checked(parts));
  const gatherOf = async (most: number) => {
    for (const part of links) {
      const [ids] = gatheredIds(part, subject);
      if (!ids || (await isMore(db, ids, most))) continue;
      return readWhere(recordsWhere(part, subject), checked(parts.filter((other) => other !== part)));
    }
    return undefined;
  };
  const few = await gatherOf(gathering.first);
  if (few) return few;
  const near = await readWhere(checked(parts), piece.upTo(last));
  if (near.length === limit) return near;
  const gathered = isDense(near.length, piece, subject) ? undefined : await gatherOf(gathering.most);
  return gathered ?? readWhere(checked(parts));
}

/** How many records are looked at first. */
const lookedAt = ({ limit }: Piece, { gathering }: Subject) =>
  Math.max(gathering.walkedFirst, Math.ceil(1.5 * limit));

/**
 * Walking costs `limit / share` records, gathering `share * all` entries of an index, each 1/25 of a record.
 * Both are the same at this share, 5 % for a page of 100 out of a million.
 */
const isDense = (met: number, piece: Piece, subject: Subject) =>
  met / lookedAt(piece, subject) >= Math.sqrt((25 * piece.limit) / 1_000_000);

/** Where the nearest records end; undefined when there are no more than these. */
async function positionAfter(db: Db, subject: Subject, piece: Piece): Promise<Position | undefined> {
  const { filter, order, sorted, within } = piece;
  const fields = sql.join(order.map(({ field }) => columnRef(subject.table, field)));
  const where = sql.join([recordsWhere(filter, subject), ...within], sql` and `);
  const skipped = lookedAt(piece, subject) - 1;
  const { rows } = await sql<Record<string, string | number>>`
    select ${fields} from ${sql.table(subject.table.name)} where ${where}
    order by ${sorted} limit 1 offset ${skipped}
  `.execute(db);
  return rows[0] && order.map(({ field }) => rows[0]![field]!);
}

/** Whether a subquery has more rows than `most`; counts no further. */
export async function isMore(db: Db, ids: Expression, most: number): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (select 1 from ${ids} gathered limit ${most + 1})
  `.execute(db);
  return rows[0]!.count > most;
}

// Reads the first records of an order that have conditions on their assets, in one of two ways:
//
// - Scan: go through the records in order and reject those that do not meet the condition. Best for
//   conditions that many records meet: the first 100 of 1,000,000 series of a plant take 0.3 ms.
//     select ... where <others> and is_accepted(<condition on assets>) order by <order> limit 100
// - Lookup: find all matching records in the index of links and sort them. Best for few: the events of one
//   pump of 100,000 events take 1 ms, and 250 ms by a scan.
//     select ... where id in (select id from <index> lookup join <table> order by <order> limit 100)
//
// How many records match is not known before. So a short scan comes first, then a lookup of few records, a
// longer scan, a lookup of more, and a scan to the end. `ScanLimits` has the bounds of each.
import { sql } from "kysely";
import { conjunctsOf } from "../../query/conjuncts.ts";
import { and, type Filter } from "../../query/filter.ts";
import { columnRef, hasIndexedLinks, lookupsOf, recordsWhere, type Subject } from "./compile-filter.ts";
import type { Condition, Database, Db, SqlExpression } from "./dialect.ts";

/** The first records to read of a range of an order. */
export interface OrderRange {
  readonly filter: Filter;
  /** The columns after `order by`. */
  readonly sorted: SqlExpression;
  /** The bounds of the range. */
  readonly within: readonly Condition[];
  readonly limit: number;
}

interface Connected {
  readonly database: Database;
  readonly db: Db;
}

/** Reads the first records of the range that meet the filter; `read` receives the complete condition. */
export async function readInOrder<Row>(
  { database, db }: Connected,
  subject: Subject,
  { filter, sorted, within, limit }: OrderRange,
  read: (where: Condition) => Promise<Row[]>,
): Promise<Row[]> {
  const { table, scanLimits } = subject;
  const all = (...some: readonly Condition[]) => sql<boolean>`${sql.join([...some, ...within], sql` and `)}`;
  const parts = conjunctsOf(filter);
  const links = parts.filter((part) => hasIndexedLinks(part, subject));
  if (links.length === 0) return read(all(recordsWhere(filter, subject)));
  const eachMeets = (some: readonly Filter[]) =>
    recordsWhere(and(...some), { ...subject, oneByOne: ["links"] });
  const others = eachMeets(parts.filter((part) => !links.includes(part)));
  /** The rows; if it rejects too many records, the share of those that it accepted. */
  const scan = async (rejectedMax: number): Promise<Row[] | number> => {
    const range = { table, indexed: all(others), condition: eachMeets(links), sorted, limit, rejectedMax };
    const found = await database.scan(db, range, read);
    return Array.isArray(found) ? found : found.share;
  };
  /** The rows; undefined if there are more than `recordsMax` to sort. */
  const lookUp = async (recordsMax: number): Promise<Row[] | undefined> => {
    for (const part of links) {
      const [lookup] = lookupsOf(part, subject);
      if (!lookup || (await isMore(db, lookup.ids, recordsMax))) continue;
      const where = all(lookup.on, eachMeets(parts.filter((other) => other !== part)));
      const id = columnRef(table, "id");
      return read(sql`${id} in (
        select ${id} from ${lookup.from} lookup cross join ${sql.table(table.name)} where ${where}
        order by ${sorted} limit ${limit}
      )`);
    }
    return undefined;
  };
  const first = await scan(scanLimits.rejectedFirstMax + Math.ceil(limit / 10));
  if (typeof first !== "number") return first;
  const few = isDense(first, limit) ? undefined : await lookUp(scanLimits.lookupFirstMax);
  if (few) return few;
  const second = await scan(Math.ceil(scanLimits.rejectedMax * Math.sqrt(limit / 100)));
  if (typeof second !== "number") return second;
  return (await lookUp(scanLimits.lookupMax)) ?? (await read(all(others, eachMeets(links))));
}

/**
 * A scan reads `limit / share` records. A lookup reads `share * all` entries of an index, each of which costs
 * 1/10 of a record. Both cost the same at this share: 3 % for a page of 100 of a million, 10 % for 1,000.
 */
const isDense = (share: number, limit: number) => share >= Math.sqrt((10 * limit) / 1_000_000);

/** Whether a subquery has more rows than `rowsMax`. Stops counting there. */
export async function isMore(db: Db, ids: SqlExpression, rowsMax: number): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (select 1 from ${ids} lookup limit ${rowsMax + 1}) counted
  `.execute(db);
  return rows[0]!.count > rowsMax;
}

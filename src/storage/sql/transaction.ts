// One transaction on a SQL database, bound to its tenant: translates the port's queries and changes to SQL.
import { sql } from "kysely";
import { invariant } from "../../lib/invariant.ts";
import { wellFormed } from "../../lib/text.ts";
import { limits } from "../../limits.ts";
import { cutsOf } from "../../query/evaluate.ts";
import { and, between, type Filter, oneOf } from "../../query/filter.ts";
import { LengthBound } from "../../query/length-bound.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { OrderBy, Position } from "../../query/page.ts";
import {
  type AnyTable,
  assertPlain,
  type CatalogQuery,
  type CatalogWriter,
  type GenerationName,
  keyOf,
  linksTo,
  type RankedQuery,
  type Stored,
  type Table,
  type Tenant,
  UniqueViolation,
} from "../catalog.ts";
import { columnRef, linksToOneOf, recordsWhere, type ScanLimits, type Subject } from "./compile-filter.ts";
import type { Database, Db, SqlExpression, Values } from "./dialect.ts";
import { orderList, pageRanges, sortedBy } from "./keyset.ts";
import { readInOrder } from "./ordered-read.ts";
import { bestOf, rankTerm, scanOf } from "./ranked-search.ts";
import { columnOf, comparingAt, decodeRows, projectColumn, storedValue } from "./tables.ts";

const highestId = (rows: readonly Stored[]): number => rows.reduce((id, row) => Math.max(id, row.id), 0);

interface Binding {
  readonly database: Database;
  /** The database's own transaction. */
  readonly db: Db;
  readonly tables: readonly AnyTable[];
  readonly tenant: Tenant;
  readonly scanLimits: ScanLimits;
}

type CachedNames = readonly string[] | null;

interface Selection {
  readonly fields?: readonly string[] | undefined;
  readonly bound?: LengthBound | undefined;
  /** That the statement has. */
  readonly limit?: number | undefined;
}

export class SqlTransaction implements CatalogWriter {
  readonly #binding: Binding;
  /** Generations that the changes of this transaction raise, if other servers share the catalog. */
  readonly announced = new Set<GenerationName>();
  #failure: unknown;
  #over = false;

  constructor(binding: Binding) {
    this.#binding = binding;
  }

  /** Refuses further statements. Throws when a change failed, even if the caller continued. */
  end(): void {
    this.#over = true;
    if (this.#failure) throw this.#failure;
  }

  async find<Row extends object>(table: Table<Row>, question: CatalogQuery): Promise<Row[]> {
    const { filter, order, page, fields } = question;
    const backwards = page.before !== undefined;
    const sorted = orderList(table, { order, filter, backwards });
    const rows: Row[] = [];
    const subject = this.#subject(table);
    const { bound } = page;
    const cutsBefore = bound?.cuts;
    for (const within of pageRanges(table, order, page)) {
      const limit = page.limit - rows.length;
      const range = { filter, sorted, within, limit };
      const selection = { fields, bound, limit };
      const found = await readInOrder({ ...this.#binding, db: this.#db }, subject, range, (where) =>
        this.#select<Row>(table, sql`where ${where} order by ${sorted} limit ${limit}`, selection),
      );
      for (const row of found) rows.push(row);
      if (rows.length === page.limit || bound?.cuts !== cutsBefore) break;
    }
    return backwards ? rows.reverse() : rows;
  }

  get<Row extends Stored>(table: Table<Row>, ids: readonly number[]): Promise<Row[]> {
    return this.#get(table, ids);
  }

  async search<Row extends object>(table: Table<Row>, question: RankedQuery): Promise<Row[]> {
    const { rank, order, limit, offset, bound } = question;
    const subject = this.#subject(table);
    const best = await bestOf(this.#db, subject, question);
    if (best.ids) return this.#getWithin(table, best.ids, bound);
    const part = sql`limit ${limit} offset ${offset}`;
    const scan = await scanOf(this.#db, subject, question);
    const near =
      scan &&
      (await this.#binding.database.scan(this.#db, scan, (where) =>
        this.#select<Row>(table, sql`where ${where} order by ${scan.sorted} ${part}`, { bound }),
      ));
    if (Array.isArray(near)) return near;
    const terms = sql.join([...rank.map((one) => rankTerm(subject, one)), sortedBy(table, order)]);
    const where = recordsWhere(best.filter, rank.length > 0 ? { ...subject, oneByOne: ["links"] } : subject);
    return this.#select<Row>(table, sql`where ${where} order by ${terms} ${part}`, { bound });
  }

  async count<Row extends object>(
    table: Table<Row>,
    filter: Filter,
    unique?: keyof Row & string,
  ): Promise<number> {
    let total = 0;
    let rest = filter;
    if (unique !== undefined)
      for (let last = await this.#placeOfPart(table, rest, unique); last !== undefined; ) {
        total += limits.recordsCountedAtOnce;
        rest = and(filter, between(unique, { from: { value: last, inclusive: false } }));
        last = await this.#placeOfPart(table, rest, unique);
      }
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table.name)} where ${this.#where(table, rest)}
    `.execute(this.#db);
    return total + rows[0]!.count;
  }

  /** The value at the end of the first `recordsCountedAtOnce` records; undefined when there are fewer. */
  async #placeOfPart(table: AnyTable, filter: Filter, unique: string): Promise<string | number | undefined> {
    const order: readonly OrderBy[] = [{ field: unique, direction: "ascending" }];
    const { rows } = await sql<{ place: string | number }>`
      select ${columnRef(table, unique)} as place from ${sql.table(table.name)}
      where ${this.#where(table, filter)} order by ${orderList(table, { order, filter })}
      limit 1 offset ${limits.recordsCountedAtOnce - 1}
    `.execute(this.#db);
    return rows[0]?.place;
  }

  async divide<Row extends object>(
    table: Table<Row>,
    { filter, order, parts }: { filter: Filter; order: readonly OrderBy[]; parts: number },
  ): Promise<Position[]> {
    const cuts = cutsOf(await this.count(table, filter), parts);
    const fields = sql.join(order.map(({ field }) => sql`${columnRef(table, field)} as ${sql.ref(field)}`));
    const { rows } = await sql<Record<string, string | number>>`
      select * from (
        select ${fields}, row_number() over (order by ${orderList(table, { order, filter })}) as place
        from ${sql.table(table.name)} where ${this.#where(table, filter)}
      ) placed where place in ${this.#expressions.listed(cuts, "number")} order by place
    `.execute(this.#db);
    return rows.map((row) => order.map(({ field }) => row[field]!));
  }

  async insert<Row extends Stored>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    this.#note(table, (columns) => columns === null);
    await this.#insert(table, rows);
  }

  async #insert<Row extends Stored>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const { names, values } = await this.#encoded(table, rows);
    await this.#insertAll(table, names, values);
    const { database, tenant } = this.#binding;
    await database.raiseLastId(this.#db, tenant, highestId(rows));
  }

  /**
   * In the order of their keys: the records of a request then lie together on disk in that order, and the
   * index is gone through once. A million random keys, 10,000 a request, load 1.3 times as fast as when they
   * are put as they come, and pages of them are read 3.6 times as fast. (Records kept in the index itself are
   * read faster still, but random keys rewrite nearly a page for each: half the speed of loading.)
   */
  async put<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const { names, values } = await this.#encoded(table, rows);
    values.sort(comparingAt(keyOf(table).map((name) => names.indexOf(name))));
    await this.#change(() => this.#binding.database.putAll(this.#db, table, names, values));
  }

  async replace<Row extends Stored>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    await this.#noteReplaced(table, rows);
    const ids = new Set(rows.map((row) => row.id));
    const removed = await this.#delete(table, oneOf("id", [...ids]));
    await this.#change(() => invariant(removed === ids.size, "only records that exist are replaced"));
    await this.#insert(table, rows);
  }

  async setColumns<Row extends Stored, Name extends keyof Row & string>(
    table: Table<Row>,
    columns: readonly Name[],
    rows: readonly Pick<Row, Name | "id">[],
  ): Promise<void> {
    if (rows.length === 0) return;
    assertPlain(table, columns);
    this.#note(table, (cached) => cached?.some((name) => columns.includes(name as Name)) ?? true);
    const { tenant } = this.#subject(table);
    const values = await mapInSlices(rows, (row) => [
      ...columns.map((name) => storedValue(columnOf(table, name), wellFormed(row[name]))),
      row.id,
    ]);
    await this.#change(async () => {
      const changed = await this.#binding.database.setAll(
        this.#db,
        table,
        { names: columns, tenant },
        values,
      );
      invariant(changed === rows.length, "only records that exist are changed");
    });
  }

  async remove<Row extends object>(table: Table<Row>, filter: Filter): Promise<number> {
    await this.#clearLinks(table, filter);
    const removed = await this.#delete(table, filter);
    if (removed > 0) this.#note(table, () => true);
    return removed;
  }

  /** Notes the generations of a table whose columns a change has touched. */
  #note({ cachedAs = {} }: Pick<AnyTable, "cachedAs">, isTouched: (columns: CachedNames) => boolean): void {
    for (const [name, columns] of Object.entries(cachedAs) as [GenerationName, CachedNames][])
      if (isTouched(columns)) this.announced.add(name);
  }

  /** Notes the generations whose columns differ in records that are to be replaced. */
  async #noteReplaced<Row extends Stored>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    const { cachedAs } = table;
    if (!cachedAs || !this.#binding.database.announce) return;
    const fields = [...new Set(Object.values(cachedAs).flatMap((names) => names ?? []))];
    const ids = rows.map(({ id }) => id);
    const where = sql`where ${this.#where(table, oneOf("id", ids))}`;
    const stored = await this.#select<Row>(table as AnyTable, where, { fields: ["id", ...fields] });
    const before = new Map(stored.map((row) => [row.id, row]));
    const isSame = (row: Row, name: keyof Row) =>
      JSON.stringify(row[name]) === JSON.stringify(before.get(row.id)?.[name]);
    this.#note(table as AnyTable, (names) =>
      rows.some((row) => names?.some((name) => !isSame(row, name as keyof Row)) ?? true),
    );
  }

  async #delete(table: AnyTable, filter: Filter): Promise<number> {
    const where = this.#where(table, filter);
    return this.#change(async () => {
      const done = await sql`delete from ${sql.table(table.name)} where ${where}`.execute(this.#db);
      return Number(done.numAffectedRows);
    });
  }

  async #clearLinks(removed: AnyTable, filter: Filter): Promise<void> {
    const links = linksTo(this.#binding.tables, removed);
    if (links.length === 0) return;
    const { tenant } = this.#binding;
    const { rows } = await sql<Stored>`
      select id from ${sql.table(removed.name)} where ${this.#where(removed, filter)}
    `.execute(this.#db);
    const ids = this.#expressions.listed(
      rows.map(({ id }) => id),
      "number",
    );
    for (const { table, column: name, onDelete } of links) {
      if (onDelete === "remove") {
        await this.#removeLinked(table, name, ids);
        continue;
      }
      const column = sql.ref(name);
      const isList = columnOf(table, name).type === "json";
      const left = isList ? this.#expressions.elementsExcept(column, ids) : null;
      this.#note(table, (names) => names?.includes(name) ?? true);
      const isLinked = linksToOneOf(this.#subject(table), name, ids);
      const inTenant = tenant === "system" ? sql`` : sql`${columnRef(table, projectColumn)} = ${tenant} and `;
      await this.#change(() =>
        sql`update ${sql.table(table.name)} set ${column} = ${left} where ${inTenant}${isLinked}`.execute(
          this.#db,
        ),
      );
    }
  }

  async #removeLinked(table: AnyTable, name: string, ids: SqlExpression): Promise<void> {
    const { tenant } = this.#binding;
    const inTenant = tenant === "system" ? sql`` : sql`${columnRef(table, projectColumn)} = ${tenant} and `;
    const isLinked = linksToOneOf(this.#subject(table), name, ids);
    this.#note(table, () => true);
    await this.#change(() =>
      sql`delete from ${sql.table(table.name)} where ${inTenant}${isLinked}`.execute(this.#db),
    );
  }

  get #db(): Db {
    invariant(!this.#over, "a transaction that has ended is not used");
    return this.#binding.db;
  }

  get #expressions() {
    return this.#binding.database.expressions;
  }

  #subject(table: AnyTable): Subject {
    const { tables, tenant, scanLimits } = this.#binding;
    invariant(
      (table.belongsTo === "system") === (tenant === "system"),
      `${table.name} belongs to the tenant of the transaction`,
    );
    return { table, tables, tenant, scanLimits, expressions: this.#expressions };
  }

  #where(table: AnyTable, filter: Filter) {
    return recordsWhere(filter, this.#subject(table));
  }

  /** A few at a time, so that the first ones are those that fit. */
  async #getWithin<Row extends object>(
    table: Table<Row>,
    ids: readonly number[],
    bound: LengthBound | undefined,
  ): Promise<Row[]> {
    if (!bound) return this.#get(table, ids);
    const rows: Row[] = [];
    for (let at = 0; at < ids.length; at += limits.recordsPerBatch) {
      if (at > 0 && bound.left < 0) {
        bound.count({ length: 0, isCut: true });
        break;
      }
      const batch = new LengthBound(Number.MAX_SAFE_INTEGER);
      rows.push(...(await this.#get(table, ids.slice(at, at + limits.recordsPerBatch), batch)));
      bound.count({ length: batch.used, isCut: false });
    }
    return rows;
  }

  async #get<Row extends object>(
    table: Table<Row>,
    ids: readonly number[],
    bound?: LengthBound,
  ): Promise<Row[]> {
    const where = sql`where ${this.#where(table, oneOf("id", ids))}`;
    const found = await this.#select<Row & Stored>(table, where, { bound });
    if (found.length < 2 && ids.length < 2) return found;
    const byId = new Map(found.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
  }

  async #select<Row extends object>(
    table: AnyTable,
    rest: SqlExpression,
    { fields = Object.keys(table.columns), bound, limit }: Selection = {},
  ): Promise<Row[]> {
    const columns = sql.join(fields.map((name) => columnRef(table, name)));
    const query = sql<Record<string, unknown>>`select ${columns} from ${sql.table(table.name)} ${rest}`;
    const { parseJson } = this.#binding.database;
    if (!bound) return decodeRows<Row>({ table, fields, parseJson }, (await query.execute(this.#db)).rows);
    const within = { lengthMax: Math.max(0, bound.left), allOrNone: bound.isRefusing, limit };
    const found = await this.#binding.database.readWithin(this.#db, query, { table, fields, ...within });
    bound.count(found);
    return decodeRows<Row>({ table, fields, parseJson }, found.rows);
  }

  /** The rows as the values of all columns, the id first if they have one. */
  async #encoded<Row extends object>(table: Table<Row>, rows: readonly Row[]) {
    const { tenant } = this.#subject(table);
    const project = tenant === "system" ? [] : [tenant];
    const { id, ...others } = table.columns as AnyTable["columns"];
    const columns = Object.entries({ ...(id && { id }), ...others });
    const names = [...columns.map(([name]) => name), ...project.map(() => projectColumn)];
    const values = await mapInSlices(rows, (row) => [
      ...columns.map(([name, column]) => storedValue(column, row[name as keyof Row])),
      ...project,
    ]);
    return { names, values };
  }

  #insertAll(table: AnyTable, columns: readonly string[], rows: readonly Values[]): Promise<void> {
    const { database } = this.#binding;
    return this.#unlessTaken(table, () => database.insertAll(this.#db, table, columns, rows));
  }

  /** A change that a unique combination may refuse. */
  #unlessTaken<Result>(table: AnyTable, change: () => Promise<Result>): Promise<Result> {
    const { database } = this.#binding;
    return this.#change(() =>
      change().catch((error: unknown) => {
        const taken = database.takenColumns(error)?.filter((column) => column !== projectColumn);
        throw taken ? new UniqueViolation(table.name, taken) : error;
      }),
    );
  }

  /** Remembers a failed change, after which the transaction cannot succeed any more. */
  async #change<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }
}

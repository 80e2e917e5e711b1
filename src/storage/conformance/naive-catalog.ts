// The catalog in its plainest form, arrays in memory: the reference for every other backend.
import { invariant } from "../../lib/invariant.ts";
import { wellFormed } from "../../lib/text.ts";
import {
  compareBy,
  cutsOf,
  matches,
  type RecordContext,
  type RecordValues,
  rankOf,
  recordAt,
} from "../../query/evaluate.ts";
import { and, equals, type Filter } from "../../query/filter.ts";
import { type LengthBound, lengthOfValue } from "../../query/length-bound.ts";
import type { OrderBy, Position } from "../../query/page.ts";
import {
  type AnyTable,
  assertPlain,
  type Catalog,
  type CatalogQuery,
  type CatalogReader,
  type CatalogWriter,
  keyOf,
  linksTo,
  linkTo,
  type RankedQuery,
  type Stored,
  type Table,
  type Tenant,
  UniqueViolation,
} from "../catalog.ts";

type Held = RecordValues;

/** Every table's records of every project; never changed in place, so that a reader keeps its snapshot. */
interface State {
  readonly records: ReadonlyMap<string, readonly { readonly tenant: Tenant; readonly row: Held }[]>;
  readonly lastId: number;
}

/** A catalog that forgets everything when it is dropped. `tables` as in `openSqlCatalog`. */
export function openNaiveCatalog(tables: readonly AnyTable[]): Catalog {
  let state: State = { records: new Map(), lastId: 0 };
  let lastWrite: Promise<unknown> = Promise.resolve();
  let open = true;

  const write = async <Result>(
    tenant: Tenant,
    work: (tx: CatalogWriter) => Promise<Result>,
  ): Promise<Result> => {
    const tx = new NaiveTransaction(tables, tenant, { state });
    const answer = await work(tx).finally(() => tx.end());
    state = tx.outcome();
    return answer;
  };
  const writeBoth: Catalog["writeBoth"] = async (project, work) => {
    const changed = { state };
    const tx = new NaiveTransaction(tables, project, changed);
    const system = new NaiveTransaction(tables, "system", changed);
    const answer = await work(tx, system).finally(() => {
      tx.end();
      system.end();
    });
    tx.outcome();
    state = system.outcome();
    return answer;
  };
  /** Writes run one after another. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (!open) return Promise.reject(new Error("broken invariant: a closed catalog gets no requests"));
    const done = lastWrite.then(work);
    lastWrite = done.catch(() => undefined);
    return done;
  };
  return {
    async read(tenant, work) {
      invariant(open, "a closed catalog gets no requests");
      const tx = new NaiveTransaction(tables, tenant, { state });
      return await work(tx).finally(() => tx.end());
    },
    write: (tenant, work) => inTurn(() => write(tenant, work)),
    writeBoth: (project, work) => inTurn(() => writeBoth(project, work)),
    lastId: async () => state.lastId,
    async close() {
      open = false;
      await lastWrite;
    },
  };
}

class NaiveTransaction implements CatalogReader, CatalogWriter {
  readonly #tables: readonly AnyTable[];
  readonly #tenant: Tenant;
  /** Two transactions of one write share it. */
  readonly #changed: { state: State };
  #failure: unknown;
  #over = false;

  constructor(tables: readonly AnyTable[], tenant: Tenant, changed: { state: State }) {
    this.#tables = tables;
    this.#tenant = tenant;
    this.#changed = changed;
  }

  end(): void {
    this.#over = true;
  }

  /** Returns the transaction's state; throws when a statement failed, even if its caller continued. */
  outcome(): State {
    if (this.#failure) throw this.#failure;
    return this.#changed.state;
  }

  async find<Row extends object>(table: Table<Row>, { filter, order, page }: CatalogQuery): Promise<Row[]> {
    const within = this.#rows(table, filter)
      .filter((row) => !page.after || compareBy(order, row, recordAt(order, page.after)) > 0)
      .filter((row) => !page.before || compareBy(order, row, recordAt(order, page.before)) < 0)
      .filter((row) => !page.until || compareBy(order, row, recordAt(order, page.until)) <= 0)
      .sort((a, b) => compareBy(order, a, b));
    const start = page.before ? Math.max(0, within.length - page.limit) : 0;
    const rows = within.slice(start, start + page.limit);
    if (!page.before) return copy<Row>(fitting(table, rows, page.bound));
    return copy<Row>(fitting(table, rows.toReversed(), page.bound).toReversed());
  }

  async get<Row extends Stored>(table: Table<Row>, ids: readonly number[]): Promise<Row[]> {
    const rows = this.#rows(table, { kind: "everything" });
    return copy<Row>(ids.flatMap((id) => rows.filter((row) => row["id"] === id)));
  }

  async search<Row extends object>(table: Table<Row>, question: RankedQuery): Promise<Row[]> {
    const { filter, rank, order, limit, offset, bound } = question;
    const ranked = this.#rows(table, filter).sort((a, b) => {
      for (const { field, text } of rank) {
        const difference = rankOf(a[field], text) - rankOf(b[field], text);
        if (difference !== 0) return difference;
      }
      return compareBy(order, a, b);
    });
    return copy<Row>(fitting(table, ranked.slice(offset, offset + limit), bound));
  }

  async count<Row extends object>(table: Table<Row>, filter: Filter): Promise<number> {
    return this.#rows(table, filter).length;
  }

  async divide<Row extends object>(
    table: Table<Row>,
    { filter, order, parts }: { filter: Filter; order: readonly OrderBy[]; parts: number },
  ): Promise<Position[]> {
    const rows = this.#rows(table, filter).sort((a, b) => compareBy(order, a, b));
    return cutsOf(rows.length, parts).map((cut) =>
      order.map(({ field }) => rows[cut - 1]![field] as string | number),
    );
  }

  async insert<Row extends Stored>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    this.#change(table, (held) => [
      ...held,
      ...rows.map((row) => ({ tenant: this.#tenant, row: wellFormed(present(row)) })),
    ]);
    const lastId = rows.reduce((highest, row) => Math.max(highest, row.id), this.#changed.state.lastId);
    this.#changed.state = { ...this.#changed.state, lastId };
  }

  async replace<Row extends Stored>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    const ids = new Set(rows.map((row) => row.id));
    const replaced = this.#rows(table, { kind: "oneOf", field: "id", values: [...ids] });
    invariant(replaced.length === ids.size, "only records that exist are replaced");
    this.#change(table, (held) => held.filter(({ row }) => !ids.has(row["id"] as number)));
    await this.insert(table, rows);
  }

  async put<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      const made = { tenant: this.#tenant, row: wellFormed(present(row)) };
      const same = keyOf(table).map((field) => equals(field, made.row[field] as string | number));
      const [before] = this.#rows(table, and(...same));
      this.#change(table, (held) => [...held.filter((one) => one.row !== before), made]);
    }
  }

  async setColumns<Row extends Stored, Name extends keyof Row & string>(
    table: Table<Row>,
    columns: readonly Name[],
    rows: readonly Pick<Row, Name | "id">[],
  ): Promise<void> {
    assertPlain(table, columns);
    const held = await this.get(
      table,
      rows.map((row) => row.id),
    );
    invariant(held.length === rows.length, "only records that exist are changed");
    const parts = rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name]])));
    await this.replace(
      table,
      held.map((row, index) => ({ ...row, ...parts[index] })),
    );
  }

  async remove<Row extends object>(table: Table<Row>, filter: Filter): Promise<number> {
    const gone = new Set(this.#rows(table, filter));
    this.#clearLinks(table, new Set([...gone].map((row) => row["id"])));
    this.#change(table, (held) => held.filter(({ row }) => !gone.has(row)));
    return gone.size;
  }

  #clearLinks(removed: AnyTable, gone: ReadonlySet<unknown>): void {
    for (const { table, column, onDelete } of linksTo(this.#tables, removed))
      this.#change(table, (rows) =>
        rows.flatMap((one) => {
          if (one.tenant !== this.#tenant) return [one];
          if (onDelete === "remove") return gone.has(one.row[column]) ? [] : [one];
          return [{ ...one, row: unlinked(one.row, column, gone) }];
        }),
      );
  }

  #rows(table: AnyTable, filter: Filter): Held[] {
    this.#mayTouch(table);
    const held = this.#changed.state.records.get(table.name) ?? [];
    return held
      .filter(({ tenant }) => tenant === this.#tenant)
      .map(({ row }) => row)
      .filter((row) => matches(filter, row, this.#around(table, row)));
  }

  #around(table: AnyTable, row: Held): RecordContext {
    return {
      isInSubtree: (tree, ids) => this.#isInSubtree({ table, row }, tree, ids),
      has: (name, id, filter) => {
        const other = this.#tables.find((one) => one.name === name)!;
        return this.#rows(other, and(equals("id", id), filter)).length > 0;
      },
    };
  }

  #isInSubtree(
    { table, row }: { readonly table: AnyTable; readonly row: Held },
    tree: string,
    ids: readonly number[],
  ): boolean {
    const link = linkTo(table, tree);
    invariant(table.name === tree || link !== undefined, `${table.name} declares a link to ${tree}`);
    const own = link ? [row[link.column] ?? []].flat() : [row["id"]];
    const roots = this.#paths(tree, ids);
    return this.#paths(tree, own as number[]).some((path) => roots.some((root) => path.startsWith(root)));
  }

  #paths(tree: string, ids: readonly number[]): string[] {
    const table = this.#tables.find(({ name }) => name === tree);
    const path = table?.tree?.path;
    invariant(table !== undefined && path !== undefined, `${tree} is a tree`);
    return this.#rows(table, { kind: "oneOf", field: "id", values: ids }).map((row) => row[path] as string);
  }

  #change(
    table: AnyTable,
    change: (held: { tenant: Tenant; row: Held }[]) => { tenant: Tenant; row: Held }[],
  ): void {
    this.#mayTouch(table);
    const held = change([...(this.#changed.state.records.get(table.name) ?? [])]);
    try {
      this.#assertUnique(table, held);
    } catch (violation) {
      this.#failure = violation;
      throw violation;
    }
    this.#changed.state = {
      ...this.#changed.state,
      records: new Map(this.#changed.state.records).set(table.name, held),
    };
  }

  #assertUnique(table: AnyTable, held: readonly { tenant: Tenant; row: Held }[]): void {
    const ids = held.map(({ row }) => row["id"]).filter((id) => id !== undefined);
    if (new Set(ids).size < ids.length) throw new UniqueViolation(table.name, ["id"]);
    for (const columns of table.unique) {
      const taken = held
        .map(({ tenant, row }) => [tenant, ...columns.map((column) => row[column])])
        .filter((values) => values.every((value) => value !== undefined))
        .map((values) => JSON.stringify(values));
      if (new Set(taken).size < taken.length) throw new UniqueViolation(table.name, columns);
    }
  }

  #mayTouch(table: AnyTable): void {
    invariant(!this.#over, "a transaction that has ended is not used");
    invariant(
      (table.belongsTo === "system") === (this.#tenant === "system"),
      `${table.name} belongs to the tenant of the transaction`,
    );
  }
}

/** The row without members that hold nothing. */
const present = (row: object): Held =>
  Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== undefined && value !== null),
  ) as Held;

function unlinked(row: Held, link: string, gone: ReadonlySet<unknown>): Held {
  const { [link]: linked, ...rest } = row;
  if (Array.isArray(linked)) return { ...row, [link]: linked.filter((id) => !gone.has(id)) };
  return gone.has(linked) ? (rest as Held) : row;
}

/** The first rows, as far as they fit. */
function fitting(table: AnyTable, rows: readonly Held[], bound: LengthBound | undefined): readonly Held[] {
  if (!bound) return rows;
  const { left } = bound;
  let length = 0;
  let count = 0;
  while (count < rows.length && (count === 0 || length <= left)) length += lengthOf(table, rows[count++]!);
  bound.count({ length, isCut: count < rows.length });
  return rows.slice(0, count);
}

const lengthOf = ({ columns }: AnyTable, row: Held): number =>
  Object.entries(columns).reduce((sum, [name, { type }]) => {
    const value = row[name];
    return sum + lengthOfValue(type === "json" && value !== undefined ? JSON.stringify(value) : value);
  }, 0);

const copy = <Row>(rows: readonly Held[]): Row[] => structuredClone(rows) as unknown as Row[];

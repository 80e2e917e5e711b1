// The sequences module: rows compared with a naive reference, exact cells, columns over time.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { newContext, openCatalogs, scenariosIn } from "../../../test/support/context.ts";
import { refusal } from "../../../test/support/refusal.ts";
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { everything } from "../../query/filter.ts";
import type { PageQuery } from "../../query/page.ts";
import type { AnyTable, ProjectCatalog } from "../../storage/catalog.ts";
import { RowDeletions } from "../../storage/row-deletions.ts";
import { createAssets, deleteAssets } from "../assets/assets.ts";
import { assetTable } from "../assets/schema.ts";
import { type Cell, cellOf, longMax } from "./cells.ts";
import { readRows, type SequenceRows, writeRows } from "./rows.ts";
import {
  type ColumnValueType,
  ownedSequenceRows,
  sequenceDeletionTable,
  sequenceRowTable,
  sequenceTable,
} from "./schema.ts";
import {
  addColumns,
  createSequences,
  deleteColumns,
  deleteSequence,
  deleteSequences,
  getSequence,
  getSequences,
  listSequences,
  type NewSequence,
  type Sequence,
  updateColumns,
  updateSequence,
  updateSequences,
} from "./sequences.ts";

const catalogs = await openCatalogs([assetTable, sequenceTable, sequenceRowTable, sequenceDeletionTable]);
const contextOver = (catalog: ProjectCatalog) =>
  newContext(catalog, { rowDeletions: new RowDeletions(catalog, [ownedSequenceRows], assert.ifError) });
const scenario = scenariosIn(catalogs, contextOver);

const types: readonly ColumnValueType[] = ["STRING", "DOUBLE", "LONG"];
const column = (valueType: ColumnValueType, more: object = {}) => ({ valueType, metadata: {}, ...more });
const curve = (more: Partial<NewSequence> = {}): NewSequence => ({
  metadata: {},
  columns: types.map((type) => column(type)),
  ...more,
});

async function newSequence(ctx: RequestContext, more: Partial<NewSequence> = {}): Promise<Sequence> {
  return (await createSequences(ctx, [curve(more)]))[0]!;
}

const columnIdsOf = ({ columns }: Sequence) => columns.map(({ id }) => id);

interface ReadOptions {
  readonly from?: bigint;
  readonly to?: bigint;
  readonly columnIds?: readonly number[];
  readonly page?: PageQuery;
}

const read = (ctx: RequestContext, { id }: Sequence, options: ReadOptions = {}): Promise<SequenceRows> =>
  readRows(ctx, {
    sequenceId: id,
    from: options.from ?? 0n,
    to: options.to ?? longMax,
    columns: (options.columnIds ?? []).map((id) => ({ id, field: "columns" })),
    page: options.page ?? { limit: limits.sequenceRowsPerReadMax },
  });

const rowsOf = ({ page }: SequenceRows) => page.items.map(({ rowNumber, cells }) => [rowNumber, ...cells]);

/** A row of strings by column, as for `writeRows`. */
const row = (rowNumber: bigint, cells: Readonly<Record<number, Cell | null>>) => ({
  rowNumber,
  values: Object.entries(cells).map(([columnId, value]) => ({ columnId: Number(columnId), value })),
  field: "row",
});

const cells: readonly [type: ColumnValueType, sent: Cell, stored: Cell | undefined][] = [
  ["STRING", "", ""],
  ["STRING", "5", "5"],
  ["STRING", 5, undefined],
  ["DOUBLE", 1.5, 1.5],
  ["DOUBLE", -0, -0],
  ["DOUBLE", Number.POSITIVE_INFINITY, undefined],
  ["DOUBLE", "0", 0],
  ["DOUBLE", "-0.000", 0],
  ["DOUBLE", "1.50", 1.5],
  ["DOUBLE", ".5", 0.5],
  ["DOUBLE", "+1e3", 1000],
  ["DOUBLE", "1E21", 1e21],
  ["DOUBLE", "-1.7976931348623157e308", -1.7976931348623157e308],
  ["DOUBLE", "5e-324", 5e-324],
  ["DOUBLE", "0.1", 0.1],
  ["DOUBLE", "0.30000000000000004", 0.30000000000000004],
  ["DOUBLE", "0.1000000000000000055511151231257827", 0.1],
  ["DOUBLE", "0.1000000000000000055511151231257828", undefined],
  ["DOUBLE", "1335439424282878.2", 1335439424282878 + 0.25],
  ["DOUBLE", "1335439424282878.3", 1335439424282878 + 0.25],
  ["DOUBLE", "9007199254740993", undefined],
  ["DOUBLE", "9007199254740992", 2 ** 53],
  ["DOUBLE", "1e400", undefined],
  ["DOUBLE", "1e-400", undefined],
  ["DOUBLE", "nan", undefined],
  ["DOUBLE", "inf", undefined],
  ["DOUBLE", "Infinity", undefined],
  ["DOUBLE", "", undefined],
  ["DOUBLE", ".", undefined],
  ["DOUBLE", " 1", undefined],
  ["DOUBLE", "0x10", undefined],
  ["DOUBLE", "1,5", undefined],
  ["LONG", 5, 5],
  ["LONG", 5.5, undefined],
  ["LONG", 2 ** 53, undefined],
  ["LONG", "5", 5],
  ["LONG", "-5.0", -5],
  ["LONG", "5.5", undefined],
  ["LONG", "5e3", undefined],
  ["LONG", "9007199254740991", 2 ** 53 - 1],
  ["LONG", "9007199254740993", "9007199254740993"],
  ["LONG", "9223372036854775807", "9223372036854775807"],
  ["LONG", "-9223372036854775808", "-9223372036854775808"],
  ["LONG", "9223372036854775808", undefined],
  ["LONG", "-9223372036854775809", undefined],
  ["LONG", "", undefined],
  ["LONG", "x", undefined],
];

test("a cell holds just what was sent, or nothing", () => {
  for (const [type, sent, stored] of cells)
    assert.equal(cellOf(type, sent), stored, `${JSON.stringify(sent)} in a ${type} column`);
});

test("every double comes back from its text", () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(fc.property(double, (value) => cellOf("DOUBLE", `${value}`)! === value));
  fc.assert(fc.property(double, (value) => cellOf("DOUBLE", value.toPrecision(17))! === value));
});

const someRowNumber = fc.oneof(
  fc.bigInt(0n, 12n),
  fc.constantFrom(99n, 100n, 2n ** 53n, 2n ** 53n + 1n, longMax - 1n, longMax),
);
const someCell: Readonly<Record<ColumnValueType, fc.Arbitrary<Cell | null>>> = {
  STRING: fc.oneof(fc.string({ unit: "grapheme" }), fc.constant(null)),
  DOUBLE: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)),
  LONG: fc.oneof(
    fc.maxSafeInteger(),
    fc.bigInt(-(2n ** 63n), longMax).map((long) => cellOf("LONG", `${long}`)!),
    fc.constant(null),
  ),
};
const someCells = fc.record(
  { STRING: someCell.STRING, DOUBLE: someCell.DOUBLE, LONG: someCell.LONG },
  { requiredKeys: [] },
);

type Cells = Partial<Record<ColumnValueType, Cell | null>>;
type Step =
  | { readonly do: "write"; readonly rows: readonly (readonly [bigint, Cells])[] }
  | { readonly do: "read"; readonly from: bigint; readonly to: bigint; readonly limit: number }
  | { readonly do: "replace column"; readonly type: ColumnValueType };

const someStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("write" as const),
    rows: fc.array(fc.tuple(someRowNumber, someCells), { maxLength: 8 }),
  }),
  fc.record({
    do: fc.constant("read" as const),
    from: someRowNumber,
    to: someRowNumber,
    limit: fc.integer({ min: 1, max: 5 }),
  }),
  {
    arbitrary: fc.record({ do: fc.constant("replace column" as const), type: fc.constantFrom(...types) }),
    weight: 1,
  },
);

/** A sequence and its expected cells by type; there is one column of each type. */
class Model {
  readonly rows = new Map<bigint, Cells>();
  readonly #ctx: RequestContext;
  #sequence: Sequence;

  constructor(ctx: RequestContext, sequence: Sequence) {
    this.#ctx = ctx;
    this.#sequence = sequence;
  }

  #columnId(type: ColumnValueType): number {
    return this.#sequence.columns.find(({ valueType }) => valueType === type)!.id;
  }

  async run(step: Step): Promise<void> {
    if (step.do === "write") return this.#write(step.rows);
    if (step.do === "read") return this.#compare(step);
    await this.#replaceColumn(step.type);
  }

  async #write(rows: readonly (readonly [bigint, Cells])[]): Promise<void> {
    const sent = rows.map(([number, stored]) =>
      row(
        number,
        Object.fromEntries(
          Object.entries(stored).map(([type, cell]) => [this.#columnId(type as ColumnValueType), cell]),
        ),
      ),
    );
    await writeRows(this.#ctx, this.#sequence.id, sent);
    for (const [number, stored] of rows) this.rows.set(number, stored);
  }

  async #replaceColumn(type: ColumnValueType): Promise<void> {
    const { id } = this.#sequence;
    await addColumns(this.#ctx, id, [column(type)]);
    this.#sequence = await deleteColumns(this.#ctx, id, [this.#columnId(type)]);
    for (const [number, { [type]: _, ...left }] of this.rows) this.rows.set(number, left);
  }

  async #compare({ from, to, limit }: Step & { do: "read" }): Promise<void> {
    const columnIds = types.map((type) => this.#columnId(type));
    const found: unknown[][] = [];
    for (let page: PageQuery | undefined = { limit }; page; ) {
      const response: SequenceRows = await read(this.#ctx, this.#sequence, { from, to, columnIds, page });
      assert.ok(response.page.items.length <= limit);
      found.push(...rowsOf(response).map((cells) => cells.map(plain)));
      page = response.page.next && { limit, after: response.page.next };
    }
    const expected = [...this.rows]
      .filter(([number]) => number >= from && number <= to)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([number, stored]) => [number, ...types.map((type) => plain(stored[type]))]);
    assert.deepEqual(found, expected);
  }
}

/**
 * Nothing for null, and no negative zero: a store may keep its sign, which JSON does not carry, or lose it.
 */
const plain = <Held>(cell: Held) => (cell === null ? undefined : Object.is(cell, -0) ? 0 : cell);

scenario("rows are those of a plain map, whatever is written, read and done to columns", async (ctx) => {
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { maxLength: 12 }), async (steps) => {
      const model = new Model(ctx, await newSequence(ctx));
      for (const step of steps) await model.run(step);
      await model.run({ do: "read", from: 0n, to: longMax, limit: 3 });
    }),
    { numRuns: 25 },
  );
});

scenario("a refused row leaves the others of its request unwritten", async (ctx) => {
  const sequence = await newSequence(ctx);
  const [text, double] = columnIdsOf(sequence) as [number, number, number];
  await writeRows(ctx, sequence.id, [row(1n, { [text]: "kept" })]);
  const wrong = [row(1n, { [text]: "new" }), row(2n, { [double]: "many" })];
  await assert.rejects(writeRows(ctx, sequence.id, wrong), refusal("field-invalid"));
  assert.deepEqual(rowsOf(await read(ctx, sequence, { columnIds: [text] })), [[1n, "kept"]]);
});

scenario("rows belong to their sequence and go with it", async (ctx) => {
  const [one, other] = await createSequences(ctx, [curve(), curve()]);
  for (const sequence of [one!, other!])
    await writeRows(ctx, sequence.id, [row(7n, { [columnIdsOf(sequence)[0]!]: `${sequence.id}` })]);
  await deleteSequence(ctx, one!.id);
  await assert.rejects(read(ctx, one!), refusal("ids-unknown"));
  assert.deepEqual(rowsOf(await read(ctx, other!)), [[7n, `${other!.id}`, undefined, undefined]]);
  await ctx.rowDeletions.settled();
  const left = (table: AnyTable) => ctx.catalog.read(ctx.projectId, (tx) => tx.count(table, everything));
  assert.deepEqual([await left(sequenceRowTable), await left(sequenceDeletionTable)], [1, 0]);
});

scenario("another project sees neither sequences nor rows", async (ctx) => {
  const sequence = await newSequence(ctx, { externalId: "curve" });
  await writeRows(ctx, sequence.id, [row(1n, {})]);
  const other = contextOver(ctx.catalog);
  await assert.rejects(getSequence(other, sequence.id), refusal("ids-unknown"));
  await assert.rejects(read(other, sequence), refusal("ids-unknown"));
  await assert.rejects(writeRows(other, sequence.id, [row(1n, {})]), refusal("ids-unknown"));
  await newSequence(other, { externalId: "curve" });
  assert.deepEqual((await listSequences(ctx, { filter: everything, page: { limit: 9 } })).items, [sequence]);
});

scenario("a caller without the right neither reads nor writes", async (ctx) => {
  const sequence = await newSequence(ctx);
  const readOnly = { acl: "sequencesAcl", actions: ["READ"], scope: { kind: "all" } } as const;
  const reader = { ...ctx, caller: { ...ctx.caller, capabilities: [readOnly] } };
  assert.deepEqual(await Array.fromAsync(getSequences(reader, [sequence.id])), [[sequence]]);
  await assert.rejects(writeRows(reader, sequence.id, []), refusal("forbidden"));
  await assert.rejects(deleteSequences(reader, [sequence.id]), refusal("forbidden"));
  await assert.rejects(createSequences(reader, [curve()]), refusal("forbidden"));
  await assert.rejects(updateSequence(reader, { id: sequence.id, name: "x" }), refusal("forbidden"));
  const nobody = { ...ctx, caller: { ...ctx.caller, capabilities: [] } };
  await assert.rejects(getSequence(nobody, sequence.id), refusal("forbidden"));
  await assert.rejects(read(nobody, sequence), refusal("forbidden"));
});

scenario("metadata changes by set, then add, then remove; nothing new leaves the time", async (ctx) => {
  const { id, lastUpdatedTime } = await newSequence(ctx, { metadata: { a: "1", b: "2" } });
  const added = await updateSequence(ctx, { id, metadata: { add: { c: "3", b: "4" }, remove: ["a", "x"] } });
  assert.deepEqual(added.metadata, { b: "4", c: "3" });
  assert.ok(added.lastUpdatedTime > lastUpdatedTime);
  const set = { set: { d: "5", e: "6" }, add: { f: "7", d: "8" }, remove: ["e"] };
  assert.deepEqual((await updateSequence(ctx, { id, metadata: set })).metadata, { d: "8", f: "7" });
  const before = await getSequence(ctx, id);
  assert.deepEqual(await updateSequence(ctx, { id, metadata: { remove: ["x"] } }), before);
});

scenario("an external id that is taken, or given up at the same time, is refused", async (ctx) => {
  const [a, b] = await createSequences(ctx, [curve({ externalId: "a" }), curve({ externalId: "b" })]);
  const swap = [
    { id: a!.id, externalId: "b" },
    { id: b!.id, externalId: "a" },
  ];
  await assert.rejects(updateSequences(ctx, swap), refusal("external-ids-taken"));
  await assert.rejects(createSequences(ctx, [curve({ externalId: "a" })]), refusal("external-ids-taken"));
  await updateSequence(ctx, { id: a!.id, externalId: null });
  assert.equal((await updateSequence(ctx, { id: b!.id, externalId: "a" })).externalId, "a");
});

scenario("columns are added, changed and taken away; their values with them", async (ctx) => {
  const sequence = await newSequence(ctx);
  const { id } = sequence;
  const [text, double, long] = columnIdsOf(sequence) as [number, number, number];
  await writeRows(ctx, id, [row(1n, { [text]: "a", [double]: 2.5, [long]: 3 })]);
  const changed = await updateColumns(ctx, id, [{ id: double, name: "flow", externalId: "f" }]);
  assert.deepEqual(
    changed.columns.map(({ name, externalId }) => [name, externalId]),
    [
      [undefined, undefined],
      ["flow", "f"],
      [undefined, undefined],
    ],
  );
  await deleteColumns(ctx, id, [long]);
  const after = await addColumns(ctx, id, [column("LONG", { externalId: "new" })]);
  assert.equal(after.columns.length, 3);
  assert.deepEqual(rowsOf(await read(ctx, after)), [[1n, "a", 2.5, undefined]]);
  await assert.rejects(addColumns(ctx, id, [column("LONG", { externalId: "f" })]), refusal("field-invalid"));
  const many = Array.from({ length: limits.sequenceColumnsMax - 2 }, () => column("LONG"));
  await assert.rejects(addColumns(ctx, id, many), refusal("too-many"));
  await assert.rejects(deleteColumns(ctx, id, columnIdsOf(after)), refusal("field-invalid"));
  assert.deepEqual(await getSequence(ctx, id), after);
});

scenario("the link to an asset goes with the asset, the sequence stays", async (ctx) => {
  const [pump] = await createAssets(ctx, [{ name: "pump" }]);
  const { id } = await newSequence(ctx, { assetId: pump!.id });
  await deleteAssets(ctx, [pump!.id]);
  assert.equal((await getSequence(ctx, id)).assetId, undefined);
  await assert.rejects(newSequence(ctx, { assetId: pump!.id }), refusal("field-invalid"));
  await assert.rejects(updateSequence(ctx, { id, assetId: pump!.id }), refusal("field-invalid"));
});

// Every destination with each of its actions, with nulls that keep and that clear, through the code of a run
// without the process of its query.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../../../test/support/server.ts";
import { ownerContext, Transformations } from "../../../../test/support/transformations.ts";
import type { RequestContext } from "../../../context.ts";
import { commitRows } from "../runs/commits.ts";
import { candidateOf, keyColumns } from "../runs/rows.ts";
import { type DestinationName, nullModes, type TransformationAction } from "../schema.ts";
import type { Candidate } from "./destination.ts";
import { actionsOf, openDestination } from "./destinations.rest.ts";

type Values = Readonly<Record<string, string | number | null>>;

interface Case {
  readonly destination: DestinationName;
  /** The values that are the key of a row with this number. */
  readonly key: (at: number) => Values;
  /** Values that each record needs. */
  readonly fixed: Values;
  readonly column: string;
  readonly values: readonly [first: string | number, second: string | number];
  /** A null that clears the column deletes the record. */
  readonly isRecord?: true;
}

const named = (at: number) => ({ externalId: `m${at}` });
const link = { sourceType: "asset", sourceExternalId: "a", targetType: "asset", targetExternalId: "b" };
const cases: readonly Case[] = [
  {
    ...{ destination: { type: "assets" }, key: named, fixed: { name: "M" } },
    ...{ column: "description", values: ["one", "two"] },
  },
  {
    ...{ destination: { type: "events" }, key: named, fixed: { type: "t" } },
    ...{ column: "description", values: ["one", "two"] },
  },
  {
    ...{ destination: { type: "series" }, key: (at) => ({ name: `m${at}` }), fixed: { description: "d" } },
    ...{ column: "unit", values: ["bar", "kPa"] },
  },
  {
    ...{ destination: { type: "relationships" }, key: named, fixed: link },
    ...{ column: "confidence", values: [0.25, 0.5] },
  },
  {
    ...{ destination: { type: "raw", database: "matrix", table: "rows" }, fixed: { b: "x" } },
    ...{ key: (at) => ({ key: `m${at}` }), column: "a", values: [1, 2] },
  },
  {
    ...{ destination: { type: "files" }, key: named, fixed: { fileType: "t" } },
    ...{ column: "source", values: ["one", "two"] },
  },
  {
    ...{ destination: { type: "datapoints" }, key: (at) => ({ name: "points", timestamp: at }), fixed: {} },
    ...{ column: "value", values: [1, 2], isRecord: true },
  },
  {
    ...{ destination: { type: "sequenceRows", sequence: "matrix" }, fixed: { b: 7 } },
    ...{ key: (at) => ({ rowNumber: at }), column: "a", values: [1, 2] },
  },
];

let server: TestServer;
let ctx: RequestContext;
before(async () => {
  server = await startTestServer();
  const on = new Transformations(server);
  await on.save("owner", "SELECT 'a' AS externalId, 'a' AS name");
  ctx = await ownerContext(server);
  await on.ask("POST /timeseries", { items: [{ name: "points" }] });
  const columns = ["a", "b"].map((externalId) => ({ externalId, valueType: "DOUBLE" }));
  await on.ask("POST /sequences", { items: [{ externalId: "matrix", columns }] });
  // Uploads alone make files.
  for (const at of [0, 1, 10, 11])
    await on.ask("POST /files/initupload", { fileName: `m${at}.pdf`, externalId: `m${at}` });
});
after(() => server.close());

interface How {
  readonly action: TransformationAction;
  readonly nulls: (typeof nullModes)[number];
}

/** The rows as a run maps them. */
async function candidatesOf({ destination }: Case, { action, nulls }: How, rows: readonly Values[]) {
  const opened = await openDestination(ctx, { destination, action });
  const columns = Object.keys(rows[0]!).map((name) => ({ name }));
  const mapping = { destination: opened, key: keyColumns(opened, columns), columns, nulls };
  const candidates = rows.map((row, at) => candidateOf(mapping, Object.values(row), at + 1) as Candidate);
  return { destination: opened, candidates };
}

/** Writes the rows as a run does; returns the numbers of the rows by their outcome. */
async function write(of: Case, how: How, rows: readonly Values[]) {
  const { destination, candidates } = await candidatesOf(of, how, rows);
  const nothing = async () => {};
  const work = { destination, action: how.action, onError: "skip", isPlan: false } as const;
  const parts = await commitRows(ctx, { ...work, requireRunning: nothing, alongside: nothing }, candidates);
  const kinds = ["creations", "changes", "deletions", "unchanged", "refused"] as const;
  const rowsOf = (kind: (typeof kinds)[number]) => parts.flatMap((part) => part[kind].map(({ row }) => row));
  const found = kinds.map((kind) => [kind, rowsOf(kind)] as const);
  return Object.fromEntries(found.filter(([, numbers]) => numbers.length > 0));
}

/** The value of the column in each record: null if it has none, "absent" without a record. */
async function stored(of: Case, keys: readonly Values[]): Promise<unknown[]> {
  const { destination, candidates } = await candidatesOf(of, { action: "delete", nulls: "keep" }, keys);
  const { deletions } = await destination.compare(ctx, "delete", candidates);
  const byRow = new Map(deletions.map(({ row, current }) => [row, current[of.column] ?? null]));
  return candidates.map(({ row }) => (byRow.has(row) ? byRow.get(row) : "absent"));
}

/** The outcome for two records and a third one that does not exist: a new value, a null, a new record. */
function expected({ values: [old, changed], isRecord }: Case, { action, nulls }: How) {
  if (action === "create") return { counts: { creations: [3], refused: [1, 2] }, after: [old, old, changed] };
  if (action === "delete")
    return { counts: { deletions: [1, 2], unchanged: [3] }, after: ["absent", "absent", "absent"] };
  const cleared = isRecord
    ? { counts: { changes: [1], deletions: [2] }, second: "absent" }
    : { counts: { changes: [1, 2] }, second: null };
  const second = nulls === "keep" ? { counts: { changes: [1], unchanged: [2] }, second: old } : cleared;
  const third = action === "upsert" ? { creations: [3] } : { refused: [3] };
  return {
    counts: { ...second.counts, ...third },
    after: [changed, second.second, action === "upsert" ? changed : "absent"],
  };
}

for (const of of cases)
  test(`each action on ${of.destination.type}, with nulls that keep and that clear`, async () => {
    const { key, fixed, column, values, destination } = of;
    let first = 0;
    for (const action of actionsOf(destination.type))
      for (const nulls of nullModes) {
        const how = { action, nulls };
        const keys = [key(first), key(first + 1), key(first + 2)];
        const row = (at: number, value: Values[string]) => ({ ...keys[at], ...fixed, [column]: value });
        const setup = destination.type === "files" ? "update" : "upsert";
        const old = [row(0, values[0]), row(1, values[0])];
        await write(of, { action: setup, nulls: "keep" }, old);
        const rows = action === "delete" ? keys : [row(0, values[1]), row(1, null), row(2, values[1])];
        const { counts, after } = expected(of, how);
        assert.deepEqual(await write(of, how, rows), counts, JSON.stringify(how));
        assert.deepEqual(await stored(of, keys), after, JSON.stringify(how));
        first += 10;
      }
    assert.ok(first >= 20, "actions are tried");
  });

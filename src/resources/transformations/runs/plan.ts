// Previews and plans: the rows of a query, and the writes of a run. Neither writes or moves a mark.
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import type { SqlColumn, SqlRow, SqlSummary } from "../../../sql-runner/sql-runner.ts";
import type { Candidate, RecordChange, RowComparison } from "../destinations/destination.ts";
import { openDestination } from "../destinations/destinations.rest.ts";
import type { RowError } from "../schema.ts";
import { getTransformation, permittedFor } from "../transformations.ts";
import { commitRows } from "./commits.ts";
import { queryRefusal, readResult, requireRights, runQuery } from "./result.ts";
import { Sample } from "./rows.ts";

export interface PreviewColumn extends SqlColumn {
  /** The types of its values in these rows. */
  readonly types: SqlSummary["types"][number];
}

export interface Preview {
  readonly columns: readonly PreviewColumn[];
  readonly rows: readonly SqlRow[];
  readonly isCut: boolean;
}

/** Returns the first rows of a query, with the rights of the caller. */
export async function previewQuery(ctx: RequestContext, sql: string, firstRows: number): Promise<Preview> {
  permittedFor(ctx, "READ");
  let columns: readonly SqlColumn[] = [];
  const rows: SqlRow[] = [];
  const request = {
    ...{ sql, firstRows },
    onColumns: (found: readonly SqlColumn[]) => {
      columns = found;
    },
    onRows: (found: readonly SqlRow[]) => void rows.push(...found),
  };
  const { types, isCut } = await runQuery(ctx, request).catch((problem: unknown) => {
    throw queryRefusal(problem);
  });
  return { columns: columns.map((column, at) => ({ ...column, types: types[at] ?? [] })), rows, isCut };
}

/** Rows of one kind: all are counted, the first are listed. */
interface Planned<Row> {
  readonly count: number;
  readonly rows: readonly Row[];
}

export interface PlannedChange {
  readonly row: number;
  readonly key: string;
  readonly fields: readonly { readonly field: string; readonly old: unknown; readonly new: unknown }[];
}

export interface RunPlan {
  readonly read: number;
  readonly created: Planned<{ readonly row: number; readonly key: string; readonly values: object }>;
  readonly changed: Planned<PlannedChange>;
  readonly deleted: Planned<{ readonly row: number; readonly key: string }>;
  readonly unchanged: number;
  readonly refused: Planned<RowError>;
}

/**
 * Returns the effect that a run would have now. The rights are those of the caller, so that it shows no
 * record that the caller may not read. A row that depends on one of an earlier commit may be refused: a plan
 * writes nothing.
 */
export async function planRun(ctx: RequestContext, id: number): Promise<RunPlan> {
  const transformation = await getTransformation(ctx, id);
  const { action, onError } = transformation;
  const destination = await openDestination(ctx, transformation);
  requireRights(ctx, destination, onError);
  const samples = {
    created: new Sample<RunPlan["created"]["rows"][number]>(),
    changed: new Sample<PlannedChange>(),
    deleted: new Sample<RunPlan["deleted"]["rows"][number]>(),
    refused: new Sample<RowError>(),
  };
  let unchanged = 0;
  const refuse = (...errors: readonly RowError[]) => {
    samples.refused.add(...errors);
    if (samples.refused.count > limits.transformationRefusedMax)
      throw fail("transformation-rows-refused", { limit: limits.transformationRefusedMax });
  };
  const add = (done: RowComparison) => {
    samples.created.add(...done.creations);
    samples.changed.add(...done.changes.map(plannedChange));
    samples.deleted.add(...done.deletions.map(({ row, key }) => ({ row, key })));
    refuse(...done.refused);
    unchanged += done.unchanged.length;
  };
  const nothing = async () => {};
  const work = { destination, action, onError, isPlan: true, requireRunning: nothing, alongside: nothing };
  const onRows = async (rows: readonly Candidate[]) => {
    for (const done of await commitRows(ctx, work, rows)) add(done);
  };
  const { read, last } = await readResult(ctx, transformation, destination, {
    onRows,
    onRefused: (errors) => refuse(...errors),
    onRepeated: (count) => {
      unchanged += count;
    },
  }).catch((problem: unknown) => {
    throw queryRefusal(problem);
  });
  await onRows(last);
  const planned = <Row>({ count, rows }: Sample<Row>): Planned<Row> => ({ count, rows });
  const { created, changed, deleted, refused } = samples;
  return {
    ...{ read, unchanged, created: planned(created), changed: planned(changed) },
    ...{ deleted: planned(deleted), refused: planned(refused) },
  };
}

const plannedChange = ({ row, key, current, values }: RecordChange): PlannedChange => ({
  ...{ row, key },
  fields: Object.entries(values).map(([field, value]) => ({
    field,
    old: current[field] ?? null,
    new: value,
  })),
});

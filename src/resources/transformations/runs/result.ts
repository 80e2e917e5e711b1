// Runs the query of a transformation and collects the rows of its result as candidates for commits.
import { hash } from "node:crypto";
import { requireCapability } from "../../../access/caller.ts";
import type { RequestContext } from "../../../context.ts";
import { Failure, fail } from "../../../errors.ts";
import { TimeSlice } from "../../../lib/time-slice.ts";
import { limits } from "../../../limits.ts";
import {
  type SqlColumn,
  SqlFailure,
  type SqlMarks,
  type SqlRequest,
  type SqlRow,
  type SqlSummary,
} from "../../../sql-runner/sql-runner.ts";
import type { Candidate, RecordDestination } from "../destinations/destination.ts";
import type { RowError, TransformationInput } from "../schema.ts";
import { openSource } from "../source/source.ts";
import { candidateOf, keyColumns } from "./rows.ts";

/** Receives rows in groups of at most `limits.transformationCommitRows`. */
export interface ResultConsumer {
  /** Called for each group but the last. */
  readonly onRows: (rows: readonly Candidate[]) => Promise<void>;
  /** Rows that have no values, or a key that another row has. */
  readonly onRefused: (errors: readonly RowError[]) => void;
  /** Rows that repeat an earlier one. */
  readonly onRepeated: (count: number) => void;
}

export interface ReadRows {
  readonly read: number;
  /** The last rows, which `onRows` has not had. */
  readonly last: readonly Candidate[];
  readonly marks: SqlMarks;
}

type Query = Pick<TransformationInput, "query" | "nulls"> & { readonly marks: SqlMarks };

/** Runs the query with the rights of the caller. Rejects with `SqlFailure` if it has no result. */
export async function readResult(
  ctx: RequestContext,
  { query, nulls, marks }: Query,
  destination: RecordDestination,
  consumer: ResultConsumer,
): Promise<ReadRows> {
  let columns: readonly SqlColumn[] = [];
  let key: readonly string[] = [];
  let waiting: Candidate[] = [];
  let read = 0;
  const keys = new RepeatedKeys();
  const onRows = async (rows: readonly SqlRow[]) => {
    const slice = new TimeSlice(limits.timeSliceMs);
    for (const row of rows) {
      if (slice.isOver()) await slice.next(ctx.signal);
      read += 1;
      const candidate = candidateOf({ destination, key, columns, nulls }, row, read);
      if ("reason" in candidate) consumer.onRefused([candidate]);
      else {
        const known = keys.add(candidate);
        if (known === "new") waiting.push(candidate);
        else if (known === "same") consumer.onRepeated(1);
        else consumer.onRefused([{ row: read, key: candidate.key, reason: known }]);
      }
      if (waiting.length <= limits.transformationCommitRows) continue;
      const group = waiting.slice(0, limits.transformationCommitRows);
      waiting = waiting.slice(limits.transformationCommitRows);
      await consumer.onRows(group);
    }
  };
  const onColumns = (found: readonly SqlColumn[]) => {
    key = keyColumns(destination, found);
    columns = found;
  };
  const summary = await runQuery(ctx, { sql: query, marks, onColumns, onRows });
  return { read, last: waiting, marks: summary.marks };
}

/** Runs a query over the records that the caller may read. */
export const runQuery = (
  ctx: RequestContext,
  query: Omit<SqlRequest, "openSource" | "project">,
): Promise<SqlSummary> =>
  ctx.transformations.runner.run(
    { ...query, openSource: () => openSource(ctx), project: ctx.caller.projectUrlName },
    ctx.signal,
  );

/** Finds rows with the key of an earlier row. Keeps a digest of each row, as a result may be long. */
class RepeatedKeys {
  readonly #digests = new Map<string, string>();

  add({ key, values, pairs }: Candidate): "new" | "same" | string {
    const digest = hash("sha1", JSON.stringify([values, pairs]), "latin1").slice(0, 10);
    const known = this.#digests.get(key);
    if (known === undefined) this.#digests.set(key, digest);
    if (known === undefined) return "new";
    return known === digest ? "same" : "An earlier row has the same key and other values";
  }
}

/** Refuses (403) a caller without the rights that the writes need. */
export function requireRights(
  { caller }: RequestContext,
  { acl }: RecordDestination,
  onError: TransformationInput["onError"],
): void {
  requireCapability(caller, acl, "READ");
  requireCapability(caller, acl, "WRITE");
  if (onError === "skip") requireCapability(caller, "rawAcl", "WRITE");
}

/** The refusal (400) of a query without a result; any other problem as it is. */
export function queryRefusal(problem: unknown): unknown {
  if (!(problem instanceof SqlFailure)) return problem;
  const offset = "offset" in problem.problem ? problem.problem.offset : undefined;
  return fail("transformation-query-refused", {
    problem: problem.message,
    ...(offset !== undefined && { offset }),
  });
}

/** The reason for the record of a run; undefined for a fault of the server. */
export const reasonOf = (problem: unknown): string | undefined =>
  problem instanceof Failure || problem instanceof SqlFailure ? problem.message : undefined;

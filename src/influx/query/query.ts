// Runs the statements of a query one after another.
import { requireCapability } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { Failure } from "../../errors.ts";
import type { QueryStatement } from "./ast.ts";
import { BoundParameters } from "./parameters.ts";
import { parseQuery } from "./parse.ts";
import { statementProblem } from "./problems.ts";
import type { ResultSeries } from "./rows.ts";
import { runSelect } from "./select.ts";
import { namesEvents } from "./series-model.ts";
import { runShow } from "./show.ts";

/** The series of one statement; fails where the statement is refused. */
export type QueryResult = AsyncGenerator<ResultSeries>;

export interface QueryInput {
  readonly q: string;
  /** JSON of bound parameters. */
  readonly params: string | undefined;
}

/**
 * The results of the statements, each read when it is iterated. Refuses (400) a query that cannot be parsed,
 * and (403) statements that the caller has no capability for.
 */
export function runQuery(ctx: RequestContext, { q, params }: QueryInput): readonly QueryResult[] {
  const statements = parseQuery(q, { nowMs: ctx.system.nowMs(), parameters: new BoundParameters(params) });
  for (const statement of statements) requireRight(ctx, statement);
  return statements.map((statement) => run(ctx, statement));
}

function requireRight({ caller }: RequestContext, statement: QueryStatement): void {
  if (statement.kind === "refused") return;
  const isEvents = statement.kind === "select" && namesEvents(statement.from);
  requireCapability(caller, isEvents ? "eventsAcl" : "timeSeriesAcl", "READ");
}

async function* run(ctx: RequestContext, statement: QueryStatement): QueryResult {
  if (statement.kind === "refused") throw statementProblem(statement.problem);
  yield* statement.kind === "select" ? runSelect(ctx, statement) : runShow(ctx, statement);
}

/** The message of a refusal of one statement; undefined for failures of the whole request. */
export const refusalOf = (problem: unknown): string | undefined =>
  problem instanceof Failure && problem.status < 500 ? problem.message : undefined;

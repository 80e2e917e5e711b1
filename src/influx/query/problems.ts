// Refusals of queries: those that cannot be parsed, and those of one statement.
import { type Failure, fail } from "../../errors.ts";

/** The query cannot be parsed: no statement is run. */
export const queryProblem = (problem: string): Failure => fail("influxql-invalid", { problem });

/** A statement that is not served; the others of the query are. */
export const statementProblem = (problem: string): Failure => fail("influxql-refused", { problem });

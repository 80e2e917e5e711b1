// Refusals of transformations. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const transformationFailures = {
  "transformation-account-needed": entry<Record<string, never>>({
    status: 400,
    when: "A caller without an account saves a transformation; its runs need the rights of an account.",
    message: () => "A transformation has the rights of the account that saved it; save it with an API key",
  }),
  "transformation-account-gone": entry<Record<string, never>>({
    status: 400,
    when: "The account that saved a transformation was deleted. The record of the run has this reason.",
    message: () => "The account that saved this transformation was deleted; save it with another account",
  }),
  "transformation-running": entry<{ readonly externalId: string; readonly runId: number }>({
    status: 409,
    when: "A run is started, or a mark is reset, while a run of the same transformation has not ended.",
    message: ({ externalId, runId }) => `The transformation ${externalId} is running: run ${runId}`,
  }),
  "transformation-rows-refused": entry<{ readonly limit: number }>({
    status: 400,
    when: "More rows of a result are refused than a run or a plan may skip.",
    message: ({ limit }) => `More than ${limit} rows were refused`,
  }),
  "transformation-query-refused": entry<{ readonly problem: string; readonly offset?: number }>({
    status: 400,
    when: "The SQL of a preview or a plan cannot be run.",
    message: ({ problem }) => `The query has no result: ${problem}`,
    members: ({ offset }) => (offset === undefined ? {} : { position: offset + 1 }),
  }),
  "transformation-columns-refused": entry<{ readonly problem: string }>({
    status: 400,
    when: "A query returns columns that its destination does not have, or lacks one that it needs.",
    message: ({ problem }) => problem,
  }),
  "transformation-sequence-unknown": entry<{ readonly externalId: string }>({
    status: 400,
    when: "The sequence of a destination does not exist, or the account may not read it.",
    message: ({ externalId }) => `No sequence that the account may read has the external id ${externalId}`,
  }),
  "transformation-cycle": entry<{ readonly externalId: string; readonly limit: number }>({
    status: 400,
    when: "A transformation would run after itself, or at the end of a chain that is too long.",
    message: ({ externalId, limit }) =>
      `${externalId} would run after itself, or after a chain of more than ${limit} transformations`,
  }),
  "transformation-after-unknown": entry<{ readonly externalId: string; readonly after: string }>({
    status: 400,
    when: "A transformation would run after one that does not exist, or that is deleted or renamed.",
    message: ({ externalId, after }) =>
      `${externalId} would run after ${after}, and no transformation has this external id`,
  }),
  "transformation-row-taken": entry<{ readonly columns: readonly string[] }>({
    status: 409,
    when: "Another record has a unique value of the row already; the run lists the row.",
    message: ({ columns }) => `Another record has the same ${columns.join(" and ")}`,
  }),
  "transformation-run-ended": entry<Record<string, never>>({
    status: 409,
    when: "A run writes after it was cancelled, or after another server has taken over its record.",
    message: () => "The run has ended",
  }),
} as const;

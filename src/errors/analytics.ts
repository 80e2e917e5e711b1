// Refusals of pattern search and its jobs. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const analyticsFailures = {
  "search-too-long": entry<{ limit: number }>({
    status: 400,
    when: "A pattern search would compare more samples than one may. A job fails with this reason.",
    message: ({ limit }) =>
      `The search would compare more than ${limit} samples; search a shorter time or longer buckets`,
  }),
  "jobs-running": entry<{ limit: number }>({
    status: 429,
    when: "A caller has as many unfinished analytics jobs as one may.",
    message: ({ limit }) =>
      `There are ${limit} unfinished analytics jobs of this caller; wait for one or cancel one`,
  }),
  "job-deadline": entry<{ limitMs: number }>({
    status: 503,
    when: "An analytics job took too long, its wait for other jobs included. It fails with this reason.",
    message: ({ limitMs }) => `The job took longer than ${limitMs} ms; search a shorter time`,
  }),
  "job-unfinished": entry<{ id: number; state: string; problem?: string }>({
    status: 409,
    when: "The result of an analytics job is read that is not DONE; the text has the reason of a FAILED one.",
    message: ({ id, state, problem }) =>
      `The job ${id} is ${state}, not DONE${problem === undefined ? "" : `: ${problem}`}`,
  }),
} as const;

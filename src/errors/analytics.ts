// Refusals of pattern search and its jobs. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const analyticsFailures = {
  "search-too-long": entry<{ limit: number }>({
    status: 400,
    when: "A pattern search would compare more samples than the limit. A job fails with this reason.",
    message: ({ limit }) =>
      `The search would compare more than ${limit} samples; search a shorter time or longer buckets`,
  }),
  "jobs-running": entry<{ limit: number }>({
    status: 429,
    when: "A caller has as many unfinished analytics jobs as the limit allows.",
    message: ({ limit }) =>
      `There are ${limit} unfinished analytics jobs of this caller; wait for one or cancel one`,
  }),
  "job-deadline": entry<{ limitMs: number }>({
    status: 503,
    when: "An analytics job took too long, including its wait for other jobs. It fails with this reason.",
    message: ({ limitMs }) => `The job took longer than ${limitMs} ms; search a shorter time`,
  }),
  "job-unfinished": entry<{ id: number; state: string; problem?: string }>({
    status: 409,
    when: "A result of an analytics job is read before the job is DONE; the message says why one FAILED.",
    message: ({ id, state, problem }) =>
      `The job ${id} is ${state}, not DONE${problem === undefined ? "" : `: ${problem}`}`,
  }),
} as const;

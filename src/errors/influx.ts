// Refusals of the InfluxDB protocol. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const influxFailures = {
  "lines-refused": entry<{ problem: string }>({
    status: 400,
    when: "Lines of a write in line protocol were not stored; all other lines of the request are stored.",
    // Telegraf does not repeat a write whose message has the words "partial write".
    message: ({ problem }) => `partial write: ${problem}`,
  }),
  "influxql-invalid": entry<{ problem: string }>({
    status: 400,
    when: "A query in InfluxQL cannot be parsed. None of its statements is run.",
    message: ({ problem }) => `error parsing query: ${problem}`,
  }),
  "influxql-refused": entry<{ problem: string }>({
    status: 400,
    when: "A statement in InfluxQL is not supported. The message is in the result of the statement.",
    message: ({ problem }) => problem,
  }),
  "flux-not-supported": entry<Record<never, never>>({
    status: 400,
    when: "A query in Flux was sent.",
    message: () => "Flux is not supported: send InfluxQL to /query",
  }),
} as const;

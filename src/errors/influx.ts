// Refusals of the InfluxDB protocol. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const influxFailures = {
  "lines-refused": entry<{ problem: string }>({
    status: 400,
    when: "Lines of a write in line protocol were not stored; all other lines of the request are stored.",
    // Telegraf does not repeat a write whose message has the words "partial write".
    message: ({ problem }) => `partial write: ${problem}`,
  }),
} as const;

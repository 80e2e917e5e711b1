// Refusals of retention rules. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const retentionFailures = {
  "retention-rule-exists": entry<Record<string, never>>({
    status: 409,
    when: "The target of a retention rule has one already, or the request creates it twice.",
    message: () => "A series, an asset and a project have one retention rule each at most; change that one",
  }),
  "retention-rules-many": entry<{ readonly limit: number }>({
    status: 409,
    when: "A project would have more retention rules than the limit.",
    message: ({ limit }) =>
      `A project has at most ${limit} retention rules; choose an asset above the series`,
  }),
} as const;

// Refusals of the demo plant. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const demoFailures = {
  "demo-not-empty": entry<Record<string, never>>({
    status: 409,
    when: "The demo plant is requested for a project that has assets.",
    message: () => "The project has assets already; load the demo plant into a project without assets",
  }),
  "demo-administration": entry<Record<string, never>>({
    status: 403,
    when: "The demo plant is started or ended by a caller that does not administer groups.",
    message: () =>
      "Only a caller that administers groups can start or end the demo plant: groupsAcl with LIST, READ, " +
      "CREATE, UPDATE and DELETE",
  }),
} as const;

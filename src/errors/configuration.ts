// Refusals of configurations that are applied as documents. Part of the catalogue of `src/errors.ts`.
import { type ErrorMembers, entry } from "./entry.ts";

export const configurationFailures = {
  "configuration-refused": entry<{
    readonly kind: string;
    /** Absent if the refusal is about several documents. */
    readonly name?: string | undefined;
    readonly refusal: { readonly message: string; readonly members: ErrorMembers };
    readonly status: number;
  }>({
    status: 400,
    otherStatuses: [403, 404, 409, 413],
    when: "A document cannot be applied, for the reason and with the status that its resource gives.",
    message: ({ kind, name, refusal }) =>
      `${kind}${name === undefined ? "" : ` ${JSON.stringify(name)}`}: ${refusal.message}`,
    members: ({ kind, name, refusal }) => ({
      ...refusal.members,
      document: { kind, ...(name !== undefined && { name }) },
    }),
  }),
  "configuration-repeated": entry<{ readonly kind: string; readonly name: string }>({
    status: 400,
    when: "Two documents of one request are for the same record.",
    message: ({ kind, name }) => `${kind} ${JSON.stringify(name)} is there twice`,
    members: ({ kind, name }) => ({ document: { kind, name } }),
  }),
  "configuration-ambiguous": entry<{ readonly kind: string; readonly name: string }>({
    status: 409,
    when: "A document names records by a name that several of them have.",
    message: ({ kind, name }) =>
      `Several records of ${kind} have the name ${JSON.stringify(name)}; rename or delete all but one`,
    members: ({ kind, name }) => ({ document: { kind, name } }),
  }),
  "configuration-changed": entry<Record<string, never>>({
    status: 409,
    when: "The differences are no longer those of `digest`, because records were changed meanwhile.",
    message: () => "Records were changed after the differences were shown; nothing was applied",
  }),
} as const;

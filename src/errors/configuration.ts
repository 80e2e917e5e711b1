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
    when: "The resource of a document refuses it. The message and the status are those of that refusal.",
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
    when: "A document refers to a record by a name, and several records have this name.",
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

// Refusals about records: unknown, repeated, taken, in use. Part of the catalogue of `src/errors.ts`.
import { entry, firstOf } from "./entry.ts";

export const recordFailures = {
  "ids-unknown": entry<{ field: string; ids: readonly number[]; status?: 400 | 404 }>({
    status: 400,
    otherStatuses: [404],
    when: "An operation names unknown ids; `notFound` lists them. For datapoints the status is 404.",
    message: ({ ids }) => `No such ids: ${firstOf(ids)}`,
    members: ({ ids }) => ({ notFound: ids }),
  }),
  "ids-repeated": entry<{ field: string; ids: readonly number[] }>({
    status: 400,
    when: "An operation names the same id twice; `notFound` lists those ids.",
    message: ({ field, ids }) => `${field} names the same id more than once: ${firstOf(ids)}`,
    members: ({ ids }) => ({ notFound: ids }),
  }),
  "records-too-long": entry<{ field: string; limit: number }>({
    status: 413,
    when: "An update names records that are together longer than the limit.",
    message: ({ field, limit }) =>
      `The records that ${field} names have more than ${limit} characters together; name fewer of them`,
  }),
  "external-ids-taken": entry<{ what: string; externalIds: readonly string[] }>({
    status: 409,
    when: "Another record of the kind has this external id, or the request twice; `duplicates` lists them.",
    message: ({ what, externalIds }) =>
      `${/^[aeiou]/.test(what) ? "An" : "A"} ${what} has this externalId already: ${firstOf(externalIds)}`,
    members: ({ externalIds }) => ({ duplicates: externalIds.map((externalId) => ({ externalId })) }),
  }),
  "external-ids-unknown": entry<{ what: string; externalIds: readonly string[]; status?: 404 }>({
    status: 400,
    otherStatuses: [404],
    when: "An operation names external ids that do not exist; `notFound` lists them.",
    message: ({ what, externalIds }) => `No ${what} has this externalId: ${firstOf(externalIds)}`,
    members: ({ externalIds }) => ({ notFound: externalIds }),
  }),
  "external-ids-repeated": entry<{ field: string; externalIds: readonly string[] }>({
    status: 400,
    when: "An operation names the same external id twice; `notFound` lists those.",
    message: ({ field, externalIds }) =>
      `${field} names the same externalId more than once: ${firstOf(externalIds)}`,
    members: ({ externalIds }) => ({ notFound: externalIds }),
  }),
  "names-taken": entry<{ what: string; field: string; names: readonly string[] }>({
    status: 409,
    when: "Another user, category or trend has this name, or the request names it twice: see `duplicates`.",
    message: ({ what, field, names }) => `A ${what} has this ${field} already: ${firstOf(names)}`,
    members: ({ field, names }) => ({ duplicates: names.map((name) => ({ [field]: name })) }),
  }),
  "connector-name-in-use": entry<{ name: string; owner: string; seenMsAgo: number }>({
    status: 409,
    when: "A connector reports under the name of another process, which has reported lately.",
    message: ({ name, owner, seenMsAgo }) =>
      `Another process reports as the connector ${name}, last ${Math.round(seenMsAgo / 1000)} s ago with ` +
      `the account ${owner}; give one of them another name, or stop it`,
    members: ({ name }) => ({ duplicates: [{ name }] }),
  }),
  "asset-duplicates": entry<{ duplicates: readonly { source: string; sourceId: string }[] }>({
    status: 400,
    when: "Another asset has this source and source id, or the request twice; `duplicates` lists them.",
    message: ({ duplicates }) =>
      `An asset has this source and sourceId already: ${firstOf(
        duplicates.map(({ source, sourceId }) => `${source} ${sourceId}`),
      )}`,
    members: ({ duplicates }) => ({ duplicates }),
  }),
  "asset-name-taken": entry<{ names: readonly string[] }>({
    status: 400,
    when: "Two children of one asset would have the same name.",
    message: ({ names }) => `Children of one asset must have different names: ${firstOf(names)}`,
  }),
  "asset-circle": entry<{ names: readonly string[] }>({
    status: 400,
    when: "The new parents would put an asset below itself.",
    message: ({ names }) => `An asset cannot be below itself: ${firstOf(names, " below ")}`,
  }),
  "asset-too-deep": entry<{ name: string; limit: number }>({
    status: 400,
    when: "An asset would be deeper in the tree than the limit.",
    message: ({ name, limit }) => `The asset ${name} would be more than ${limit} levels below its root`,
  }),
  "asset-type-in-use": entry<{ inUse: readonly { readonly id: number; readonly name: string }[] }>({
    status: 409,
    when: "Asset types, or fields of one, are deleted while an asset has them; `extra.inUse` lists some.",
    message: ({ inUse }) =>
      `Assets have values of ${firstOf(inUse.map(({ name }) => name))}; remove them first`,
    members: ({ inUse }) => ({ extra: { inUse } }),
  }),
  "event-duplicates": entry<{
    duplicates: readonly { readonly id?: number; readonly source: string; readonly sourceId: string }[];
  }>({
    status: 409,
    when: "Other events have the same source and source id; `duplicates` lists them, writable ones by id.",
    message: ({ duplicates }) =>
      `An event has this source and sourceId already: ${firstOf(
        duplicates.map(({ source, sourceId }) => `${source} ${sourceId}`),
      )}`,
    members: ({ duplicates }) => ({ duplicates }),
  }),
  "semantic-type-in-use": entry<{ inUse: readonly { readonly id: number; readonly name: string }[] }>({
    status: 409,
    when: "Semantic types are deleted while an event has a phrase of one; `extra.inUse` lists some.",
    message: ({ inUse }) =>
      `Events have phrases of ${firstOf(inUse.map(({ name }) => name))}; remove these phrases first`,
    members: ({ inUse }) => ({ extra: { inUse } }),
  }),
  "members-present": entry<{ ids: readonly number[] }>({
    status: 400,
    when: "Accounts are added to a group that has them already.",
    message: ({ ids }) => `These are members of the group already: ${firstOf(ids)}`,
  }),
  "last-administrator": entry<Record<string, never>>({
    status: 400,
    when: "The last group, membership, account or key without limits that administers the project would go.",
    message: () =>
      "After this no key without limits could administer the project; " +
      "give another account these rights and a key first",
  }),
  "raw-databases-unknown": entry<{ names: readonly string[] }>({
    status: 404,
    when: "A raw operation names databases that do not exist; `notFound` lists them.",
    // Published clients read this text (docs/reference/common.md#error-messages-that-clients-read).
    message: () => "Did not find any dbs with the given names",
    members: ({ names }) => ({ notFound: names }),
  }),
  "raw-tables-unknown": entry<{ names: readonly string[] }>({
    status: 404,
    when: "A raw operation names tables that its database does not have; `notFound` lists them.",
    // Published clients read this text (docs/reference/common.md#error-messages-that-clients-read).
    message: ({ names }) => `No tables named ${firstOf(names)}`,
    members: ({ names }) => ({ notFound: names }),
  }),
  "raw-row-unknown": entry<{ key: string }>({
    status: 404,
    when: "A raw table has no row with the key; `notFound` holds it.",
    message: ({ key }) => `No row with the key ${key}`,
    members: ({ key }) => ({ notFound: [key] }),
  }),
  "raw-databases-not-empty": entry<{ names: readonly string[] }>({
    status: 400,
    when: "Raw databases that hold tables are deleted without `recursive=true`.",
    message: ({ names }) =>
      `There are tables in ${firstOf(names)}: delete them first, or all at once with recursive=true`,
  }),
} as const;

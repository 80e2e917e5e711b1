// The credential of a request; keys end together with the credential that made them.
import { and, equals, type Filter, hasOneOf } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../storage/catalog.ts";
import { type ApiKey, apiKeyTable } from "./schema.ts";

/** `untilMs` is when it ends; a key without one has no end. */
export type Credential =
  | {
      readonly kind: "key";
      readonly id: number;
      /** The origins of the key itself. */
      readonly madeBy: readonly string[];
      readonly untilMs?: number;
    }
  | {
      readonly kind: "login";
      readonly sessionId: string;
      readonly issuer: string;
      readonly untilMs: number;
    }
  /**
   * A session that began with a one-time link. Keys made with it do not end with it, because the command
   * line, which makes links, makes keys without an end as well.
   */
  | { readonly kind: "session"; readonly id: number; readonly untilMs?: undefined }
  /** A token of an identity provider. */
  | { readonly kind: "token"; readonly issuer: string; readonly untilMs: number }
  /** The key that the code of a model runs with, and the credential of the request that started the run. */
  | { readonly kind: "run"; readonly startedWith: Credential | undefined; readonly untilMs: number };

/** The names of origins in the column `madeBy` of keys. */
export const originOf = {
  key: (id: number) => `key ${id}`,
  login: (sessionId: string) => `login ${sessionId}`,
  provider: (issuer: string) => `provider ${issuer}`,
} as const;

/** All that a key made with this credential depends on, the first origin first. */
export function originsOf(credential: Exclude<Credential, { kind: "run" }>): readonly string[] {
  switch (credential.kind) {
    case "key":
      return [...credential.madeBy, originOf.key(credential.id)];
    case "login":
      return [originOf.provider(credential.issuer), originOf.login(credential.sessionId)];
    case "token":
      return [originOf.provider(credential.issuer)];
    case "session":
      return [];
  }
}

/** The given time, or the end of the credential if that is earlier. */
export const notAfter = (credential: Credential | undefined, timeMs: number): number =>
  Math.min(timeMs, credential?.untilMs ?? timeMs);

/** Revokes the keys that `filter` finds, and every key made with one of them; returns all of their ids. */
export async function revokeKeys(tx: CatalogWriter, filter: Filter, nowMs: number): Promise<number[]> {
  const named = await liveKeys(tx, filter);
  const made = await liveKeys(tx, madeWith(named.map(({ id }) => originOf.key(id))));
  const ids = [...new Set([...named, ...made].map(({ id }) => id))];
  await tx.setColumns(
    apiKeyTable,
    ["deletedTime"],
    ids.map((id) => ({ id, deletedTime: nowMs })),
  );
  return ids;
}

/** The keys that depend on one of these origins. */
export const madeWith = (origins: readonly string[]): Filter => hasOneOf("madeBy", origins);

/** Replaces the key `old` by `next`: keys that were made with `old` depend on `next` from then on. */
export async function inheritKeys(tx: CatalogWriter, old: number, next: number): Promise<void> {
  const [before, after] = [originOf.key(old), originOf.key(next)];
  const made = await liveKeys(tx, madeWith([before]));
  await tx.setColumns(
    apiKeyTable,
    ["madeBy"],
    made.map(({ id, madeBy = [] }) => ({ id, madeBy: madeBy.map((one) => (one === before ? after : one)) })),
  );
}

async function liveKeys(tx: CatalogReader, filter: Filter): Promise<ApiKey[]> {
  const live = and(equals("deletedTime", null), filter);
  const limit = await tx.count(apiKeyTable, live);
  return tx.find(apiKeyTable, { filter: live, order: byId, page: { limit } });
}

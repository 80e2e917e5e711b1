// Creates the records that are missing. So a load that was interrupted can be run again from the start.
import type { Connection } from "../client/connection.ts";
import { limits } from "../limits.ts";

type Item = Readonly<Record<string, unknown>>;
type Found = Item & { readonly id: number };

/** A list of the API, and the member by which its records are known. */
export interface Kind {
  readonly resource: string;
  readonly member: "externalId" | "name" | "uniqueName";
  /** Further parameters of the list. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Ids of records by the member of their kind. */
export type Ids = ReadonlyMap<string, number>;

/** Creates the items that no record of the list has yet; returns the ids of all. */
export async function ensure(connection: Connection, kind: Kind, items: readonly Item[]): Promise<Ids> {
  const { resource, member, query } = kind;
  const path = connection.pathOf(resource, "0.6");
  const ids = new Map<string, number>();
  const keep = (found: readonly Found[]) => {
    for (const one of found) if (typeof one[member] === "string") ids.set(one[member], one.id);
  };
  const limit = String(limits.listItemsMax);
  for await (const page of connection.pages<Found>(path, { ...query, limit })) keep(page);
  const missing = items.filter((item) => !ids.has(String(item[member])));
  for (let at = 0; at < missing.length; at += limits.importItemsPerRequest) {
    const body = JSON.stringify({ items: missing.slice(at, at + limits.importItemsPerRequest) });
    const { data } = (await connection.json("POST", path, { body })) as { data: { items: Found[] } };
    keep(data.items);
  }
  return ids;
}

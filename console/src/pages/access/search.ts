// The search parameters of the page of access.

export const accessTabs = ["accounts", "keys", "groups", "categories", "provider", "explain"] as const;
export type AccessTab = (typeof accessTabs)[number];

export const explainedResources = [
  "assets",
  "timeseries",
  "events",
  "files",
  "sequences",
  "relationships",
  "trends",
] as const;
export type ExplainedResource = (typeof explainedResources)[number];

export interface AccessSearch {
  /** Accounts when absent. */
  readonly tab?: AccessTab;
  /** The group that is open. */
  readonly group?: number;
  /** The account whose keys are listed, or whose rights are explained. */
  readonly account?: number;
  readonly resource?: ExplainedResource;
  /** The record whose access is explained. */
  readonly record?: number;
  readonly action?: "WRITE";
}

const idOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined;

export function accessSearch(search: Record<string, unknown>): AccessSearch {
  const { group, account, record, action } = search;
  return {
    ...present(
      "tab",
      accessTabs.find((tab) => tab === search["tab"]),
    ),
    ...present("group", idOf(group)),
    ...present("account", idOf(account)),
    ...present(
      "resource",
      explainedResources.find((resource) => resource === search["resource"]),
    ),
    ...present("record", idOf(record)),
    ...(action === "WRITE" && { action }),
  };
}

const present = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [name in Name]?: Value };

// The search parameters of the API explorer: the version, the operation, and the values of its parameters.
import { textIn, wordIn } from "../../../lib/search-values.ts";

export const versions = ["0.4", "0.5", "0.6"] as const;
export type ApiVersion = (typeof versions)[number];
export const currentVersion: ApiVersion = "0.6";

/** The values of parameters begin with this, so that none has the name of another search parameter. */
const valuePrefix = "in.";

export interface ApiSearch {
  /** 0.6 when absent. */
  readonly version?: ApiVersion;
  /** The operation id. */
  readonly operation?: string;
  /** Filters the list of operations. */
  readonly find?: string;
  /** `in.limit`: the value of the parameter `limit`. */
  readonly [value: `in.${string}`]: string | undefined;
}

export function apiSearch(raw: Record<string, unknown>): ApiSearch {
  const version = wordIn(raw["version"], versions);
  const operation = textIn(raw["operation"]);
  const find = textIn(raw["find"]);
  return {
    ...(version !== undefined && version !== currentVersion && { version }),
    ...(operation !== undefined && { operation }),
    ...(find !== undefined && { find }),
    ...searchOf(valuesIn(raw)),
  };
}

export type Values = Readonly<Record<string, string>>;

/** The values of parameters in the search parameters of an address. */
export function valuesIn(search: Readonly<Record<string, unknown>>): Values {
  const values = Object.entries(search).flatMap(([name, value]) => {
    const text = textIn(value);
    return name.startsWith(valuePrefix) && text !== undefined ? [[name.slice(valuePrefix.length), text]] : [];
  });
  return Object.fromEntries(values) as Values;
}

/** The search parameters for values of parameters; empty values are left out. */
export const searchOf = (values: Values): Record<`in.${string}`, string> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== "")
      .map(([name, value]) => [`${valuePrefix}${name}`, value]),
  );

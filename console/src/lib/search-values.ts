// Decodes search parameters of an address. Values that a page cannot read are left out.

/** A text that is not empty. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** One of the words. */
export const wordIn = <Word extends string>(value: unknown, words: readonly Word[]): Word | undefined =>
  words.find((word) => word === value);

/** Ids, from one parameter or several of the same name. */
export function idsIn(value: unknown): number[] | undefined {
  const ids = [value]
    .flat()
    .map(Number)
    .filter((id) => Number.isSafeInteger(id) && id > 0);
  return ids.length === 0 ? undefined : [...new Set(ids)];
}

/** The parameters without those that are undefined. */
export const present = <Search extends object>(search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Search;

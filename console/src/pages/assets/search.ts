// The search parameters of the page of assets.

export interface AssetsSearch {
  /** Words of the name or the description: the page lists the assets that have them in place of the tree. */
  readonly query?: string;
  /** Whether the records of the assets below are shown too. */
  readonly below?: boolean;
}

export const assetsSearch = ({ query, below }: Record<string, unknown>): AssetsSearch => ({
  ...(typeof query === "string" && query !== "" && { query }),
  ...((below === "true" || below === true) && { below: true }),
});

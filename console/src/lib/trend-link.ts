// The way from other pages to the trend.

/** Properties of a link that opens these series in the trend: `<Link {...linkToTrend([name])}>`. */
export const linkToTrend = (names: readonly string[]) =>
  ({ to: "/trend", search: { series: [...names] } }) as const;

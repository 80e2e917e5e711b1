// The way from other pages to the trend.

/** A time range in ms since 1970. */
interface TrendWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Properties of a link that opens these series in the trend: `<Link {...linkToTrend([name])}>`. Without a
 * window the trend shows its usual time range.
 */
export const linkToTrend = (names: readonly string[], window?: TrendWindow) =>
  ({
    to: "/trend",
    search: {
      series: [...names],
      ...(window && {
        start: new Date(window.startMs).toISOString(),
        end: new Date(window.endMs).toISOString(),
      }),
    },
  }) as const;

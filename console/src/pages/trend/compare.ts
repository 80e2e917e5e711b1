// The comparison with the same window some days before: the lines of that time, moved into this one.
import { useMemo } from "react";
import type { ChartLine } from "../../ui/chart/chart-line.ts";
import type { Columns, TimeWindow } from "../../ui/chart/columns.ts";
import type { TrendRow } from "./series-table.tsx";
import type { TrendSeries } from "./trend-series.ts";
import { useColumns } from "./use-columns.ts";

const dayMs = 86_400_000;

interface CompareSetting {
  readonly rows: readonly TrendRow[];
  readonly window: TimeWindow;
  readonly widthPx: number;
  readonly version: number;
  /** So many days before; undefined for no comparison. */
  readonly days: number | undefined;
}

const noSeries: readonly TrendSeries[] = [];

/** The lines of series of numbers that are not hidden, from so many days before. */
export function useComparison({
  rows,
  window,
  widthPx,
  version,
  days = 0,
}: CompareSetting): readonly ChartLine[] {
  const byMs = days * dayMs;
  const compared = useMemo(
    () => (days === 0 ? [] : rows.filter(({ series, line }) => !series.isHidden && line.kind === "numbers")),
    [rows, days],
  );
  const loaded = useColumns({
    series: days === 0 ? noSeries : compared.map(({ series }) => series),
    window: { startMs: window.startMs - byMs, endMs: window.endMs - byMs },
    ...{ widthPx, version, isLive: false },
  });
  return useMemo(
    () =>
      compared.flatMap(({ line }, index): ChartLine[] => {
        const { columns } = loaded[index] ?? {};
        if (line.kind !== "numbers" || !columns || columns.kind === "text") return [];
        const label = `${line.label}, ${days} d before`;
        return [{ ...line, key: `${line.key} before`, label, isDashed: true, columns: later(columns, byMs) }];
      }),
    [compared, loaded, days, byMs],
  );
}

const later = <Kind extends Columns>(columns: Kind, byMs: number): Kind => ({
  ...columns,
  times: columns.times.map((timeMs) => timeMs + byMs),
});

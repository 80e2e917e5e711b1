// The data of the trend: its rows, the lines of its chart and of its navigator, and its events.
import { useComputedColorScheme } from "@mantine/core";
import { useMemo, useState } from "react";
import { messageOf } from "../../api/errors.ts";
import { chartColors } from "../../ui/chart/chart-colors.ts";
import type { ChartLine, NumberLine } from "../../ui/chart/chart-line.ts";
import { type Columns, gapIn, type TimeWindow } from "../../ui/chart/columns.ts";
import { gapOf } from "../../ui/chart/interval.ts";
import { type Fault, faultOf } from "../../ui/expression/fault.ts";
import { useComparison } from "./compare.ts";
import { navigatorRange } from "./navigator-range.ts";
import type { TrendRow } from "./series-table.tsx";
import { isStored, type TrendSeries } from "./trend-series.ts";
import type { TrendShown } from "./trend-state.tsx";
import { type LoadedColumns, useColumns } from "./use-columns.ts";
import { type TrendEvents, useEvents } from "./use-events.ts";
import { isLive } from "./window.ts";

export interface TrendData {
  readonly rows: readonly TrendRow[];
  /** The lines of the series that are not hidden. */
  readonly visible: readonly ChartLine[];
  /** Those, and the lines to compare with. */
  readonly lines: readonly ChartLine[];
  /** The lines of the navigator, and the time that it shows. */
  readonly strip: readonly NumberLine[];
  readonly whole: TimeWindow;
  readonly events: TrendEvents;
  readonly isLoading: boolean;
}

interface TrendView {
  readonly shown: TrendShown;
  readonly series: readonly TrendSeries[];
  /** The window of the data. */
  readonly window: TimeWindow;
  readonly widthPx: number;
}

/** A pixel of the strip is about as long, or longer. */
const stripEveryMs = 60_000;

export function useTrendData({ shown, series, window, widthPx }: TrendView): TrendData {
  const { search, version } = shown;
  const isFollowing = isLive(search);
  // The strip stays where it is while the window moves in it.
  const whole = useMemo(() => navigatorRange(shown.window, Date.now()), [shown.window]);
  const now = useColumns({ series, window, widthPx, isLive: isFollowing, version });
  const isWaiting = now.some((one) => one.isLoading);
  // While the window moves, the lines change together: each change draws all of them.
  const loaded = useFrozen(now, isWaiting && window !== shown.window);
  const isLoading = !isFollowing && isWaiting;
  // After the data of the chart, which would have to wait for it.
  const overview = useColumns({
    ...{ series, version, window: whole, widthPx: widthPx / 2 },
    ...{ isLive: false, isWanted: !isLoading, ...(isFollowing && { refreshMs: stripEveryMs }) },
  });
  const rows = useRows(series, loaded, overview);
  const visible = useMemo(() => rows.flatMap(({ series, line }) => (series.isHidden ? [] : [line])), [rows]);
  const compared = useComparison({ rows, window, widthPx, version, days: search.compare });
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  return {
    ...{ rows, visible, whole, isLoading },
    lines: useMemo(() => [...visible, ...compared], [visible, compared]),
    strip: useStrip(rows, overview),
    events: useEvents({ types: search.events, window, isLive: isFollowing }, chartColors(scheme)),
  };
}

/** The value; while it is frozen, the last one before that. */
function useFrozen<Value>(value: Value, isFrozen: boolean): Value {
  const [last, setLast] = useState(value);
  if (!isFrozen && last !== value) setLast(value);
  return isFrozen ? last : value;
}

function useRows(
  series: readonly TrendSeries[],
  loaded: readonly LoadedColumns[],
  overview: readonly LoadedColumns[],
): readonly TrendRow[] {
  const [lines] = useState(() => new LineCache());
  return useMemo(
    () =>
      series.map((one, index) => {
        const { columns, problem } = loaded[index]!;
        const gapMs =
          lines.gapOf(overview[index]!.columns) ?? lines.gapOf(columns) ?? Number.POSITIVE_INFINITY;
        return { series: one, line: lines.of(one, columns, gapMs), fault: faultIn(one, problem) };
      }),
    [series, loaded, overview, lines],
  );
}

interface CachedLine {
  readonly columns: LoadedColumns["columns"];
  readonly gapMs: number;
  readonly line: ChartLine;
}

/** The last line of each series. The same data is the same line, so that it is not drawn again. */
class LineCache {
  readonly #last = new WeakMap<TrendSeries, CachedLine>();
  readonly #gaps = new WeakMap<Columns, number | undefined>();
  #list: readonly NumberLine[] = [];

  gapOf(columns: Columns | undefined): number | undefined {
    if (!columns) return undefined;
    if (!this.#gaps.has(columns)) this.#gaps.set(columns, gapOf(columns));
    return this.#gaps.get(columns);
  }

  /** The same list for the same lines. */
  list(lines: readonly NumberLine[]): readonly NumberLine[] {
    const isSame =
      lines.length === this.#list.length && lines.every((line, index) => line === this.#list[index]);
    if (!isSame) this.#list = lines;
    return this.#list;
  }

  of(series: TrendSeries, columns: LoadedColumns["columns"], pointsGapMs: number): ChartLine {
    const last = this.#last.get(series);
    const ownGapMs = !columns || columns.kind === "text" ? pointsGapMs : gapIn(columns, pointsGapMs);
    const gapMs = last && isSimilar(last.gapMs, ownGapMs) ? last.gapMs : ownGapMs;
    if (last && last.columns === columns && (!columns || last.gapMs === gapMs)) return last.line;
    const line = lineOf(series, columns, gapMs);
    this.#last.set(series, { columns, gapMs, line });
    return line;
  }
}

/** Parts of a series differ a little in their typical distance. The line is not drawn again for that. */
const isSimilar = (gapMs: number, other: number): boolean =>
  gapMs === other || Math.abs(gapMs - other) <= Math.min(gapMs, other) / 4;

function faultIn(series: TrendSeries, problem: unknown): Fault | undefined {
  if (isStored(series)) return problem ? { message: messageOf(problem), at: undefined } : undefined;
  const { text, ids } = series.formula;
  if (text.trim() === "") return { message: "Type a formula.", at: undefined };
  const aliases = Object.entries(ids).map(([alias, id]) => ({ alias, id }));
  return series.fault ?? faultOf(problem, { text, aliases });
}

function lineOf(series: TrendSeries, columns: LoadedColumns["columns"], gapMs: number): ChartLine {
  const { key, name: label, color, unit: axis, isStep } = series;
  if (series.isString)
    return { kind: "texts", key, label, color, columns: columns?.kind === "text" ? columns : undefined };
  const numbers = columns?.kind === "text" ? undefined : columns;
  return { kind: "numbers", key, label, color, axis, isStep, gapMs, columns: numbers };
}

/** The lines of the navigator: those of numbers that are not hidden, with the data of the whole strip. */
function useStrip(rows: readonly TrendRow[], overview: readonly LoadedColumns[]): readonly NumberLine[] {
  const [lines] = useState(() => new LineCache());
  return useMemo(
    () =>
      lines.list(
        rows.flatMap(({ series, line }, index) => {
          const { columns } = overview[index]!;
          if (series.isHidden || line.kind === "texts" || columns?.kind === "text") return [];
          const ofStrip = lines.of(series, columns, line.gapMs);
          return ofStrip.kind === "numbers" ? [ofStrip] : [];
        }),
      ),
    [rows, overview, lines],
  );
}

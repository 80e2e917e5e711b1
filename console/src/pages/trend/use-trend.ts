// The state of the trend page: the address, and the window while it moves.
import { useInterval } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ValueRange } from "../../ui/chart/chart-line.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import type { Gestures } from "../../ui/chart/gestures.ts";
import { MovingWindow } from "../../ui/chart/moving-window.ts";
import type { TrendSearch } from "./search.ts";
import { bounded, fixedWindow, isRelative, windowOf } from "./window.ts";

const liveEveryMs = 1_000;

export interface TrendState {
  readonly search: TrendSearch;
  /** The window in the address. */
  readonly window: TimeWindow;
  /** The window while it moves, for the parts that follow it. The others wait for the end of the movement. */
  readonly moving: MovingWindow;
  readonly isLive: boolean;
  readonly version: number;
  readonly ranges: Readonly<Record<string, ValueRange>>;
  /** Changes the address; the browser goes back to the view before. */
  change(change: Partial<TrendSearch>): void;
  /** Changes the address without a new step for the back button. */
  correct(change: Partial<TrendSearch>): void;
  /** Shows another trend in place of this one. */
  open(search: TrendSearch): void;
  refresh(): void;
  readonly gestures: Omit<Gestures, "onPoint">;
}

export function useTrend(): TrendState {
  const search = useSearch({ from: "/frame/trend" });
  const navigate = useNavigate({ from: "/trend" });
  const [{ nowMs, version }, setNow] = useState(() => ({ nowMs: Date.now(), version: 0 }));
  const isLive = search.live === true && isRelative(search);
  const clock = useInterval(() => setNow((now) => ({ ...now, nowMs: Date.now() })), liveEveryMs);
  const { start: startClock, stop: stopClock } = clock;
  useEffect(() => {
    if (!isLive) return;
    startClock();
    return stopClock;
  }, [isLive, startClock, stopClock]);
  const change = useCallback(
    (part: Partial<TrendSearch>) =>
      void navigate({ search: (now) => present({ ...now, ...part }), resetScroll: false }),
    [navigate],
  );
  const correct = useCallback(
    (part: Partial<TrendSearch>) =>
      void navigate({ search: (now) => present({ ...now, ...part }), resetScroll: false, replace: true }),
    [navigate],
  );
  const settled = useMemo(() => windowOf(search, nowMs), [search, nowMs]);
  const { moving, gestures } = useGestures(search, change);
  return {
    search,
    ...{ isLive, version, change, correct, gestures, moving },
    window: settled,
    open: (other) => void navigate({ search: other }),
    ranges: useMemo(() => rangesOf(search), [search]),
    refresh: () => setNow((now) => ({ nowMs: Date.now(), version: now.version + 1 })),
  };
}

/** The id of a saved trend alone would open that trend again. */
function present(search: TrendSearch): TrendSearch {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && !isEmptyList(value));
  return given.every(([name]) => name === "trend") ? {} : Object.fromEntries(given);
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** A movement is in the page alone until it ends; then it goes into the address as one step. */
function useGestures(search: TrendSearch, change: TrendState["change"]) {
  const [moving] = useState(() => new MovingWindow());
  const latest = useRef<TimeWindow>(undefined);
  useEffect(() => {
    if (search) moving.set(undefined);
  }, [search, moving]);
  const gestures = useMemo(() => {
    const set = (window: TimeWindow) => {
      latest.current = bounded(window);
      moving.set(latest.current);
    };
    return {
      onMove: set,
      onMoved: () => latest.current && change(fixedWindow(latest.current)),
      onSelect: ({ window, ranges }: Parameters<Gestures["onSelect"]>[0]) =>
        change({ ...fixedWindow(window), ...(ranges.length > 0 && { y: ranges.map(rangeText) }) }),
      onRanges: (ranges: Parameters<NonNullable<Gestures["onRanges"]>>[0]) => {
        const axes = new Map(ranges);
        const others = (search.y ?? []).filter((one) => !axes.has(parsedRange(one)?.[0] ?? ""));
        change({ y: [...others, ...ranges.map(rangeText)] });
      },
      onReset: () => change({ y: undefined }),
    };
  }, [change, search, moving]);
  return { moving, gestures };
}

const significantDigits = 6;

const rangeText = ([axis, range]: readonly [string, ValueRange]): string =>
  [axis, ...range.map((value) => Number(value.toPrecision(significantDigits)))].join(":");

function parsedRange(text: string): readonly [string, ValueRange] | undefined {
  const [, axis, low, high] = /^(.*):([^:]+):([^:]+)$/.exec(text) ?? [];
  const range: ValueRange = [Number(low), Number(high)];
  return axis !== undefined && range[0] < range[1] ? [axis, range] : undefined;
}

const rangesOf = ({ y = [] }: TrendSearch): Record<string, ValueRange> =>
  Object.fromEntries(y.map(parsedRange).filter((parsed) => parsed !== undefined));

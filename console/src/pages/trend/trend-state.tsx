// The state of the trend page: the address, and the window while it moves. Parts of the page take only what
// they show from it, so that a movement of the window renders few of them.
import { useInterval } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { ValueRange } from "../../ui/chart/chart-line.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import type { Gestures } from "../../ui/chart/gestures.ts";
import { MovingWindow } from "../../ui/chart/moving-window.ts";
import type { TrendSearch } from "./search.ts";
import { bounded, fixedWindow, isLive, windowOf } from "./window.ts";

const liveEveryMs = 1_000;
const route = "/frame/trend";

/** The state that the page shows. It changes when the address, the version or the time changes. */
export interface TrendShown {
  readonly search: TrendSearch;
  /** The window in the address. */
  readonly window: TimeWindow;
  /** Changes when everything must be read again. */
  readonly version: number;
}

/** The same object for as long as the page is open. */
export interface TrendActions {
  /** For the actions of controls that do not follow the window. */
  shown(): TrendShown;
  /** Changes the address; the browser goes back to the view before. */
  change(change: Partial<TrendSearch>): void;
  /** Changes the address without a new step for the back button. */
  correct(change: Partial<TrendSearch>): void;
  /** Shows another trend in place of this one. */
  open(search: TrendSearch): void;
  refresh(): void;
  /** The window while it moves, for the parts that follow it. The others wait for the end of the movement. */
  readonly moving: MovingWindow;
  readonly gestures: Omit<Gestures, "onPoint">;
}

const ActionsContext = createContext<TrendActions | undefined>(undefined);
const ShownContext = createContext<TrendShown | undefined>(undefined);

export function useTrendActions(): TrendActions {
  const actions = use(ActionsContext);
  if (!actions) throw new Error("The part is not inside of a trend.");
  return actions;
}

/** Renders again with each window. */
export function useTrendShown(): TrendShown {
  const shown = use(ShownContext);
  if (!shown) throw new Error("The part is not inside of a trend.");
  return shown;
}

/** A part of the address; renders again when that changes. */
export const useTrendSearch = <Part,>(select: (search: TrendSearch) => Part): Part =>
  useSearch({ from: route, select: select as (search: TrendSearch) => unknown }) as Part;

export function TrendProvider({ children }: { readonly children: ReactNode }) {
  const search = useSearch({ from: route });
  const [{ nowMs, version }, setNow] = useState(() => ({ nowMs: Date.now(), version: 0 }));
  const clock = useInterval(() => setNow((now) => ({ ...now, nowMs: Date.now() })), liveEveryMs);
  const { start: startClock, stop: stopClock } = clock;
  const isFollowing = isLive(search);
  useEffect(() => {
    if (!isFollowing) return;
    startClock();
    return stopClock;
  }, [isFollowing, startClock, stopClock]);
  const shown = useMemo(
    () => ({ search, version, window: windowOf(search, nowMs) }),
    [search, version, nowMs],
  );
  const refresh = useCallback(() => setNow((now) => ({ nowMs: Date.now(), version: now.version + 1 })), []);
  const actions = useActions(shown, refresh);
  const { moving } = actions;
  useEffect(() => {
    if (search) moving.set(undefined);
  }, [search, moving]);
  return (
    <ActionsContext value={actions}>
      <ShownContext value={shown}>{children}</ShownContext>
    </ActionsContext>
  );
}

function useActions(now: TrendShown, refresh: () => void): TrendActions {
  const navigate = useNavigate({ from: "/trend" });
  const latest = useRef(now);
  useLayoutEffect(() => {
    latest.current = now;
  });
  return useMemo(() => {
    const shown = () => latest.current;
    const moving = new MovingWindow();
    const go = (part: Partial<TrendSearch>, replace: boolean) =>
      void navigate({ search: (now) => present({ ...now, ...part }), resetScroll: false, replace });
    const change = (part: Partial<TrendSearch>) => go(part, false);
    return {
      ...{ shown, change, refresh, moving },
      correct: (part) => go(part, true),
      open: (other) => void navigate({ search: other }),
      gestures: gesturesOf({ shown, change, moving }),
    };
  }, [navigate, refresh]);
}

/** The id of a saved trend alone would open that trend again. */
function present(search: TrendSearch): TrendSearch {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && !isEmptyList(value));
  return given.every(([name]) => name === "trend") ? {} : Object.fromEntries(given);
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** A movement is in the page alone until it ends; then it goes into the address as one step. */
function gesturesOf({
  shown,
  change,
  moving,
}: Pick<TrendActions, "shown" | "change" | "moving">): TrendActions["gestures"] {
  return {
    onMove: (window) => moving.set(bounded(window)),
    onMoved: () => {
      const moved = moving.now();
      if (moved) change(fixedWindow(moved));
    },
    onSelect: ({ window, ranges }) =>
      change({ ...fixedWindow(window), ...(ranges.length > 0 && { y: ranges.map(rangeText) }) }),
    onRanges: (ranges) => {
      const axes = new Map(ranges);
      const others = (shown().search.y ?? []).filter((one) => !axes.has(parsedRange(one)?.[0] ?? ""));
      change({ y: [...others, ...ranges.map(rangeText)] });
    },
    onReset: () => change({ y: undefined }),
  };
}

const significantDigits = 6;

const rangeText = ([axis, range]: readonly [string, ValueRange]): string =>
  [axis, ...range.map((value) => Number(value.toPrecision(significantDigits)))].join(":");

function parsedRange(text: string): readonly [string, ValueRange] | undefined {
  const [, axis, low, high] = /^(.*):([^:]+):([^:]+)$/.exec(text) ?? [];
  const range: ValueRange = [Number(low), Number(high)];
  return axis !== undefined && range[0] < range[1] ? [axis, range] : undefined;
}

/** The ranges of value axes that the address has. */
export const rangesOf = (y: readonly string[] = []): Record<string, ValueRange> =>
  Object.fromEntries(y.map(parsedRange).filter((parsed) => parsed !== undefined));

// The window of a chart while a person moves it. It is outside of the state of the page: chart and navigator
// follow it in every frame without a render of React.
import { useDebouncedCallback, useThrottledCallback } from "@mantine/hooks";
import { startTransition, useEffect, useState, useSyncExternalStore } from "react";
import type { TimeWindow } from "./columns.ts";

export class MovingWindow {
  readonly #listeners = new Set<() => void>();
  #window: TimeWindow | undefined;

  /** Undefined while the window does not move. */
  readonly now = (): TimeWindow | undefined => this.#window;

  /** Returns the function that stops listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  set(window: TimeWindow | undefined): void {
    this.#window = window;
    for (const listener of this.#listeners) listener();
  }
}

const neverMoves = () => () => undefined;
const nowhere = () => undefined;

/** The window in this frame, for small parts that are rendered in each; undefined while it does not move. */
export const useMovingWindow = (moving: MovingWindow | undefined): TimeWindow | undefined =>
  useSyncExternalStore(moving?.subscribe ?? neverMoves, moving?.now ?? nowhere);

/** Data and figures follow a window that moves no more often than this. */
const followEveryMs = 150;
/** A window that has not moved for this time rests. */
const restMs = 120;

/**
 * One of the last windows while it moves; else `settled`. It follows when the window rests, and on the way
 * when `isOther` data is needed. It renders between the frames of the chart.
 */
export function useFollowedWindow(
  moving: MovingWindow,
  settled: TimeWindow,
  isOther: (one: TimeWindow, other: TimeWindow) => boolean,
): TimeWindow {
  const [followed, setFollowed] = useState<TimeWindow>();
  const window = followed ?? settled;
  const show = () => startTransition(() => setFollowed(moving.now()));
  const follow = useThrottledCallback(show, followEveryMs);
  const rest = useDebouncedCallback(show, restMs);
  useEffect(
    () =>
      moving.subscribe(() => {
        const now = moving.now();
        if (now === undefined) return setFollowed(undefined);
        if (isOther(window, now)) follow();
        rest();
      }),
    [moving, window, isOther, follow, rest],
  );
  return window;
}

// The window of a trend while a person moves it. It is outside of the state of the page, so that a movement
// renders only the parts that follow it in every frame.
import { useThrottledCallback } from "@mantine/hooks";
import { startTransition, useEffect, useState, useSyncExternalStore } from "react";
import type { TimeWindow } from "../../ui/chart/columns.ts";

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

/** The window in this frame; undefined while it does not move. */
export const useMovingWindow = (moving: MovingWindow): TimeWindow | undefined =>
  useSyncExternalStore(moving.subscribe, moving.now);

/** The data and the table follow a moving window this often. */
const followEveryMs = 150;

/** One of the last windows while it moves; else `settled`. It renders between the frames of the chart. */
export function useFollowedWindow(moving: MovingWindow, settled: TimeWindow): TimeWindow {
  const [followed, setFollowed] = useState<TimeWindow>();
  const follow = useThrottledCallback(() => startTransition(() => setFollowed(moving.now())), followEveryMs);
  useEffect(
    () => moving.subscribe(() => (moving.now() ? follow() : setFollowed(undefined))),
    [moving, follow],
  );
  return followed ?? settled;
}

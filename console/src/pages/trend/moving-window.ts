// The window of a trend while a person moves it. It is outside of the state of the page, so that a movement
// renders only the parts that follow it in every frame.
import { useSyncExternalStore } from "react";
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

/** The window in this frame; `settled` while it does not move. */
export const useMovingWindow = (moving: MovingWindow, settled: TimeWindow): TimeWindow =>
  useSyncExternalStore(moving.subscribe, moving.now) ?? settled;

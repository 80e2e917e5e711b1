// The interface of long computations: they run in the compute thread, in steps, and count their comparisons.

/**
 * A generator of steps of a few milliseconds. Each yields the number of characters that it compared, or 0 if
 * the computation has a limit of its own. The generator returns the result.
 */
export type Steps<Result> = Generator<number, Result>;

/**
 * Takes plain data and returns a function that handles one query after another. A module for the compute
 * thread exports a computation as `computation`. All data is copied between threads.
 */
export type Computation<Start, Query, Result> = (start: Start) => (query: Query) => Steps<Result>;

/** Names the module of a computation for the main thread. */
export interface ComputationModule<Type> {
  readonly url: URL;
  /**
   * A large computation uses much memory, so fewer of them run at once. The same holds for one in the
   * background, which has places of its own, so that requests do not wait for it.
   */
  readonly size: "large" | "small" | "background";
  /** Never present: it carries the types of the data. */
  readonly computation?: Type;
}

/** From the main thread to the compute thread. A session is one run of a computation; `id` is its number. */
export type ToComputeThread =
  | {
      readonly kind: "open";
      readonly id: number;
      readonly caller: string;
      readonly module: string;
      readonly start: unknown;
    }
  | { readonly kind: "query"; readonly id: number; readonly query: unknown }
  | { readonly kind: "close"; readonly id: number };

/** From the compute thread: a result with the characters compared for it, or why there is none. */
export type FromComputeThread =
  | { readonly kind: "result"; readonly id: number; readonly result: unknown; readonly compared: number }
  | { readonly kind: "too long"; readonly id: number }
  | { readonly kind: "failed"; readonly id: number; readonly problem: string };

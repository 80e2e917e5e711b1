// What a long computation is: it runs in the compute thread, in steps, and counts what it compares.

/**
 * A generator of steps: each takes a few milliseconds and yields the characters it compared, or 0 when the
 * computation has a bound of its own; then the answer.
 */
export type Steps<Answer> = Generator<number, Answer>;

/**
 * A computation begins with plain data and answers one question after another. A module for the compute
 * thread exports one under the name `computation`. All data is copied between threads.
 */
export type Computation<Start, Question, Answer> = (start: Start) => (question: Question) => Steps<Answer>;

/** Names the module of a computation for the main thread. */
export interface ComputationModule<Named> {
  readonly url: URL;
  /**
   * A large one holds much memory, so fewer of them run at once. One in the background does as well, and must
   * not keep requests waiting for a place.
   */
  readonly size: "large" | "small" | "background";
  /** Never present: it carries the types of the data. */
  readonly computation?: Named;
}

/** From the main thread to the compute thread. A session is one run of a computation. */
export type ToThread =
  | {
      readonly kind: "open";
      readonly session: number;
      readonly caller: string;
      readonly module: string;
      readonly start: unknown;
    }
  | { readonly kind: "ask"; readonly session: number; readonly question: unknown }
  | { readonly kind: "close"; readonly session: number };

/** Back from the compute thread: an answer with the characters compared for it, or why there is none. */
export type FromThread =
  | { readonly kind: "answer"; readonly session: number; readonly answer: unknown; readonly compared: number }
  | { readonly kind: "too long"; readonly session: number }
  | { readonly kind: "failed"; readonly session: number; readonly problem: string };

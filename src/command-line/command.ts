// What a command of `millrace` is, and how it says that it cannot go on.

export interface Command {
  /** The whole help text. */
  readonly usage: string;
  /** Runs with the words after its name and answers the exit code; throws `Misused` or `StartRefused`. */
  readonly run: (words: readonly string[]) => Promise<number>;
}

/** The command line makes no sense; its usage is shown. */
export class Misused extends Error {}

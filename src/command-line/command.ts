// The interface of the commands of `millrace`.

export interface Command {
  /** The whole help text. */
  readonly usage: string;
  /** Runs with the words after its name; returns the exit code. Throws `Misused` or `StartRefused`. */
  readonly run: (words: readonly string[]) => Promise<number>;
}

/** The command line is not valid; the usage is shown. */
export class Misused extends Error {}

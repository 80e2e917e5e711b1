// What a command of `millrace` is, and how it says that it cannot go on.

export interface Command {
  /** One line for the overview. */
  readonly summary: string;
  /** The whole help text. */
  readonly usage: string;
  /** Runs with the words after the command's name; throws `Misused` or `StartRefused`, or any fault of ours. */
  readonly run: (words: readonly string[]) => Promise<void>;
}

/** The command line makes no sense; its usage is shown. */
export class Misused extends Error {}

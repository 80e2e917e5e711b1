// Passes errors from one thread to another: the class of a `Failure` does not survive a message.
import { type DetailsOf, Failure, type FailureCode, fail } from "../errors.ts";

/** The parts of a `Failure`. */
interface FailureParts {
  readonly code: FailureCode;
  readonly details: DetailsOf<FailureCode>;
}

export interface ErrorMessage {
  readonly failure?: FailureParts;
  readonly problem: string;
}

export function messageOf(error: unknown): ErrorMessage {
  const problem = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Failure)) return { problem };
  return { problem, failure: { code: error.failure, details: error.details as never } };
}

/** The same failure, or an error that names the thread. */
export const errorFrom = ({ failure, problem }: ErrorMessage, thread: string): Error =>
  failure ? fail(failure.code, failure.details as never) : new Error(`${thread}: ${problem}`);

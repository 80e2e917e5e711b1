// A promise the code makes to itself; breaking it is our fault and ends the request.

/** Throws when `holds` is false; `promise`, for the log, says what should have been so. */
export function invariant(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new Error(`broken invariant: ${promise}`);
}

// Checks conditions that only a bug in the server can break; a broken one ends the request.

/** Throws when `holds` is false; `promise` states the condition for the log. */
export function invariant(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new Error(`broken invariant: ${promise}`);
}

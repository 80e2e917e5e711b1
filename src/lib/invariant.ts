// A promise the code makes to itself; breaking it is our fault and ends the request.

export function invariant(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new Error(`broken invariant: ${promise}`);
}

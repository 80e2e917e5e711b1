// Finds the elements of a list that occur more than once.

/** Each repeated element, once. */
export function duplicatesIn<Key>(keys: readonly Key[]): Key[] {
  const seen = new Set<Key>();
  return [...new Set(keys.filter((key) => seen.size === seen.add(key).size))];
}

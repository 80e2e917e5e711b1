// What stands in a list more than once.

/** The elements that occur more than once, each once. */
export function duplicatesIn<Key>(keys: readonly Key[]): Key[] {
  const seen = new Set<Key>();
  return [...new Set(keys.filter((key) => seen.size === seen.add(key).size))];
}

// Topic filters.

/**
 * Whether a filter with `+` and `#` matches a topic. A wildcard at the start does not match `$SYS`. A shared
 * subscription, `$share/group/filter`, matches as its filter does.
 */
export function topicMatcher(filter: string): (levels: readonly string[]) => boolean {
  const wanted = filter.replace(/^\$share\/[^/]+\//, "").split("/");
  return (levels) => {
    if (levels[0]!.startsWith("$") && wanted[0] !== levels[0]) return false;
    for (const [i, level] of wanted.entries()) {
      if (level === "#") return true;
      if (i >= levels.length || (level !== "+" && level !== levels[i])) return false;
    }
    return wanted.length === levels.length;
  };
}

// Topic filters and templates of names.

/** Whether a filter with `+` and `#` matches a topic. A wildcard at the start does not match `$SYS`. */
export function topicMatcher(filter: string): (levels: readonly string[]) => boolean {
  const wanted = filter.split("/");
  return (levels) => {
    if (levels[0]!.startsWith("$") && wanted[0] !== levels[0]) return false;
    for (const [i, level] of wanted.entries()) {
      if (level === "#") return true;
      if (i >= levels.length || (level !== "+" && level !== levels[i])) return false;
    }
    return wanted.length === levels.length;
  };
}

/**
 * Fills `{1}` with the first level of a topic, `{-1}` with its last one, `{topic}` with the whole, and other
 * names with `values`. A level that the topic does not have becomes empty.
 */
export function fillTemplate(
  template: string,
  levels: readonly string[],
  values: Readonly<Record<string, string>> = {},
): string {
  return template.replaceAll(/\{(-?\d+|\w+)\}/g, (_, name: string) => {
    if (name === "topic") return levels.join("/");
    const at = Number(name);
    if (Number.isNaN(at)) return Object.hasOwn(values, name) ? values[name]! : "";
    return (at < 0 ? levels.at(at) : levels[at - 1]) ?? "";
  });
}

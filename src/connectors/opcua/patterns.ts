// Patterns over the browse path: `*` is any part of a name, `**` any number of names.

/** Whether a path (`Line1/Motor/Speed`) matches one of the patterns. `Line1/**` matches `Line1` as well. */
export function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const expressions = patterns.map((pattern) => new RegExp(`^${pattern.split("/").map(nameOf).join("")}$`));
  return (path) => expressions.some((expression) => expression.test(`/${path}`));
}

const nameOf = (name: string): string => {
  if (name === "**") return "(?:/.*)?";
  return `/${name.split(/\*+/).map(RegExp.escape).join("[^/]*")}`;
};

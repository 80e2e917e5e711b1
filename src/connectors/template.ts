// Templates of names: `{2}.temperature`, `{database}/{tag}`.

const placeholder = /\{([^{}]+)\}/g;

/** The names in the braces of a template. */
export const placeholdersIn = (template: string): string[] =>
  Array.from(template.matchAll(placeholder), ([, name]) => name!);

/**
 * Fills `{1}` with the first of the levels, `{-1}` with the last one, `{topic}` with all of them, and other
 * names with `values`. A missing value becomes empty.
 */
export function fillTemplate(
  template: string,
  levels: readonly string[],
  values: Readonly<Record<string, string>> = {},
): string {
  return template.replaceAll(placeholder, (_, name: string) => {
    if (Object.hasOwn(values, name)) return values[name]!;
    if (name === "topic") return levels.join("/");
    const at = Number(name);
    return (at < 0 ? levels.at(at) : levels[at - 1]) ?? "";
  });
}

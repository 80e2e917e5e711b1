// Templates of names: `{2}.temperature`, `{database}/{tag}`.
import { UsageError } from "../client/command.ts";

const placeholder = /\{([^{}]+)\}/g;

/** The names in the braces of a template. */
export const placeholdersIn = (template: string): string[] =>
  Array.from(template.matchAll(placeholder), ([, name]) => name!);

/**
 * Refuses (`UsageError`) a template with other names in braces. Without the test they would be empty, and
 * different values would have one name.
 */
export function requireKnownNames(template: string, isKnown: (name: string) => boolean, known: string): void {
  const other = placeholdersIn(template).find((name) => !isKnown(name));
  if (other !== undefined)
    throw new UsageError(
      `source.read: ${template} has {${other}}, and no value of this name; known are ${known}`,
    );
}

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

// Reads the headings of a Markdown page, and makes the fragments that lead to them.

/**
 * The fragments of all headings of a page; of equal headings all but the first get a number, as on GitHub.
 */
export function headingsOf(page: string): ReadonlySet<string> {
  const text = page.replace(/^```.*?^```/gms, "");
  const fragments = new Set<string>();
  for (const [, heading = ""] of text.matchAll(/^#{1,6} +(.+)$/gm)) {
    const fragment = fragmentOf(heading);
    let number = 0;
    while (fragments.has(numbered(fragment, number))) number++;
    fragments.add(numbered(fragment, number));
  }
  return fragments;
}

/** `Names, and keys` is `names-and-keys`. */
const fragmentOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");

const numbered = (fragment: string, number: number) => (number === 0 ? fragment : `${fragment}-${number}`);

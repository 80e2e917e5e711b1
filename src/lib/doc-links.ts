// Sentences that the documentation and a terminal both show.

/** Links of Markdown as the paths of their files: `[scale.md](scale.md#shards)` becomes `docs/scale.md`. */
export const withPaths = (text: string): string => text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "docs/$1");

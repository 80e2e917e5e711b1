// Finds import cycles in src: files that import each other, directly or through others.

import { importsOf } from "./arrows.ts";
import type { Finding } from "./source.ts";
import { isTest, type Source } from "./source.ts";

/** One finding for each cycle; it names the files of the shortest way around. */
export function cycleFindings(sources: readonly Source[]): Finding[] {
  const files = sources.filter(({ path }) => path.startsWith("src/") && !isTest(path));
  const imports = new Map(files.map((file) => [file.path, importsOf(file)] as const));
  const reported = new Set<string>();
  return files.flatMap(({ path }) => {
    const cycle = reported.has(path) ? undefined : shortestCycle(path, imports);
    if (!cycle) return [];
    for (const one of cycle) reported.add(one);
    const { line } = imports.get(path)!.find(({ target }) => target === cycle[1])!;
    return [{ path, line, problem: `import cycle: ${cycle.join(" -> ")}` }];
  });
}

type Imports = ReadonlyMap<string, readonly { readonly target: string }[]>;

/** The files from `start` back to itself; undefined when there is no such way. */
function shortestCycle(start: string, imports: Imports): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const file of queue)
    for (const { target } of imports.get(file) ?? []) {
      if (target === start) {
        const way = [start];
        for (let at = file; at !== start; at = cameFrom.get(at)!) way.unshift(at);
        return [start, ...way];
      }
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, file);
      queue.push(target);
    }
  return undefined;
}

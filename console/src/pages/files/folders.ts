// The folders of files as a tree: the server knows the folder of a file as one text, `sheets/pumps`.

export interface Folder {
  /** The last part of the path. */
  readonly name: string;
  readonly path: string;
  readonly depth: number;
  /** Whether files are in the folder itself; others have only folders in them. */
  readonly hasFiles: boolean;
  readonly hasFolders: boolean;
}

/** Both separators occur, because folders are often those of a Windows share. */
const separator = /[/\\]/;

interface Node {
  readonly path: string;
  hasFiles: boolean;
  readonly children: Map<string, Node>;
}

/** The folders that are in sight while `open` ones are open, in the order of the screen. */
export function foldersInSight(directories: readonly string[], open: ReadonlySet<string>): Folder[] {
  const root: Node = { path: "", hasFiles: false, children: new Map() };
  for (const directory of directories) addTo(root, directory);
  const found: Folder[] = [];
  const visit = (node: Node, depth: number) => {
    for (const [name, child] of [...node.children].sort(([a], [b]) => a.localeCompare(b))) {
      const { path, hasFiles, children } = child;
      found.push({ name, path, depth, hasFiles, hasFolders: children.size > 0 });
      if (open.has(path)) visit(child, depth + 1);
    }
  };
  visit(root, 0);
  return found;
}

/** Leading separators belong to the first part: `/sheets` and `sheets` are different folders. */
function addTo(root: Node, directory: string): void {
  let node = root;
  for (let start = directory.search(/[^/\\]|$/); ; ) {
    const next = directory.slice(start).search(separator);
    const end = next === -1 ? directory.length : start + next;
    const path = directory.slice(0, end);
    const name = directory.slice(node.path === "" ? 0 : node.path.length + 1, end);
    const child = node.children.get(name) ?? { path, hasFiles: false, children: new Map() };
    node.children.set(name, child);
    node = child;
    if (end === directory.length) break;
    start = end + 1;
  }
  node.hasFiles = true;
}

/** The folders around a folder, the outermost first: `a` and `a/b` for `a/b/c`. */
export const foldersAround = (path: string): string[] =>
  [...path.matchAll(/[/\\]/g)].map(({ index }) => path.slice(0, index)).filter((one) => one !== "");

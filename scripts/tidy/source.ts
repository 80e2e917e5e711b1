// Source files as the rules see them: path, text and syntax tree, read by the TypeScript compiler itself.
import { relative } from "node:path";
import type { Node, SourceFile } from "typescript/unstable/ast";
import { createVirtualFileSystem } from "typescript/unstable/fs";
import { API } from "typescript/unstable/sync";

export interface Source {
  /** From the root of the repository, with forward slashes: `src/limits.ts`. */
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly tree: SourceFile;
}

export interface Finding {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly problem: string;
}

/** Every file of the repository that its configurations of TypeScript include. */
export const sourcesOfProject = (root: string): Source[] =>
  configurations.flatMap((config) => read(new API({ cwd: root }), root, config));

const configurations = ["tsconfig.json", "console/tsconfig.json"];

/** Files that exist only in a test: path to text. */
export function sourcesOf(files: Readonly<Record<string, string>>): Source[] {
  const root = "/project";
  const options = {
    noLib: true,
    types: [],
    module: "nodenext",
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  const config = JSON.stringify({ compilerOptions: options, include: ["**/*.ts"] });
  const all = Object.entries({ ...files, "tsconfig.json": config });
  const fs = createVirtualFileSystem(
    Object.fromEntries(all.map(([path, text]) => [`${root}/${path}`, text])),
  );
  return read(new API({ cwd: root, fs }), root, "tsconfig.json");
}

function read(api: API, root: string, config: string): Source[] {
  try {
    const snapshot = api.updateSnapshot({ openProject: `${root.replace(/\/$/, "")}/${config}` });
    const project = snapshot.getProjects()[0];
    if (!project) throw new Error(`${root} has no ${config}`);
    const written = project.rootFiles.filter((file) => !file.endsWith("/generated.ts"));
    return written.map((file) => {
      const tree = project.program.getSourceFile(file);
      if (!tree) throw new Error(`${file} cannot be read`);
      return { path: relative(root, file), text: tree.text, lines: tree.text.split("\n"), tree };
    });
  } finally {
    api.close();
  }
}

/** Every node of a file, outer ones first. */
export function* nodesOf(node: Node): Generator<Node> {
  yield node;
  const children: Node[] = [];
  node.forEachChild((child) => {
    children.push(child);
  });
  for (const child of children) yield* nodesOf(child);
}

/** The line, from 1, on which a node's own text starts. */
export const lineOf = (source: Source, node: Node): number =>
  source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree)).line + 1;

/** How many lines a node covers. */
export const linesIn = (source: Source, node: Node): number =>
  source.tree.getLineAndCharacterOfPosition(node.getEnd()).line + 2 - lineOf(source, node);

/** Tests and files that only tests import: `*.samples.ts` has the sample records of a resource. */
export const isTest = (path: string): boolean =>
  /\.(test|samples)\.ts$/.test(path) || path.startsWith("test/");

// The code rules: each is a function from a source file, or all of them, to the lines that break it.
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import {
  isCallExpression,
  isExportAssignment,
  isExportDeclaration,
  isFunctionLikeDeclaration,
  isIdentifier,
  isInterfaceDeclaration,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
} from "typescript/unstable/ast/is";
import { arrowFindings, dialectOf, isClientFile } from "./arrows.ts";
import { cycleFindings } from "./cycles.ts";
import { moduleStateFindings } from "./module-state.ts";
import { termFindings, typeNameFindings } from "./plain-terms.ts";
import { type Finding, isTest, lineOf, linesIn, nodesOf, type Source } from "./source.ts";

export const bounds = {
  columns: 110,
  functionLines: 60,
  fileLines: 400,
  engineFileLines: 600,
  testFileLines: 800,
  positionalParameters: 4,
  portMethods: 10,
  /** One of them is the resource's part of the entity model. */
  resourceFiles: 10,
} as const;

const rules: readonly ((source: Source) => Finding[])[] = [
  openingFindings,
  sizeFindings,
  functionFindings,
  portFindings,
  arrowFindings,
  exportFindings,
  wordFindings,
  commentFindings,
  termFindings,
  conflictFindings,
  wireFindings,
  storeFindings,
  moduleStateFindings,
  jsonFindings,
  testFindings,
];

/** Everything that breaks a code rule, in order of file and line. */
export function findingsIn(sources: readonly Source[]): Finding[] {
  const found = [...sources.flatMap((one) => rules.flatMap((rule) => rule(one)))];
  found.push(...resourceFindings(sources), ...limitFindings(sources), ...unusedFindings(sources));
  found.push(...cycleFindings(sources));
  found.push(...typeNameFindings(sources));
  return found.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

function openingFindings(source: Source): Finding[] {
  const first = source.lines[0]?.startsWith("#!") ? 1 : 0;
  const end = source.lines.findIndex((line, index) => index >= first && !line.startsWith("//"));
  const opening = source.lines.slice(first, end < 0 ? undefined : end).join(" ");
  if (/^\/\/ \S.*[.:]( |$)/.test(opening)) return [];
  return [{ path: source.path, line: 1, problem: "a file starts with a sentence on what it owns" }];
}

function sizeFindings({ path, lines }: Source): Finding[] {
  const long = lines.flatMap((line, index) =>
    line.length > bounds.columns
      ? [{ path, line: index + 1, problem: `${line.length} columns, at most ${bounds.columns}` }]
      : [],
  );
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const max = fileLinesMax(path);
  return count > max ? [...long, { path, line: max + 1, problem: `${count} lines, at most ${max}` }] : long;
}

function fileLinesMax(path: string): number {
  if (isTest(path) || path.startsWith("src/storage/conformance/")) return bounds.testFileLines;
  return path.startsWith("src/storage/embedded-points/") ? bounds.engineFileLines : bounds.fileLines;
}

function functionFindings(source: Source): Finding[] {
  return [...nodesOf(source.tree)].filter(isFunctionLikeDeclaration).flatMap((node) => {
    const found: Finding[] = [];
    const add = (problem: string) => found.push({ path: source.path, line: lineOf(source, node), problem });
    const count = linesIn(source, node);
    if (count > bounds.functionLines && !isTestGroup(node))
      add(`a function of ${count} lines, at most ${bounds.functionLines}`);
    if (node.parameters.length > bounds.positionalParameters)
      add(`${node.parameters.length} positional parameters, at most ${bounds.positionalParameters}`);
    return found;
  });
}

/** `describe("...", () => { ... })` is a list of tests and not a function to be read at once. */
function isTestGroup({ parent }: Node): boolean {
  return isCallExpression(parent) && isIdentifier(parent.expression) && parent.expression.text === "describe";
}

function portFindings(source: Source): Finding[] {
  if (!/^src\/storage\/[^/]+\.ts$/.test(source.path)) return [];
  return [...nodesOf(source.tree)].filter(isInterfaceDeclaration).flatMap((node) => {
    const methods = node.members.filter((one) => one.kind === SyntaxKind.MethodSignature).length;
    const problem = `a port of ${methods} methods, at most ${bounds.portMethods}`;
    return methods > bounds.portMethods ? [{ path: source.path, line: lineOf(source, node), problem }] : [];
  });
}

function exportFindings(source: Source): Finding[] {
  const found = source.tree.statements.flatMap((statement) => {
    const line = lineOf(source, statement);
    if (isExportAssignment(statement) || /^export default\b/.test(statement.getText(source.tree)))
      return [{ path: source.path, line, problem: "a default export; exports have names" }];
    if (isExportDeclaration(statement) && !statement.exportClause)
      return [{ path: source.path, line, problem: "a re-export of a whole file; name each export" }];
    return [];
  });
  const barrel = {
    path: source.path,
    line: 1,
    problem: "a barrel; import from the file that declares it",
  };
  const { statements } = source.tree;
  return statements.length > 0 && statements.every(isReExport) ? [...found, barrel] : found;
}

const isReExport = (statement: Node): boolean =>
  isExportDeclaration(statement) && statement.moduleSpecifier !== undefined;

function wordFindings(source: Source): Finding[] {
  return [...nodesOf(source.tree)].flatMap((node) => {
    const line = () => lineOf(source, node);
    if (node.kind === SyntaxKind.AnyKeyword) return [{ path: source.path, line: line(), problem: "`any`" }];
    if (node.kind === SyntaxKind.EnumDeclaration)
      return [{ path: source.path, line: line(), problem: "an enum; use a union of strings" }];
    return [];
  });
}

const looseEnd = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "HA" + "CK", "X" + "XX"].join("|")})\\b`);
const codeStart = /^(const|let|var|import|export|return|if|for|while|await|throw|function|[\w.]+\(|[}\])])/;
const codeEnd = /(;|[{}]|=>)$/;

function commentFindings({ path, lines }: Source): Finding[] {
  return lines.flatMap((line, index) => {
    if (looseEnd.test(line)) return [{ path, line: index + 1, problem: "a loose end left in the code" }];
    const comment = /^\s*\/\/ ?(.*)$/.exec(line)?.[1]?.trim() ?? "";
    if (codeStart.test(comment) && codeEnd.test(comment))
      return [{ path, line: index + 1, problem: "code in a comment; the history has removed code" }];
    return [];
  });
}

/** Markers of a merge conflict, in code or docs, comments included. */
export function conflictFindings({ path, text }: Pick<Source, "path" | "text">): Finding[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      /^\W*(<{7}|>{7}) /.test(line) ? [{ path, line: index + 1, problem: "a conflict marker" }] : [],
    );
}

const wireNames: ReadonlySet<string> = new Set(["tagId", "nextCursor", "previousCursor", "$filter"]);

/** Names of the wire format stay in the dialect kernels, in dialect files, and in clients of the API. */
function wireFindings(source: Source): Finding[] {
  const { path } = source;
  const isClientOrKernel = /^src\/(rest|odata|http|import|archive|client)\//.test(path);
  const speaksWire = isClientOrKernel || dialectOf(path) !== undefined || isClientFile(path);
  if (!path.startsWith("src/") || isTest(path) || speaksWire) return [];
  return [...nodesOf(source.tree)].flatMap((node) => {
    if (!isIdentifier(node) && !isStringLiteral(node) && !isNoSubstitutionTemplateLiteral(node)) return [];
    if (!wireNames.has(node.text)) return [];
    const problem = `${node.text} is a name of the wire format; it belongs in a dialect file`;
    return [{ path, line: lineOf(source, node), problem }];
  });
}

/** A dialect file calls its resource module, not a store: no read bypasses the rights check. */
function storeFindings(source: Source): Finding[] {
  if (!dialectOf(source.path)) return [];
  return [...nodesOf(source.tree)].filter(isPropertyAccessExpression).flatMap((node) => {
    const from = node.expression;
    if (!isIdentifier(from) || from.text !== "ctx") return [];
    if (!["catalog", "points", "blobs"].includes(node.name.text)) return [];
    const problem = `a dialect file calls its resource module, not ctx.${node.name.text}`;
    return [{ path: source.path, line: lineOf(source, node), problem }];
  });
}

/** These files parse JSON: `JSON.parse` may misread keys (src/lib/json.ts). */
const jsonReaders = ["src/lib/json.ts", "src/lib/json-reader.ts"];

function jsonFindings(source: Source): Finding[] {
  const { path } = source;
  if (!path.startsWith("src/") || isTest(path) || jsonReaders.includes(path)) return [];
  return [...nodesOf(source.tree)]
    .filter(isPropertyAccessExpression)
    .flatMap((node) =>
      node.getText(source.tree) === "JSON.parse"
        ? [{ path, line: lineOf(source, node), problem: "JSON.parse; use parseJson of src/lib/json.ts" }]
        : [],
    );
}

/** No test excludes the others, and none is skipped without a reason. */
function testFindings(source: Source): Finding[] {
  const { path, tree } = source;
  if (!isTest(path)) return [];
  return [...nodesOf(tree)].flatMap((node) => {
    const isOption = isPropertyAccessExpression(node) || isPropertyAssignment(node) || isCallExpression(node);
    const found = isOption ? leftOut.exec(node.getText(tree)) : null;
    if (!found) return [];
    return [{ path, line: lineOf(source, node), problem: `${found[0]} leaves out tests; say why` }];
  });
}

const leftOut = /^((it|test|describe|suite)\.(only|skip|todo)|(only|skip|todo): true|t\.(skip|todo)\(\))$/;

/** Functions, values and classes that are exported are imported somewhere; types are exempt. */
function unusedFindings(sources: readonly Source[]): Finding[] {
  const words = new Map<string, Set<string>>();
  for (const { path, text } of sources)
    for (const word of text.replace(comments, "").match(/\w+/g) ?? [])
      words.set(word, (words.get(word) ?? new Set()).add(path));
  return sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => {
      const name = exported.exec(line)?.[1];
      if (name === undefined || words.get(name)!.size > 1) return [];
      return [{ path, line: index + 1, problem: `no file imports ${name}; do not export it` }];
    }),
  );
}

const exported = /^export (?:async )?(?:const|function\*?|class) (\w+)/;
const comments = /\/\/.*|\/\*[\s\S]*?\*\//g;

/** A part of a resource that has a folder of its own counts by itself; clients of the server do not count. */
function resourceFindings(sources: readonly Source[]): Finding[] {
  const files = new Map<string, string[]>();
  for (const { path } of sources) {
    const resource = /^src\/resources\/(.+)\/[^/]+$/.exec(path)?.[1];
    if (resource && !isTest(path) && !isClientFile(path))
      files.set(resource, [...(files.get(resource) ?? []), path]);
  }
  return [...files].flatMap(([resource, paths]) => {
    const problem = `the resource ${resource} has ${paths.length} files, at most ${bounds.resourceFiles}`;
    return paths.length > bounds.resourceFiles ? [{ path: paths[0] ?? resource, line: 1, problem }] : [];
  });
}

/** Each limit is declared once in `src/limits/`, and used somewhere as `limits.<name>`. */
function limitFindings(sources: readonly Source[]): Finding[] {
  const users = sources.filter(({ path }) => path !== "src/limits.ts" && !isTest(path));
  const used = new Set(users.flatMap(limitsUsed));
  const declared = sources.filter(({ path }) => path.startsWith("src/limits/")).flatMap(limitsDeclared);
  const names = declared.map(({ name }) => name);
  return declared.flatMap(({ name, path, line }, at) => {
    if (names.indexOf(name) < at) return [{ path, line, problem: `the limit ${name} is declared twice` }];
    return used.has(name) ? [] : [{ path, line, problem: `the limit ${name} bounds nothing` }];
  });
}

const limitsUsed = ({ text }: Source): string[] =>
  [...text.matchAll(/\blimits\.(\w+)/g)].map((match) => match[1] ?? "");

function limitsDeclared(owner: Source): { name: string; path: string; line: number }[] {
  const members = [...nodesOf(owner.tree)].filter(isPropertyAssignment);
  return members.flatMap((member) => {
    const made = member.initializer;
    if (!isCallExpression(made) || made.expression.getText(owner.tree) !== "limit") return [];
    return [{ name: member.name.getText(owner.tree), path: owner.path, line: lineOf(owner, member) }];
  });
}

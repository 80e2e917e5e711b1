// Checks which part of src imports which: arrows run downwards, and a resource imports only earlier
// resources.
import { posix } from "node:path";
import { isImportDeclaration, isStringLiteral } from "typescript/unstable/ast/is";
import { resourceNames } from "../../src/transfers.ts";
import { type Finding, isTest, lineOf, type Source } from "./source.ts";

/** The resources in the order in which they may import each other. */
const resources: readonly string[] = ["common", ...resourceNames];

type Part =
  | "top"
  | "http"
  | "rest"
  | "odata"
  | "influx"
  | "resource"
  | "access"
  | "audit"
  | "import"
  | "client"
  | "errors"
  | "context"
  | "compute"
  | "port"
  | "store"
  | "runner"
  | "demo"
  | "query"
  | "lib";

const mayImport: Readonly<Record<Part, readonly Part[]>> = {
  top: [
    "http",
    "rest",
    "odata",
    "influx",
    "resource",
    "access",
    "audit",
    "import",
    "client",
    "errors",
    "context",
    "compute",
    "port",
    "store",
    "runner",
    "demo",
    "query",
    "lib",
  ],
  http: [
    "rest",
    "odata",
    "influx",
    "access",
    "audit",
    "errors",
    "context",
    "compute",
    "port",
    "query",
    "lib",
  ],
  rest: ["access", "errors", "context", "query", "lib"],
  odata: ["access", "errors", "context", "query", "lib"],
  influx: ["resource", "access", "errors", "context", "port", "query", "lib"],
  resource: ["access", "audit", "errors", "context", "compute", "port", "query", "lib"],
  runner: ["port", "errors", "query", "lib"],
  access: ["errors", "context", "port", "query", "lib"],
  audit: ["access", "errors", "port", "query", "lib"],
  import: ["client", "errors", "lib"],
  demo: ["client", "port", "errors", "lib"],
  client: ["errors", "lib"],
  context: [],
  compute: ["access", "errors", "lib"],
  port: ["errors", "query", "lib"],
  store: ["port", "errors", "query", "lib"],
  query: ["compute", "errors", "lib"],
  errors: ["lib"],
  lib: [],
};

export interface Import {
  readonly target: string;
  readonly typesOnly: boolean;
  readonly line: number;
}

export function arrowFindings(source: Source): Finding[] {
  if (!source.path.startsWith("src/")) return [];
  return importsOf(source).flatMap((imported) => {
    const problem = isTest(source.path) ? undefined : problemWith(source.path, imported);
    return problem ? [{ path: source.path, line: imported.line, problem }] : [];
  });
}

export function importsOf(source: Source): Import[] {
  return source.tree.statements.flatMap((statement) => {
    if (!isImportDeclaration(statement) || !isStringLiteral(statement.moduleSpecifier)) return [];
    const { text } = statement.moduleSpecifier;
    if (!text.startsWith(".") || text.endsWith("/package.json")) return [];
    const target = posix.join(posix.dirname(source.path), text);
    const typesOnly = /^import type\b/.test(statement.getText(source.tree));
    return [{ target, typesOnly, line: lineOf(source, statement) }];
  });
}

function problemWith(from: string, { target, typesOnly }: Import): string | undefined {
  if (isTest(target) || !target.startsWith("src/")) return `production code imports ${target}`;
  if (target.startsWith("src/storage/conformance/") && !from.startsWith("src/storage/conformance/"))
    return `production code imports the conformance suite ${target}`;
  const [here, there] = [partOf(from), partOf(target)];
  if (isClientFile(target) && !isClientFile(from) && here !== "top")
    return `${from} may not import ${target}, which is a client of the server`;
  if (isClientFile(from)) {
    if (isClientFile(target) && here === there) return problemBetweenResources(from, target);
    if (mayImport.import.includes(there) || there === "import") return undefined;
    return `${from} is a client of the server and may not import ${target}`;
  }
  if (here === "resource") {
    const result = problemInResource(from, target, typesOnly);
    if (result !== "general rules apply") return result;
  }
  if (here === "context" && typesOnly) return undefined;
  if (here === there && here !== "store") return undefined;
  if (here === "store" && there === "store" && segmentOf(from, 2) === segmentOf(target, 2)) return undefined;
  if (mayImport[here].includes(there)) return undefined;
  return `${from} may not import ${target}: arrows run downwards (${here} to ${there})`;
}

function problemInResource(from: string, target: string, typesOnly: boolean): string | undefined {
  const there = partOf(target);
  if (there === "resource") return problemBetweenResources(from, target);
  const dialect = dialectOf(from);
  if (there === "rest" || there === "odata")
    return dialect === there ? undefined : `only *.${there}.ts files may import the kernel ${target}`;
  if (there === "port" && dialect && !typesOnly)
    return `a dialect file may import only types from the port ${target}`;
  return "general rules apply";
}

function problemBetweenResources(from: string, target: string): string | undefined {
  const [resource, other] = [segmentOf(from, 2), segmentOf(target, 2)];
  if (positionOf(other) <= positionOf(resource)) return undefined;
  return `${resource} may not import ${other}, which comes after it in src/transfers.ts`;
}

/** Files of a resource that commands load without the server. */
export const isClientFile = (path: string): boolean =>
  path.startsWith("src/resources/") && /\.(archive|import)\.ts$/.test(path);

export const dialectOf = (path: string): string | undefined => /\.(rest|odata)\.ts$/.exec(path)?.[1];

const segmentOf = (path: string, depth: number): string => path.split("/")[depth] ?? "";

function positionOf(resource: string): number {
  const position = resources.indexOf(resource);
  return position < 0 ? Number.POSITIVE_INFINITY : position;
}

function partOf(path: string): Part {
  const inFolder = segmentOf(path, 2) !== "";
  const first = segmentOf(path, 1);
  if (!inFolder) {
    if (first === "errors.ts" || first === "limits.ts") return "errors";
    return first === "context.ts" ? "context" : "top";
  }
  if (first === "resources") return "resource";
  if (first === "errors" || first === "limits") return "errors";
  if (first === "demo") return segmentOf(path, 2) === "demo-runner.ts" ? "port" : "demo";
  if (first === "model-runner") return segmentOf(path, 2) === "model-runner.ts" ? "port" : "runner";
  if (first === "drawing-reader") return segmentOf(path, 2) === "drawing-reader.ts" ? "port" : "runner";
  if (first === "sql-runner") return segmentOf(path, 2) === "sql-runner.ts" ? "port" : "runner";
  if (first === "storage") return segmentOf(path, 3) === "" ? "port" : "store";
  if (first === "archive" || first === "connectors") return "import";
  const parts: readonly string[] = [
    "http",
    "rest",
    "odata",
    "influx",
    "access",
    "audit",
    "import",
    "client",
    "compute",
    "query",
    "lib",
  ];
  return parts.includes(first) ? (first as Part) : "top";
}

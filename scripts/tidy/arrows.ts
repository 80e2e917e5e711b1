// Which part of the house may import which: arrows run downwards, rooms know only the rooms to their left.
import { posix } from "node:path";
import { isImportDeclaration, isStringLiteral } from "typescript/unstable/ast/is";
import { resourceNames } from "../../src/transfers.ts";
import { type Finding, isTest, lineOf, type Source } from "./source.ts";

/** The resources in the order in which they may import each other. */
const rooms: readonly string[] = ["common", ...resourceNames];

type Part =
  | "top"
  | "http"
  | "rest"
  | "odata"
  | "room"
  | "access"
  | "import"
  | "client"
  | "words"
  | "context"
  | "compute"
  | "port"
  | "store"
  | "runner"
  | "query"
  | "lib";

const mayImport: Readonly<Record<Part, readonly Part[]>> = {
  top: [
    "http",
    "rest",
    "odata",
    "room",
    "access",
    "import",
    "client",
    "words",
    "context",
    "compute",
    "port",
    "store",
    "runner",
    "query",
    "lib",
  ],
  http: ["rest", "odata", "access", "words", "context", "compute", "port", "query", "lib"],
  rest: ["access", "words", "context", "query", "lib"],
  odata: ["access", "words", "context", "query", "lib"],
  room: ["access", "words", "context", "compute", "port", "query", "lib"],
  runner: ["port", "words", "lib"],
  access: ["words", "context", "port", "query", "lib"],
  import: ["client", "words", "lib"],
  client: ["words", "lib"],
  context: [],
  compute: ["access", "words", "lib"],
  port: ["words", "query", "lib"],
  store: ["port", "words", "query", "lib"],
  query: ["compute", "words", "lib"],
  words: ["lib"],
  lib: [],
};

export interface Import {
  readonly target: string;
  readonly typesOnly: boolean;
  readonly line: number;
}

export function arrowFindings(source: Source): Finding[] {
  if (!source.path.startsWith("src/")) return [];
  return importsOf(source).flatMap((one) => {
    const problem = isTest(source.path) ? undefined : problemWith(source.path, one);
    return problem ? [{ path: source.path, line: one.line, problem }] : [];
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
    if (isClientFile(target) && here === there) return problemBetweenRooms(from, target);
    if (mayImport.import.includes(there) || there === "import") return undefined;
    return `${from} is a client of the server and may not import ${target}`;
  }
  if (here === "room") {
    const problem = problemInRoom(from, target, typesOnly);
    if (problem !== "none of the room's own rules") return problem;
  }
  if (here === "context" && typesOnly) return undefined;
  if (here === there && here !== "store") return undefined;
  if (here === "store" && there === "store" && placeOf(from, 2) === placeOf(target, 2)) return undefined;
  if (mayImport[here].includes(there)) return undefined;
  return `${from} may not import ${target}: arrows run downwards (${here} to ${there})`;
}

function problemInRoom(from: string, target: string, typesOnly: boolean): string | undefined {
  const there = partOf(target);
  if (there === "room") return problemBetweenRooms(from, target);
  const dialect = dialectOf(from);
  if (there === "rest" || there === "odata")
    return dialect === there ? undefined : `only *.${there}.ts files may import the kernel ${target}`;
  if (there === "port" && dialect && !typesOnly)
    return `a dialect file takes nothing but types from the port ${target}`;
  return "none of the room's own rules";
}

function problemBetweenRooms(from: string, target: string): string | undefined {
  const [room, other] = [placeOf(from, 2), placeOf(target, 2)];
  if (positionOf(other) <= positionOf(room)) return undefined;
  return `${room} may not import ${other}, which comes after it in src/transfers.ts`;
}

/** Files of a resource that commands load without the server. */
export const isClientFile = (path: string): boolean =>
  path.startsWith("src/resources/") && /\.(archive|import)\.ts$/.test(path);

export const dialectOf = (path: string): string | undefined => /\.(rest|odata)\.ts$/.exec(path)?.[1];

const placeOf = (path: string, depth: number): string => path.split("/")[depth] ?? "";

function positionOf(room: string): number {
  const position = rooms.indexOf(room);
  return position < 0 ? Number.POSITIVE_INFINITY : position;
}

function partOf(path: string): Part {
  const inFolder = placeOf(path, 2) !== "";
  const first = placeOf(path, 1);
  if (!inFolder) {
    if (first === "errors.ts" || first === "limits.ts") return "words";
    return first === "context.ts" ? "context" : "top";
  }
  if (first === "resources") return "room";
  if (first === "errors") return "words";
  if (first === "model-runner") return placeOf(path, 2) === "model-runner.ts" ? "port" : "runner";
  if (first === "storage") return placeOf(path, 3) === "" ? "port" : "store";
  if (first === "archive") return "import";
  const parts: readonly string[] = [
    "http",
    "rest",
    "odata",
    "access",
    "import",
    "client",
    "compute",
    "query",
    "lib",
  ];
  return parts.includes(first) ? (first as Part) : "top";
}

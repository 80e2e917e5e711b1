// Reads the files of a configuration: YAML with records by kind, and SQL beside it. Every record keeps its
// place, so that a refusal names file and line.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { type Document, isMap, isPair, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { UsageError } from "../client/command.ts";
import { Failure } from "../errors.ts";
import { limits } from "../limits.ts";
import {
  type ConfigurationDocuments,
  configurationKinds,
  documentsSchema,
} from "../resources/configuration/configuration.rest.ts";
import { bodyCheck } from "../rest/body-check.ts";

interface YamlFile {
  /** Relative to the folder. */
  readonly name: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

/** Where a record is written. */
interface Place {
  readonly file: YamlFile;
  readonly path: readonly (string | number)[];
}

type Item = Record<string, unknown>;

export interface ReadFiles {
  readonly documents: ConfigurationDocuments;
  /** The number of records. */
  readonly count: number;
  /** `orders.yaml:12` for the record of this kind and name. */
  readonly placeOf: (kind: string, name: string) => string | undefined;
}

const connectorsFolder = "connectors";
const isYaml = (name: string) => /\.ya?ml$/i.test(name);

/** The names of the files below a folder, in their order, without hidden ones. Follows links to files. */
export function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isSymbolicLink())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .filter((name) => !name.split(sep).some((part) => part.startsWith(".")))
      .filter((name) => isFile(folder, name))
      .sort();
  } catch (problem) {
    throw new UsageError(`${folder} cannot be read: ${(problem as Error).message}`);
  }
}

/** Refuses links to folders, whose files would be missed without a word. */
function isFile(folder: string, name: string): true {
  if (statSync(join(folder, name)).isFile()) return true;
  throw new Error(`${name} is a link, but not to a file`);
}

/** The YAML files of connectors, which have a form of their own. */
export const connectorFilesIn = (names: readonly string[]): string[] =>
  names.filter((name) => isYaml(name) && name.startsWith(`${connectorsFolder}${sep}`));

/** The other YAML files. */
export const configurationFilesIn = (names: readonly string[]): string[] =>
  names.filter((name) => isYaml(name) && !name.startsWith(`${connectorsFolder}${sep}`));

/** Refuses (`UsageError`) invalid documents, with file, line and key. */
export function readConfiguration(folder: string, names: readonly string[]): ReadFiles {
  const documents: Record<string, Item[]> = {};
  const places: Record<string, Place[]> = {};
  for (const name of names) {
    const file = parsed(folder, name);
    for (const [kind, items] of kindsIn(file)) {
      documents[kind] ??= [];
      places[kind] ??= [];
      for (const [index, item] of items.entries()) {
        const place = { file, path: [kind, index] };
        documents[kind].push(kind === "transformations" ? withQuery(folder, item, place) : item);
        places[kind].push(place);
      }
    }
  }
  check(documents, places);
  const placed = placesByName(documents, places);
  return {
    documents: documents as ConfigurationDocuments,
    count: Object.values(documents).reduce((sum, items) => sum + items.length, 0),
    placeOf: (kind, name) => placed.get(JSON.stringify([kind, name])),
  };
}

function textOf(path: string, name: string): string {
  try {
    const { size } = statSync(path);
    if (size > limits.bodyBytesMax) throw new Error(`it has ${size} bytes, more than ${limits.bodyBytesMax}`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (problem) {
    throw new UsageError(`${name} cannot be read: ${(problem as Error).message}`);
  }
}

function parsed(folder: string, name: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(textOf(join(folder, name), name), {
    lineCounter: lines,
    prettyErrors: false,
  });
  const [error] = document.errors;
  if (error) {
    const message =
      error.code === "MULTIPLE_DOCS" ? "a file is one YAML document: use a file for each" : error.message;
    throw new UsageError(`${name}:${lines.linePos(error.pos[0]).line}: ${message}`);
  }
  return { name, document, lines };
}

/** The lists of records of a file. */
function kindsIn(file: YamlFile): [string, Item[]][] {
  const { name } = file;
  const content = contentOf(file);
  if (content === null) return [];
  if (typeof content !== "object" || Array.isArray(content))
    throw new UsageError(`${name}:1: expected records by kind, such as "groups:"`);
  const known = configurationKinds.map(({ kind }) => kind.name);
  return Object.entries(content).map(([kind, items]) => {
    const at = `${name}:${lineOf({ file, path: [] }, [kind])}`;
    if (!known.includes(kind))
      throw new UsageError(`${at}: unknown key ${JSON.stringify(kind)}; known are ${known.join(", ")}`);
    const isList = Array.isArray(items) && items.every((item) => typeof item === "object" && item !== null);
    if (!isList) throw new UsageError(`${at}: ${kind} must be a list of records`);
    return [kind, items];
  });
}

function contentOf({ name, document }: YamlFile): unknown {
  try {
    return document.toJS() as unknown;
  } catch (problem) {
    throw new UsageError(`${name}: ${(problem as Error).message}`);
  }
}

/** The record with the text of its SQL file as `query`. */
function withQuery(folder: string, { sql, ...item }: Item, place: Place): Item {
  if (sql === undefined) return item;
  const refused = (problem: string) => new UsageError(`${shown(place, ["sql"])}: ${problem}`);
  if (typeof sql !== "string") throw refused("sql must be the name of a file");
  if (item["query"] !== undefined) throw refused("sql and query are given; one of them is enough");
  const path = resolve(folder, dirname(place.file.name), sql);
  const name = relative(folder, path);
  if (name.startsWith("..") || !sql.endsWith(".sql"))
    throw refused(`sql must be a .sql file in the folder, not ${JSON.stringify(sql)}`);
  return { ...item, query: textOf(path, `${shown(place, ["sql"])}: ${name}`) };
}

function check(documents: Record<string, Item[]>, places: Readonly<Record<string, readonly Place[]>>): void {
  try {
    const checking = bodyCheck(documentsSchema)(documents);
    while (!checking.next().done);
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    throw new UsageError(messageOf(problem, places));
  }
}

interface RefusalDetails {
  readonly field?: string;
  readonly fields?: readonly string[];
  readonly expected?: string;
  readonly got?: string;
}

function messageOf(problem: Failure, places: Readonly<Record<string, readonly Place[]>>): string {
  const { field, fields = [], expected, got } = problem.details as RefusalDetails;
  const messages = (field === undefined ? fields : [field]).map((one) => {
    const [kind = "", index, ...path] = pathIn(one);
    const place = places[kind]?.[index as number];
    if (!place) return problem.message;
    const key = path.join(".");
    const at = shown(place, path);
    if (problem.failure === "fields-unknown") return `${at}: unknown key ${JSON.stringify(key)}`;
    if (problem.failure === "fields-missing") return `${at}: the key ${JSON.stringify(key)} is missing`;
    return expected === undefined
      ? `${at}: ${problem.message}`
      : `${at}: ${key || kind} must be ${expected}, not ${got}`;
  });
  return messages.join("\n");
}

/** `series[3].metadata.a` as `["series", 3, "metadata", "a"]`. */
const pathIn = (field: string): (string | number)[] =>
  field.split(/[.[]/).map((part) => (/^\d+\]$/.test(part) ? Number(part.slice(0, -1)) : part));

const shown = (place: Place, path: readonly (string | number)[]): string =>
  `${place.file.name}:${lineOf(place, path)}`;

/** The line of a member of a record; if the member is absent, that of the element around it. */
function lineOf({ file: { document, lines }, path }: Place, inner: readonly (string | number)[]): number {
  for (let depth = inner.length; depth >= 0; depth--) {
    const start = startOf(document, [...path, ...inner.slice(0, depth)]);
    if (start !== undefined) return lines.linePos(start).line;
  }
  return 1;
}

function startOf(document: Document.Parsed, path: readonly (string | number)[]): number | undefined {
  const around = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  const last = path.at(-1);
  if (last === undefined) return document.contents?.range?.[0];
  const pair = isMap(around)
    ? around.items.find((one) => isPair(one) && isScalar(one.key) && one.key.value === last)
    : undefined;
  const node = (pair?.key ?? document.getIn(path, true)) as Node | undefined;
  return node?.range?.[0];
}

/** The place of each record. Refuses two records with one name. */
function placesByName(
  documents: Readonly<Record<string, readonly Item[]>>,
  places: Readonly<Record<string, readonly Place[]>>,
): ReadonlyMap<string, string> {
  const placed = new Map<string, string>();
  for (const { kind } of configurationKinds)
    for (const [index, item] of (documents[kind.name] ?? []).entries()) {
      const name = item[kind.key] as string;
      const id = JSON.stringify([kind.name, name]);
      const at = shown(places[kind.name]![index]!, []);
      const earlier = placed.get(id);
      if (earlier !== undefined)
        throw new UsageError(`${at}: ${kind.name} ${JSON.stringify(name)} is in ${earlier} already`);
      placed.set(id, at);
    }
  return placed;
}

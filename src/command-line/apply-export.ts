// Writes the records of a project as the files that `millrace apply` reads. The same records always give the
// same files.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "yaml";
import { UsageError } from "../client/command.ts";
import { type Connection, ServerProblem } from "../client/connection.ts";
import type { Output } from "../client/progress.ts";
import { compareText } from "../lib/text.ts";
import { configurationKinds } from "../resources/configuration/configuration.rest.ts";
import { configurationFilesIn, filesIn } from "./apply-files.ts";

type Item = Readonly<Record<string, unknown>>;

/** The kinds that share a file. */
const fileOf: Readonly<Record<string, string>> = {
  ...{ series: "series.yaml", groups: "groups.yaml" },
  ...{ models: "models.yaml", modelSchedules: "models.yaml" },
};

interface Export {
  readonly connection: Connection;
  readonly output: Output;
  readonly folder: string;
  /** The kinds to export; without it all that the key may read. */
  readonly only: readonly string[] | undefined;
}

/** Writes the configuration to a folder. Refuses one with other files that `millrace apply` would read. */
export async function exportConfiguration({ connection, output, folder, only }: Export): Promise<void> {
  const files = new Map<string, string>();
  const shared: Record<string, Record<string, Item[]>> = {};
  for (const { kind } of configurationKinds) {
    if (only && !only.includes(kind.name)) continue;
    const found = await recordsOf(connection, kind.name).catch((problem: unknown) => {
      const isLeftOut = problem instanceof ServerProblem && [400, 403].includes(problem.status ?? 0) && !only;
      if (!isLeftOut) throw problem;
      output.write(`${kind.name} are left out: ${problem.message}\n`);
    });
    const sorted = found?.toSorted((a, b) => compareText(String(a[kind.key]), String(b[kind.key]))) ?? [];
    if (found) output.write(`${kind.name}: ${found.length}\n`);
    const file = fileOf[kind.name];
    if (!file) for (const [name, text] of transformationFiles(sorted)) files.set(name, text);
    else if (sorted.length > 0) shared[file] = { ...shared[file], [kind.name]: sorted };
  }
  for (const [name, content] of Object.entries(shared)) files.set(name, yamlOf(content));
  write(folder, files);
}

async function recordsOf(connection: Connection, kind: string): Promise<Item[]> {
  const found: Item[] = [];
  const path = connection.pathOf(`configuration/${kind}`, "0.6");
  for await (const items of connection.pages<Item>(path, { limit: "1000" })) found.push(...items);
  return found;
}

/** A file for each transformation, and its SQL beside it. */
function* transformationFiles(transformations: readonly Item[]): Generator<[string, string]> {
  const names = fileNames(transformations.map(({ externalId }) => externalId as string));
  for (const [index, { query, ...item }] of transformations.entries()) {
    const name = names[index]!;
    yield [
      join("transformations", `${name}.yaml`),
      yamlOf({ transformations: [{ ...item, sql: `${name}.sql` }] }),
    ];
    yield [join("transformations", `${name}.sql`), query as string];
  }
}

/** Names that every file system keeps apart: others than the external ids end in a hash of these. */
function fileNames(externalIds: readonly string[]): string[] {
  const lower = externalIds.map((one) => one.toLowerCase());
  const times = Map.groupBy(lower, (one) => one);
  return externalIds.map((externalId, index) => {
    const safe = externalId
      .replaceAll(/[^\w.-]/g, "_")
      .replace(/^\./, "_")
      .slice(0, 100);
    const isReserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(safe) || safe.endsWith(".");
    const isOwn = safe === externalId && !isReserved && times.get(lower[index]!)!.length === 1;
    return isOwn ? safe : `${safe}-${createHash("sha256").update(externalId).digest("hex").slice(0, 8)}`;
  });
}

/** Strings that YAML would change are quoted, all of the file then. */
function yamlOf(content: object): string {
  const text = stringify(content, { lineWidth: 0, aliasDuplicateObjects: false });
  if (isDeepStrictEqual(safely(text), content)) return text;
  return stringify(content, {
    ...{ lineWidth: 0, aliasDuplicateObjects: false },
    ...{ defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "QUOTE_DOUBLE" },
  });
}

function safely(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function write(folder: string, files: ReadonlyMap<string, string>): void {
  const present = existsSync(folder) ? filesIn(folder) : [];
  const sql = present.filter((name) => name.endsWith(".sql"));
  const others = [...configurationFilesIn(present), ...sql].filter((name) => !files.has(name));
  if (others.length > 0)
    throw new UsageError(
      `${folder} has files that this export does not write: ${others.join(", ")}. Nothing was written; ` +
        "remove them, or name another folder.",
    );
  for (const [name, text] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

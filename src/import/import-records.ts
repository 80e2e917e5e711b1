// `millrace import` of one kind of records: from the words of the command line to the exit code.
import { statSync } from "node:fs";
import { parseArgs } from "node:util";
import { exitCodes, keyOf, messageOf, type Surroundings, serverOf, UsageError } from "../client/command.ts";
import { Connection, ServerProblem } from "../client/connection.ts";
import { Ledger } from "../client/ledger.ts";
import { count, Progress } from "../client/progress.ts";
import { limits } from "../limits.ts";
import { encodingOf } from "./options.ts";
import { fieldNames, isField, Refused } from "./record-items.ts";
import type { Loader, Prepared, RecordKind, RecordOptions, Refuse } from "./record-kind.ts";
import { type FileRecord, formatOf, recordsOf } from "./records.ts";
import { Report } from "./report.ts";
import { openingOf } from "./rows.ts";
import { encodings, requireEncoding, UnreadableFile } from "./text-file.ts";

/** The help of the commands of these kinds. */
export const recordsUsage = (
  kinds: readonly RecordKind[],
): string => `Usage:${kinds.map(lineOf).join("\n      ")}

Loads records from CSV (a header line) or JSON lines (.jsonl, .ndjson; an object a line).

${kinds.map(helpOf).join("\n")}

  --server URL          the server (MILLRACE_SERVER, else http://127.0.0.1:8787)
  --key KEY             API key (or the environment variable MILLRACE_KEY)
  --format FORMAT       csv or jsonl, when the file's name does not say
  --encoding ENCODING   of the file: ${encodings.join(", ")} (utf-8)
  --map COLUMN=FIELD    what a column is to be; COLUMN= leaves it out; may be given several times
  --database, --table   where raw rows go; made when missing
  --key-column NAME     the column with the keys of raw rows (key)
  --delimiter CHARACTER between cells of CSV (,)
  --dry-run             read everything, write nothing, say what would be refused
  --state FILE          where to note what is loaded, to resume from there (<file>.import.db)
  --report FILE         where to list refused lines (<file>.refused.csv)

Ends with 0 when everything is loaded, 3 when some lines were refused, 2 when nothing was begun, 1 when it was
interrupted; run the same command again to continue.`;

const lineOf = ({ name, needsTable }: RecordKind): string =>
  ` millrace import ${name} <file>${needsTable ? " --database NAME --table NAME" : ""} [options]`;

const helpOf = ({ name, help }: RecordKind): string =>
  help.map((line, at) => `  ${(at === 0 ? name : "").padEnd(nameCharacters)}${line}`).join("\n");

const nameCharacters = 8;

const known = {
  server: { type: "string" },
  key: { type: "string" },
  format: { type: "string" },
  encoding: { type: "string" },
  map: { type: "string", multiple: true },
  database: { type: "string" },
  table: { type: "string" },
  "key-column": { type: "string" },
  delimiter: { type: "string" },
  "dry-run": { type: "boolean" },
  state: { type: "string" },
  report: { type: "string" },
} as const;

/** The command for one kind of records; it returns the exit code. */
export const importRecords =
  (kind: RecordKind) =>
  async (words: readonly string[], surroundings: Surroundings): Promise<number> => {
    const { output, abort } = surroundings;
    let begun = false;
    let ledger: Ledger<object> | undefined;
    try {
      const options = optionsOf(kind, words, surroundings.env);
      await requireEncoding(options);
      await refuseUnknownColumns(kind, options);
      const connection = new Connection(options, abort);
      await connection.login();
      const decides = [
        kind.name,
        connection.projectId,
        options.database,
        options.table,
        [...options.map],
        options.encoding,
      ];
      const stateFile = options.dryRun ? ":memory:" : options.stateFile;
      ledger = new Ledger<object>(stateFile, decides, nothingYet);
      const isResumed = ledger.progress !== nothingYet;
      ledger.note({ begun: true });
      begun = !options.dryRun;
      output.write(`${options.file}: ${kind.name} into project ${connection.project} at ${options.server}\n`);
      if (options.dryRun) output.write("Dry run: nothing is written\n");
      if (isResumed) output.write("Going on where it stopped\n");
      const loader = kind.loader({ options, connection, ledger, isResumed });
      return await run({ noun: kind.noun, options, loader, ledger, surroundings });
    } catch (problem) {
      const isExpected =
        problem instanceof UsageError ||
        problem instanceof ServerProblem ||
        problem instanceof UnreadableFile;
      if (!isExpected && !abort.aborted) throw problem;
      output.write(`${abort.aborted ? "Aborted" : messageOf(problem)}\n`);
      if (begun) output.write("Run the same command again to continue from where it stopped.\n");
      ledger?.close();
      return begun ? exitCodes.interrupted : exitCodes.notBegun;
    }
  };

const nothingYet = {};

function optionsOf(kind: RecordKind, words: readonly string[], env: NodeJS.ProcessEnv): RecordOptions {
  const { values, positionals } = parsed(words);
  const [file, ...more] = positionals;
  if (file === undefined) throw new UsageError("Name the file to import");
  if (more.length > 0) throw new UsageError(`One file at a time, but there is also ${more.join(" ")}`);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`There is no file ${file}`);
  const { database = "", table = "" } = values;
  if (kind.needsTable && (database === "" || table === ""))
    throw new UsageError("Say where the rows go: --database NAME --table NAME");
  return {
    ...{ file, database, table },
    format: formatOf(file, values.format),
    encoding: encodingOf(values.encoding),
    delimiter: values.delimiter === "\\t" ? "\t" : (values.delimiter ?? ","),
    map: new Map((values.map ?? []).map(mappingOf)),
    server: serverOf(values.server, env),
    key: keyOf(values.key, env),
    keyColumn: values["key-column"] ?? "key",
    dryRun: values["dry-run"] ?? false,
    stateFile: values.state ?? `${file}.import.db`,
    reportFile: values.report ?? `${file}.refused.csv`,
  };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: known, allowPositionals: true });
  } catch (problem) {
    throw new UsageError((problem as Error).message);
  }
}

function mappingOf(given: string): [column: string, field: string] {
  const at = given.lastIndexOf("=");
  if (at < 1) throw new UsageError(`--map is COLUMN=FIELD, not ${given}`);
  return [given.slice(0, at), given.slice(at + 1)];
}

/** All lines of a CSV file have the same columns, so that an unknown one is refused before the first line. */
async function refuseUnknownColumns(
  { name, fields }: RecordKind,
  { format, map, ...csv }: RecordOptions,
): Promise<void> {
  if (format !== "csv" || !fields) return;
  const { header } = await openingOf(csv);
  const columns = header.cells.map((column) => map.get(column) ?? column);
  const unknown = columns.find((column) => column !== "" && !isField(fields, column));
  if (unknown === undefined) return;
  throw new UsageError(
    `${name} have no field ${unknown}, but ${fieldNames(fields)}; ` +
      `--map "${unknown}=metadata.${unknown}" keeps it, --map "${unknown}=" leaves it out`,
  );
}

interface Run {
  readonly noun: string;
  readonly options: RecordOptions;
  readonly loader: Loader;
  readonly ledger: Ledger<object>;
  readonly surroundings: Surroundings;
}

async function run({ noun, options, loader, ledger, surroundings }: Run): Promise<number> {
  const { output, stop } = surroundings;
  const report = new Report(options.reportFile, 0);
  const refused = new Set<number>();
  const refuse = ({ line }: { readonly line: number }, { field, value, message }: Refused) => {
    if (refused.size === refused.add(line).size) return;
    const shown =
      value === undefined ? "" : String(typeof value === "object" ? JSON.stringify(value) : value);
    report.add([{ line, column: field, value: shown, reason: message }]);
  };
  const progress = new Progress(output, statSync(options.file).size, { bytes: 0, points: 0, unit: noun });
  let loaded = 0;
  try {
    await loader.prepare?.();
    // A pass may create records whose parents the pass before created; only assets need more than one.
    for (let made = 1; made > 0 && !stop.aborted; ) {
      made = 0;
      let batch: Prepared[] = [];
      const flush = async () => {
        const done = await loader.load(batch, refuse);
        batch = [];
        made += done;
        loaded += done;
      };
      for await (const record of recordsOf(options)) {
        if (stop.aborted) break;
        const prepared = refused.has(record.line) ? undefined : await preparedOf(loader, record, refuse);
        if (prepared) batch.push(prepared);
        progress.update({ bytes: record.endBytes, points: loaded });
        if (batch.length === limits.importItemsPerRequest) await flush();
      }
      await flush();
      if (!loader.isRepeated) break;
    }
    if (!stop.aborted) loader.conclude?.(refuse);
  } finally {
    progress.end();
  }
  output.write(`${count(loaded)} ${noun} ${options.dryRun ? "would be loaded" : "loaded"}\n`);
  for (const line of report.summary()) output.write(`${line}\n`);
  if (stop.aborted) {
    ledger.close();
    output.write("Stopped. Run the same command again to continue.\n");
    return exitCodes.interrupted;
  }
  if (options.dryRun) ledger.close();
  else ledger.remove();
  return report.count > 0 ? exitCodes.someRefused : exitCodes.loaded;
}

async function preparedOf(loader: Loader, record: FileRecord, refuse: Refuse): Promise<Prepared | undefined> {
  try {
    if (record.problem !== undefined) throw new Refused("", "", record.problem);
    return await loader.prepareOne(record);
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    refuse(record, problem);
    return undefined;
  }
}

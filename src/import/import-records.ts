// `millrace import assets|events|raw`: from the words of the command line to the exit code.
import { statSync } from "node:fs";
import { parseArgs } from "node:util";
import { exitCodes, keyOf, type Surroundings, serverOf, UsageError } from "../client/command.ts";
import { Connection, ServerProblem } from "../client/connection.ts";
import { Ledger } from "../client/ledger.ts";
import { count, Progress } from "../client/progress.ts";
import { limits } from "../limits.ts";
import { encodingOf } from "./options.ts";
import { fieldsOf, isField, Refused } from "./record-items.ts";
import { type Kind, type Loader, loaders, type Prepared } from "./record-loaders.ts";
import { type FileRecord, formatOf, type Reading, recordsOf } from "./records.ts";
import { Report } from "./report.ts";
import { openingOf } from "./rows.ts";
import { encodings, requireEncoding, UnreadableFile } from "./text-file.ts";

export const recordsUsage = `Usage: millrace import assets <file> [options]
       millrace import events <file> [options]
       millrace import raw <file> --database NAME --table NAME [options]

Loads records from CSV (a header line) or JSON lines (.jsonl, .ndjson; an object a line).

  assets  ${fieldsOf("assets")}
          id is the file's own; a parent is one of the file, in any order, or of the server: by parentId,
          by parentName, or by parentSource and parentSourceId
  events  ${fieldsOf("events")}
          times in ISO 8601 or ms since 1970; several assets are separated by semicolons
  raw     any columns; JSON values stay as they are written

  --server URL          the server (http://127.0.0.1:8787)
  --key KEY             API key (or the environment variable MILLRACE_KEY)
  --format FORMAT       csv or jsonl, when the file's name does not say
  --encoding ENCODING   of the file: ${encodings.join(", ")} (utf-8)
  --map COLUMN=FIELD    what a column is to be; COLUMN= leaves it out; may be given several times
  --database, --table   where raw rows go; made when missing
  --key-column NAME     the column with the keys of raw rows (key)
  --delimiter CHARACTER between cells of CSV (,)
  --dry-run             read everything, write nothing, say what would be refused
  --state FILE          where to note what is loaded, to go on from there (<file>.import.db)
  --report FILE         where to list refused lines (<file>.refused.csv)

Ends with 0 when everything is loaded, 3 when some lines were refused, 2 when nothing was begun, 1 when it was
interrupted; run the same command again to go on.`;

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

export interface RecordOptions extends Reading {
  readonly kind: Kind;
  readonly server: string;
  readonly key: string;
  readonly database: string;
  readonly table: string;
  readonly keyColumn: string;
  readonly dryRun: boolean;
  readonly stateFile: string;
  readonly reportFile: string;
}

/** Runs the command for one kind of records; answers its exit code. */
export const importRecords =
  (kind: Kind) =>
  async (words: readonly string[], surroundings: Surroundings): Promise<number> => {
    const { output, abort } = surroundings;
    let begun = false;
    let ledger: Ledger<object> | undefined;
    try {
      const options = optionsOf(kind, words, surroundings.env);
      await requireEncoding(options);
      await refuseStrangers(options);
      const connection = new Connection(options, abort);
      await connection.login();
      const decides = [
        kind,
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
      output.write(`${options.file}: ${kind} into project ${connection.project} at ${options.server}\n`);
      if (options.dryRun) output.write("Dry run: nothing is written\n");
      if (isResumed) output.write("Going on where it stopped\n");
      const loader = loaders[kind]({ options, connection, ledger, isResumed });
      return await run({ options, loader, ledger, surroundings });
    } catch (problem) {
      const isExpected =
        problem instanceof UsageError ||
        problem instanceof ServerProblem ||
        problem instanceof UnreadableFile;
      if (!isExpected && !abort.aborted) throw problem;
      output.write(`${abort.aborted ? "Aborted" : (problem as Error).message}\n`);
      if (begun) output.write("Run the same command again to go on from where it stopped.\n");
      ledger?.close();
      return begun ? exitCodes.interrupted : exitCodes.notBegun;
    }
  };

const nothingYet = {};

function optionsOf(kind: Kind, words: readonly string[], env: NodeJS.ProcessEnv): RecordOptions {
  const { values, positionals } = parsed(words);
  const [file, ...more] = positionals;
  if (file === undefined) throw new UsageError("Name the file to import");
  if (more.length > 0) throw new UsageError(`One file at a time, but there is also ${more.join(" ")}`);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`There is no file ${file}`);
  const { database = "", table = "" } = values;
  if (kind === "raw" && (database === "" || table === ""))
    throw new UsageError("Say where the rows go: --database NAME --table NAME");
  return {
    ...{ kind, file, database, table },
    format: formatOf(file, values.format),
    encoding: encodingOf(values.encoding),
    delimiter: values.delimiter === "\\t" ? "\t" : (values.delimiter ?? ","),
    map: new Map((values.map ?? []).map(mappingOf)),
    server: serverOf(values.server),
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

/** Columns of CSV are the same for all lines, so that a strange one is a mistake to be told at once. */
async function refuseStrangers({ kind, format, map, ...csv }: RecordOptions): Promise<void> {
  if (format !== "csv" || kind === "raw") return;
  const { header } = await openingOf(csv);
  const fields = header.cells.map((name) => map.get(name) ?? name);
  const stranger = fields.find((field) => field !== "" && !isField(kind, field));
  if (stranger === undefined) return;
  throw new UsageError(
    `${kind} have no field ${stranger}, but ${fieldsOf(kind)}; ` +
      `--map "${stranger}=metadata.${stranger}" keeps it, --map "${stranger}=" leaves it out`,
  );
}

interface Run {
  readonly options: RecordOptions;
  readonly loader: Loader;
  readonly ledger: Ledger<object>;
  readonly surroundings: Surroundings;
}

async function run({ options, loader, ledger, surroundings }: Run): Promise<number> {
  const { output, stop } = surroundings;
  const report = new Report(options.reportFile, 0);
  const refused = new Set<number>();
  const refuse = ({ line }: { readonly line: number }, { field, value, message }: Refused) => {
    if (refused.size === refused.add(line).size) return;
    const shown =
      value === undefined ? "" : String(typeof value === "object" ? JSON.stringify(value) : value);
    report.add([{ line, column: field, value: shown, reason: message }]);
  };
  const unit = options.kind === "raw" ? "rows" : options.kind;
  const progress = new Progress(output, statSync(options.file).size, { bytes: 0, points: 0, unit });
  let loaded = 0;
  try {
    await loader.prepare?.();
    // Each pass makes what the one before has made parents for; all but assets need a single one.
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
  output.write(`${count(loaded)} ${unit} ${options.dryRun ? "would be loaded" : "loaded"}\n`);
  for (const line of report.summary()) output.write(`${line}\n`);
  if (stop.aborted) {
    ledger.close();
    output.write("Stopped. Run the same command again to go on.\n");
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

type Refuse = Parameters<Loader["load"]>[1];

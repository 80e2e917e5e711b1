// `millrace apply`: brings the configuration of a project to that of a folder of files, through the public
// API only.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { keyOf, messageOf, type Surroundings, serverOf, UsageError } from "../client/command.ts";
import { Connection, ServerProblem } from "../client/connection.ts";
import { nameIn } from "../connectors/configuration.ts";
import { configurationKinds } from "../resources/configuration/configuration.rest.ts";
import { differenceLines, type ShownDifference, summaryOf } from "./apply-differences.ts";
import { exportConfiguration } from "./apply-export.ts";
import {
  configurationFilesIn,
  connectorFilesIn,
  filesIn,
  type ReadFiles,
  readConfiguration,
} from "./apply-files.ts";
import { asClient } from "./client.ts";
import type { Command } from "./command.ts";

const kindNames = configurationKinds.map(({ kind }) => kind.name);
const prunableNames = configurationKinds.flatMap(({ kind }) => (kind.remove ? [kind.name] : []));

export const apply: Command = {
  usage: `Usage: millrace apply <folder> [options]
       millrace apply <folder> --from-server [options]

Compares the YAML and SQL files of a folder with a project, shows the differences and applies them, all or
none. With --from-server it writes the files instead. A second run changes nothing. docs/apply.md explains
the files.

  --dry-run             show the differences only
  --prune KIND          delete records of this kind without a file: ${prunableNames.join(", ")}
  --from-server         write the records of the project into the folder
  --only KIND           with --from-server, this kind alone: ${kindNames.join(", ")}
  --server URL          the server (MILLRACE_SERVER, else http://127.0.0.1:8787)
  --key KEY             API key of the project (or the environment variable MILLRACE_KEY)

--prune and --only may be repeated. Ends with 0 when nothing is left to apply, else 1 when the server refused
or did not respond, 2 when the files or options are not valid, 3 when --dry-run shows differences.`,
  run: (words) => asClient(run, words),
};

const exitCodes = { done: 0, failed: 1, invalid: 2, differs: 3 } as const;

const known = {
  "dry-run": { type: "boolean", default: false },
  "from-server": { type: "boolean", default: false },
  prune: { type: "string", multiple: true, default: [] as string[] },
  only: { type: "string", multiple: true },
  server: { type: "string" },
  key: { type: "string" },
} as const;

async function run(words: readonly string[], { env, output, stop, abort }: Surroundings): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...words], options: known, allowPositionals: true });
  const say = (line: string) => output.write(`${line}\n`);
  try {
    const [folder, ...others] = positionals;
    if (folder === undefined || others.length > 0) throw new UsageError("Name one folder.");
    refuseOtherKinds("--prune", values.prune, prunableNames);
    refuseOtherKinds("--only", values.only ?? [], kindNames);
    const target = { server: serverOf(values.server, env), key: keyOf(values.key, env) };
    const interrupted = AbortSignal.any([stop, abort]);
    const connection = new Connection(target, interrupted);
    if (values["from-server"]) {
      await connection.login();
      await exportConfiguration({ connection, output, folder, only: values.only });
      return exitCodes.done;
    }
    const names = filesIn(folder);
    const configuration = readConfiguration(folder, configurationFilesIn(names));
    const connectors = connectorFilesIn(names).map((name) => nameIn(join(folder, name), env));
    if (configuration.count === 0 && connectors.length === 0 && values.prune.length === 0)
      throw new UsageError(`${folder} has no YAML files with records`);
    refuseToPruneAll(folder, values.prune, configuration);
    await connection.login();
    say(`Project ${connection.project} at ${target.server}`);
    await showConnectors(connection, connectors, say);
    const application = { connection, configuration, interrupted, prune: values.prune, say };
    return await applyFiles(application, values["dry-run"]);
  } catch (problem) {
    const isInterrupted = stop.aborted && !(problem instanceof ServerProblem);
    if (isInterrupted) say("Interrupted: nothing was applied.");
    else if (problem instanceof UsageError || problem instanceof ServerProblem) say(messageOf(problem));
    else throw problem;
    return problem instanceof UsageError ? exitCodes.invalid : exitCodes.failed;
  }
}

function refuseOtherKinds(option: string, given: readonly string[], allowed: readonly string[]): void {
  const other = given.find((one) => !allowed.includes(one));
  if (other !== undefined)
    throw new UsageError(`${option} must be one of ${allowed.join(", ")}, not ${JSON.stringify(other)}`);
}

/** A wrong folder must not delete everything. */
function refuseToPruneAll(folder: string, prune: readonly string[], { documents }: ReadFiles): void {
  const kind = prune.find((one) => !Object.hasOwn(documents, one));
  if (kind === undefined) return;
  throw new UsageError(`--prune ${kind}: no file of ${folder} has records of this kind, so all would go.
If you want that, write "${kind}: []" into a YAML file.`);
}

interface Application {
  readonly connection: Connection;
  readonly configuration: ReadFiles;
  readonly interrupted: AbortSignal;
  readonly prune: readonly string[];
  readonly say: (line: string) => void;
}

interface Outcome {
  readonly differences: readonly ShownDifference[];
  readonly unchanged: number;
  readonly digest: string;
}

/** Applies the differences that it has shown, and no others. */
async function applyFiles(application: Application, isDryRun: boolean): Promise<number> {
  const { configuration, say } = application;
  const { differences, unchanged, digest } = await send(application, { dryRun: true });
  for (const one of differences)
    for (const line of differenceLines(one, configuration.placeOf(one.kind, one.name))) say(line);
  say(summaryOf(differences, unchanged));
  if (differences.length === 0) return exitCodes.done;
  if (isDryRun) return exitCodes.differs;
  application.interrupted.throwIfAborted();
  await send(application, { digest });
  say("Applied.");
  return exitCodes.done;
}

const unknownEnd = "It is not known whether it was applied; run again.";

async function send(
  { connection, configuration, interrupted, prune }: Application,
  more: { readonly dryRun?: true; readonly digest?: string },
): Promise<Outcome> {
  const body = JSON.stringify({ ...configuration.documents, ...(prune.length > 0 && { prune }), ...more });
  const path = connection.pathOf("configuration", "0.6");
  try {
    const { data } = (await connection.jsonOnce("POST", path, { body })) as { data: Outcome };
    return data;
  } catch (problem) {
    const isUnknown = more.dryRun === undefined && interrupted.aborted;
    if (isUnknown) throw new ServerProblem(`Interrupted.\n${unknownEnd}`);
    if (!(problem instanceof ServerProblem)) throw problem;
    const { document } = problem.error as { document?: { kind: string; name?: string } };
    const place = document?.name && configuration.placeOf(document.kind, document.name);
    const message = (problem.error["message"] as string | undefined) ?? problem.message;
    const end = problem.mayBeDone ? unknownEnd : "Nothing was applied.";
    throw new ServerProblem(`${place ? `${place}: ` : ""}${message}\n${end}`);
  }
}

/** Connectors run elsewhere: their files are checked, and their state is shown. */
async function showConnectors(
  connection: Connection,
  names: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  if (names.length === 0) return;
  const status = new Map<string, string>();
  try {
    const path = connection.pathOf("connectors", "0.6");
    for await (const items of connection.pages<{ name: string; status: string }>(path, { limit: "1000" }))
      for (const one of items) status.set(one.name, one.status);
  } catch (problem) {
    if (!(problem instanceof ServerProblem) || problem.status !== 403) throw problem;
    say("The key may not read the state of connectors.");
    return;
  }
  for (const name of names)
    say(`  connector ${JSON.stringify(name)}: ${status.get(name) ?? "has not reported to this project"}`);
}

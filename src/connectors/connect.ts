// `millrace connect`: reads a system of the plant and writes to a running server (docs/connectors.md).
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { type Surroundings, UsageError } from "../client/command.ts";
import { Connection } from "../client/connection.ts";
import { count } from "../client/progress.ts";
import {
  type ConnectorConfiguration,
  printedConfiguration,
  printedSource,
  readConfiguration,
} from "./configuration.ts";
import { Connector, type ConnectorState } from "./connector.ts";
import { requireAsset } from "./destination.ts";
import { dryRun } from "./dry-run.ts";
import type { Counts } from "./forward-buffer.ts";
import { serveMetrics } from "./metrics.ts";
import type { PlantSource } from "./source.ts";
import { sourceKinds } from "./source-kinds.ts";

export const connectUsage = `millrace connect <file> [run | check | discover | print] [--dry-run]

Reads a system of the plant and writes to a server. The file configures it: docs/connectors.md

  run         Read and write until Control-C. The default
  check       Reach the system and the server, and say what is missing
  discover    Print a proposal for the part \`source\` from what the system has
  print       Print the configuration, without the values of the environment and without secrets

  --dry-run     Read the system and show the records; write nothing
  --supervised  Stop when the standard input ends, which a program holds open that runs this one`;

type Action = (
  configuration: ConnectorConfiguration,
  source: PlantSource,
  surroundings: Surroundings,
) => Promise<number>;

const actions: Readonly<Record<string, Action>> = { run, check };

export async function connect(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { env, output } = surroundings;
  const options = { "dry-run": { type: "boolean" }, supervised: { type: "boolean" } } as const;
  const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
  const [file, name = "run", ...rest] = positionals;
  try {
    if (file === undefined || rest.length > 0) throw new UsageError(connectUsage);
    if (name === "print") {
      output.write(printedConfiguration(file));
      return 0;
    }
    const action = Object.hasOwn(actions, name) ? actions[name]! : undefined;
    if (!action && name !== "discover")
      throw new UsageError(`There is no action "${name}".\n\n${connectUsage}`);
    const configuration = readConfiguration(file, env);
    if (values.supervised && "driver" in configuration.source)
      throw new UsageError("source.driver: the server runs no connector with a module: run it as a service");
    const source = sourceKinds[configuration.source.type]!.make(configuration.source as never);
    if (values["dry-run"]) return await dryRun(source, configuration.destination.prefix ?? "", surroundings);
    if (!action) return await discover(file, source, surroundings);
    return await action(configuration, source, values.supervised ? supervised(surroundings) : surroundings);
  } catch (problem) {
    if (!(problem instanceof UsageError)) throw problem;
    output.write(`${problem.message}\n`);
    return 2;
  }
}

/** Stops also when the standard input ends. */
function supervised(surroundings: Surroundings): Surroundings {
  const ended = new AbortController();
  const end = () => ended.abort();
  process.stdin.on("end", end).on("error", end).resume();
  // A pipe; it does not keep the process alive.
  process.stdin.unref?.();
  return { ...surroundings, stop: AbortSignal.any([surroundings.stop, ended.signal]) };
}

const lineEveryMs = { terminal: 1_000, log: 60_000 };

async function run(
  configuration: ConnectorConfiguration,
  source: PlantSource,
  { output, stop }: Surroundings,
): Promise<number> {
  const isTerminal = output.isTTY === true;
  const log = (line: string) =>
    output.write(`${isTerminal ? "\r\u001b[K" : ""}${new Date().toISOString()} ${line}\n`);
  const connector = new Connector({ configuration, source, log, stop });
  log(`Reads ${source.address}, writes to ${configuration.destination.server}`);
  let before = connector.state;
  const everyMs = isTerminal ? lineEveryMs.terminal : lineEveryMs.log;
  const show = () => {
    const { state } = connector;
    const line = statusLine(state, before, everyMs);
    if (isTerminal) output.write(`\r${line}\u001b[K`);
    else log(line);
    before = state;
  };
  const lines = setInterval(show, everyMs);
  const { metrics } = configuration;
  await using _ = metrics && (await serveMetrics(metrics, () => connector.state));
  const { counts } = connector.state;
  try {
    log(stoppedLine(await connector.run(), counts));
  } finally {
    clearInterval(lines);
  }
  return 0;
}

/** Counts are of all runs with this buffer; `before` are those of earlier runs. */
function stoppedLine({ buffer, counts }: ConnectorState, before: Counts): string {
  const parts = [
    [buffer.items, "in the buffer"],
    [counts.refused - before.refused, "refused"],
    [counts.dropped - before.dropped, "dropped"],
  ] as const;
  const missing = parts.filter(([records]) => records > 0);
  if (missing.length === 0) return "Stopped; all records are on the server";
  const missed = missing.map(([records, where]) => `${count(records)} ${where}`);
  return `Stopped; not on the server: ${missed.join(", ")}`;
}

function statusLine(state: ConnectorState, before: ConnectorState, everyMs: number): string {
  const rate = (name: "received" | "written") =>
    count((1_000 * (state.counts[name] - before.counts[name])) / everyMs);
  const { dropped, refused } = state.counts;
  return [
    state.status,
    `${rate("received")} records/s in`,
    `${rate("written")} out`,
    `${count(state.buffer.items)} in the buffer`,
    ...(dropped > 0 ? [`${count(dropped)} dropped`] : []),
    ...(refused > 0 ? [`${count(refused)} refused`] : []),
    ...state.problems.map(({ message }) => message),
  ].join("  ");
}

async function check(
  { destination, requestMs }: ConnectorConfiguration,
  source: PlantSource,
  surroundings: Surroundings,
): Promise<number> {
  const server = async () => {
    const connection = new Connection(destination, surroundings.stop, { requestMs });
    await connection.login();
    await requireAsset(connection, destination.asset);
    return `${destination.server} has the project ${connection.project} for this key`;
  };
  let failed = 0;
  for (const [name, reach] of [
    ["source", () => source.check(surroundings.stop)],
    ["server", server],
  ] as const) {
    const line = await reach().then(
      (found) => `ok      ${name}: ${found}`,
      (problem: unknown) => {
        failed += 1;
        return `failed  ${name}: ${(problem as Error).message}`;
      },
    );
    surroundings.output.write(`${line}\n`);
  }
  return failed === 0 ? 0 : 1;
}

async function discover(file: string, source: PlantSource, { output, stop }: Surroundings): Promise<number> {
  if (!source.discover)
    throw new UsageError("This kind of source cannot be searched: see docs/connectors.md");
  try {
    output.write(stringify({ source: await source.discover(printedSource(file), stop) }));
    return 0;
  } catch (problem) {
    output.write(`${source.address} cannot be searched: ${(problem as Error).message}\n`);
    return 1;
  }
}

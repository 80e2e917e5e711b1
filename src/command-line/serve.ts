// `millrace serve`: runs the server until a signal stops it.
import { existsSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Logger, pino } from "pino";
import type { App, Started } from "../app.ts";
import { described, readSettings, type Settings } from "../config.ts";
import { ConnectorSupervisor } from "../connectors/supervisor.ts";
import { openInstallation } from "../installation.ts";
import { collectBeforeStart, limitHeapGrowth } from "../lib/heap-limits.ts";
import { realSystem } from "../lib/system.ts";
import { openTracing, type Tracing } from "../tracing/tracing.ts";
import type { Command } from "./command.ts";
import { commandName } from "./command-name.ts";
import { demoSettings, loadDemoPlant } from "./demo-plant.ts";
import { addressOf, signInLink } from "./sign-in-link.ts";
import { thisProgram } from "./this-program.ts";

const settingLines = Object.entries(described).map(
  ([name, setting]) =>
    `  ${name.padEnd(20)} ${setting.meaning}${"byDefault" in setting ? ` (${setting.byDefault})` : ""}`,
);

/** After the start: front threads and first requests still load modules of Node. */
const limitHeapAfterMs = 2_000;

/** Within this time, the same signal comes twice: from the terminal, and from npm, which passes it on. */
const repeatedSignalMs = 1_000;

export const serve: Command = {
  usage: `Usage: millrace serve [--demo]

Runs the server until SIGTERM or SIGINT. The first start creates a project, and prints its API key and a link
to the web console once.
With --demo it serves a demo plant with live values, from a data folder of its own beside MILLRACE_DATA, whose
name ends in "-demo". The first start with --demo loads the plant, and each prints a link to the console.
Settings come from the environment and from the file millrace.env in the working directory:

${settingLines.join("\n")}`,
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: { demo: { type: "boolean", default: false } },
    });
    const chosen = readSettings(process.env, process.cwd());
    const settings = values.demo ? demoSettings(chosen) : chosen;
    const log = pino({ level: settings.logLevel }, pino.destination({ fd: 2, sync: true }));
    collectBeforeStart();
    const tracing = await openTracing(process.env, log);
    const app = await openWhileLoading(settings, log, tracing);
    let connectors: AsyncDisposable | undefined;
    const isStopping = stopOnSignal(log, async () => {
      try {
        // Connectors send their last records to the server.
        await connectors?.[Symbol.asyncDispose]();
        await app.close();
      } finally {
        await tracing.close();
      }
    });
    const started = await listenOrClose(app, isStopping);
    if (!started) return 0;
    setTimeout(limitHeapGrowth, limitHeapAfterMs).unref();
    flushCompileCache(); // Now, because a killed process would leave no cache for the next start.
    const demo =
      values.demo && !isStopping() ? await loadDemoPlant(app.services, { ...started, settings }) : {};
    const command = commandFor(settings, started.baseUrl);
    console.log(report({ ...started, ...demo }, settings, command));
    if (settings.connectors !== undefined && !isStopping())
      connectors = superviseConnectors(settings.connectors, started.address, log);
    return 0;
  },
};

/**
 * Closes at the first signal, then ends the process. A later signal ends it at once, as a crash does:
 * acknowledged writes are on disk. Returns whether there was a signal.
 */
function stopOnSignal(log: Logger, close: () => Promise<void>): () => boolean {
  let sinceMs: number | undefined;
  const stop = async (signal: NodeJS.Signals) => {
    if (sinceMs !== undefined) {
      if (performance.now() - sinceMs < repeatedSignalMs) return;
      log.warn({ signal }, "Stopping at once");
      process.exit(1);
    }
    sinceMs = performance.now();
    log.info({ signal }, "Stopping; another signal stops at once");
    try {
      await close();
      process.exit(0);
    } catch (problem) {
      log.fatal({ err: problem }, "Could not stop in order");
      process.exit(1);
    }
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
  return () => sinceMs !== undefined;
}

/** Threads of the stores start on other cores while this thread loads the rest of the program. */
async function openWhileLoading(settings: Settings, log: Logger, tracing: Tracing): Promise<App> {
  const opened = new AsyncDisposableStack();
  const installation = openInstallation(settings, { system: realSystem, log }, opened);
  installation.catch(() => {}); // openApp reports it.
  const { openApp } = await import("../app.ts");
  return openApp(settings, realSystem, log, { tracing, opening: { installation, opened } });
}

/** The files of connectors may name this server by the variable MILLRACE_SERVER. */
function superviseConnectors(folder: string, address: string, log: Logger): AsyncDisposable {
  const own = Object.entries(process.env).filter(([name]) => !Object.hasOwn(described, name));
  return new ConnectorSupervisor({
    folder,
    command: [thisProgram.node, ...process.execArgv, thisProgram.main],
    environment: { ...Object.fromEntries(own), MILLRACE_SERVER: address },
    log: (connector, line) => log.info({ connector }, line),
  });
}

/** Returns undefined if a stop has closed the application before its start was complete. */
async function listenOrClose(app: App, isStopping: () => boolean): Promise<Started | undefined> {
  try {
    return await app.listen({ warmsUp: true });
  } catch (problem) {
    if (isStopping()) return undefined;
    await app.close();
    throw problem;
  }
}

function report({ baseUrl, newKey, linkToken }: Started, settings: Settings, command: string): string {
  const parts = [
    `Millrace serves ${baseUrl} with its data in ${settings.data}`,
    ...(newKey === undefined ? [] : [welcome(newKey, { baseUrl, project: settings.project, command })]),
    ...(linkToken === undefined ? [consoleLine(baseUrl, command)] : [firstLink(baseUrl, linkToken, command)]),
    ...(existsSync(join(settings.consoleFolder, "index.html")) ? [] : [notBuilt]),
  ];
  return parts.join("\n");
}

interface Welcome {
  readonly baseUrl: string;
  readonly project: string;
  /** How to run a command on the data folder. */
  readonly command: string;
}

const welcome = (key: string, { baseUrl, project, command }: Welcome) => `
A new project was created. Its API key is shown once:

  base URL  ${baseUrl}
  project   ${project}
  API key   ${key}

Keep the key: the server cannot show it again. For a new key: ${command} key create

Try it:  curl -H 'api-key: ${key}' ${baseUrl}/api/0.5/projects/${encodeURIComponent(project)}/assets
Next:    README.md: the first calls, importing CSV files, backup; all calls: ${baseUrl}/api/0.5/openapi.json`;

/** The lines are set off from the rest of the output, and a terminal makes the address a link. */
const firstLink = (baseUrl: string, token: string, command: string) => `
${rule}
  Open the console. This link signs you in as administrator, once and within an hour:

  ${signInLink(baseUrl, token)}

  For another link: ${command} login-link
${rule}`;

/** How to run a command for this server in another terminal, which has none of the variables of this one. */
function commandFor({ data, project }: Settings, baseUrl: string): string {
  const there = readSettings({}, process.cwd());
  const missing = [
    ...(data === there.data ? [] : [`MILLRACE_DATA='${data}'`]),
    ...(project === there.project ? [] : [`MILLRACE_PROJECT='${project}'`]),
    ...(baseUrl === addressOf(there) ? [] : [`MILLRACE_BASE_URL='${baseUrl}'`]),
  ];
  return [...missing, commandName].join(" ");
}

const rule = "=".repeat(84);

const consoleLine = (baseUrl: string, command: string) =>
  `Console: ${baseUrl}/ (to sign in without a key: ${command} login-link)`;

const notBuilt = "The console is not built. To build it, also while the server runs: npm run build";

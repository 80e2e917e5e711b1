// The program: finds the requested command, runs it, and prints a clear reason when it cannot.
import { StartRefused } from "../data-folder.ts";
import { Failure } from "../errors.ts";
import { version } from "../lib/version.ts";
import { type Command, Misused } from "./command.ts";

interface Entry {
  /** One line for the overview. */
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

const commands: Readonly<Record<string, Entry>> = {
  serve: {
    summary: "Run the server",
    load: async () => (await import("./serve.ts")).serve,
  },
  key: {
    summary: "Create, list and revoke API keys",
    load: async () => (await import("./key.ts")).key,
  },
  "login-link": {
    summary: "Print a one-time link to the web console",
    load: async () => (await import("./login-link.ts")).loginLink,
  },
  audit: {
    summary: "Check the audit log",
    load: async () => (await import("./audit.ts")).audit,
  },
  service: {
    summary: "Run Millrace as a service of systemd",
    load: async () => (await import("./service.ts")).service,
  },
  project: {
    summary: "Create and list projects",
    load: async () => (await import("./project.ts")).project,
  },
  oidc: {
    summary: "Set the identity provider that people log in with",
    load: async () => (await import("./oidc.ts")).oidc,
  },
  doctor: {
    summary: "Look for damage in a data folder, and mend it",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  backup: {
    summary: "Back up the data folder, while a server runs on it or not",
    load: async () => (await import("./backup.ts")).backup,
  },
  restore: {
    summary: "Write a backup into a new data folder",
    load: async () => (await import("./restore.ts")).restore,
  },
  verify: {
    summary: "Check every part of a backup",
    load: async () => (await import("./verify.ts")).verify,
  },
  connect: {
    summary: "Read a system of the plant, such as an MQTT broker, into a running server",
    load: async () => (await import("./connect.ts")).connect,
  },
  copy: {
    summary: "Move the installation to other backends: PostgreSQL, ClickHouse, S3, or back",
    load: async () => (await import("./copy.ts")).copy,
  },
  apply: {
    summary: "Apply YAML and SQL files to a running server: transformations, groups, series, models",
    load: async () => (await import("./apply.ts")).apply,
  },
  import: {
    summary: "Load CSV files or an archive into a running server",
    load: async () => (await import("./import.ts")).importFiles,
  },
  export: {
    summary: "Write a whole project of a running server into one file",
    load: async () => (await import("./export.ts")).exportProject,
  },
};

/** Own members only, so not "constructor". */
const entryOf = (name: string | undefined) =>
  name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;

const overview = () => `Millrace ${version}: an open, self-hosted industrial data platform

Usage: millrace <command>

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(11)} ${summary}`)
  .join("\n")}
  help        Explain a command: millrace help serve
  version     Print the version`;

/** Runs the command that the words name; returns the exit code. */
export async function runProgram([name, ...words]: readonly string[]): Promise<number> {
  const wantsHelp = words.includes("--help") || words.includes("-h");
  if (name === "version" || name === "--version") return say(version);
  if (name === undefined || name === "--help" || name === "-h") return say(overview());
  if (name === "help" && !entryOf(words[0])) return say(overview());
  const entry = entryOf(name === "help" ? words[0] : name);
  if (!entry) return complain(`There is no command "${name}".\n\n${overview()}`, 2);
  const command = await entry.load();
  if (name === "help" || wantsHelp) return say(command.usage);
  try {
    return await command.run(words);
  } catch (problem) {
    // Stores that were opened before the refusal must not keep the process alive.
    const isRefused = problem instanceof StartRefused || problem instanceof Failure;
    if (isRefused) process.exit(complain(problem.message, 1));
    if (isMisuse(problem)) return complain(`${problem.message}\n\n${command.usage}`, 2);
    throw problem;
  }
}

/** Includes the errors of `parseArgs` for options that do not exist. */
function isMisuse(problem: unknown): problem is Error {
  const { code } = problem as NodeJS.ErrnoException;
  return problem instanceof Misused || String(code).startsWith("ERR_PARSE_ARGS");
}

function say(text: string): number {
  console.log(text);
  return 0;
}

function complain(text: string, status: number): number {
  console.error(text);
  return status;
}

#!/usr/bin/env node
// The process entry: finds the command that is asked for, runs it, and says clearly why it cannot.
import { readFileSync } from "node:fs";
import { type Command, Misused } from "./command-line/command.ts";
import { importFiles } from "./command-line/import.ts";
import { key } from "./command-line/key.ts";
import { serve } from "./command-line/serve.ts";
import { StartRefused } from "./data-folder.ts";

const packageFile = readFileSync(new URL("../package.json", import.meta.url), "utf8");
const { version } = JSON.parse(packageFile) as { version: string };

const commands: Readonly<Record<string, Command>> = { serve, key, import: importFiles };

const overview = () => `Millrace ${version}: an open, self-hosted industrial data platform

Usage: millrace <command>

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join("\n")}
  help       Explain a command: millrace help serve
  version    Print the version`;

process.exitCode = await main(process.argv.slice(2));

async function main([name, ...words]: readonly string[]): Promise<number> {
  const wantsHelp = words.includes("--help") || words.includes("-h");
  if (name === "version" || name === "--version") return say(version);
  if (name === undefined || name === "--help" || name === "-h") return say(overview());
  if (name === "help") return say(commands[words[0] ?? ""]?.usage ?? overview());
  const command = commands[name];
  if (!command) return complain(`There is no command "${name}".\n\n${overview()}`, 2);
  if (wantsHelp) return say(command.usage);
  try {
    return await command.run(words);
  } catch (problem) {
    if (problem instanceof StartRefused) return complain(problem.message, 1);
    if (isMisuse(problem)) return complain(`${problem.message}\n\n${command.usage}`, 2);
    throw problem;
  }
}

/** Also what `parseArgs` throws for options that do not exist. */
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

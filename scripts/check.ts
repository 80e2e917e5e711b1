// `npm run check`: types, lint and format, code rules and docs, in parallel, locally and in CI.
import { spawn } from "node:child_process";

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** The remedy when it fails. */
  readonly next: string;
}

interface Outcome {
  readonly step: Step;
  readonly passed: boolean;
  readonly output: string;
  readonly seconds: number;
}

const steps: readonly Step[] = [
  { name: "types", command: ["tsc", "--pretty", "false"], next: "mend the types, then npm run check" },
  {
    name: "types of the console",
    command: ["tsc", "--pretty", "false", "--project", "console"],
    next: "npm run build -- --client writes the API client; mend the types, then npm run check",
  },
  {
    name: "lint and format",
    command: ["biome", "check", "--error-on-warnings", "."],
    next: "npm run format, then mend what is left",
  },
  {
    name: "code rules",
    command: ["node", "scripts/tidy.ts"],
    next: "npm run format wraps comments; mend the rest",
  },
  {
    name: "docs",
    command: ["node", "scripts/docs.ts", "--check"],
    next: "npm run docs writes the pages made from the code; mend what else is named above",
  },
];

const outcomes = await Promise.all(steps.map(run));
for (const { step, passed, output, seconds } of outcomes) {
  if (!passed) console.log(`\n${output.trim()}\n`);
  console.log(`${passed ? "passed" : "FAILED"}  ${step.name} (${seconds.toFixed(1)} s)`);
}
const failed = outcomes.filter((one) => !one.passed);
for (const { step } of failed) console.log(`\n${step.name} failed. Next: ${step.next}.`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Runs a step with the tools of node_modules first on PATH, as npm does. */
function run(step: Step): Promise<Outcome> {
  const [command = "", ...rest] = step.command;
  const bin = new URL("../node_modules/.bin", import.meta.url).pathname;
  const started = performance.now();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const child = spawn(command, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` },
    });
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    const end = (passed: boolean, extra = "") => {
      const seconds = (performance.now() - started) / 1000;
      resolve({ step, passed, output: Buffer.concat(chunks).toString() + extra, seconds });
    };
    child.on("error", (problem) => end(false, String(problem)));
    child.on("close", (code) => end(code === 0));
  });
}

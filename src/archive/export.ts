// `millrace export`: a whole project of a running server as one file.
import { parseArgs } from "node:util";
import { exitCodes, keyOf, messageOf, type Surroundings, serverOf, UsageError } from "../client/command.ts";
import { Connection, ServerProblem } from "../client/connection.ts";
import { count, duration, StatusLine } from "../client/progress.ts";
import { type ArchiveManifest, BadArchive } from "./format.ts";
import { type ArchivePart, Stopped } from "./section.ts";
import { ArchiveWriter } from "./writer.ts";

export const exportUsage = `Usage: millrace export --output <file> [options]

Writes a whole project of a running server into one file: all records, datapoints, files with their bytes, raw
rows. What changes meanwhile may be in it or not. The file gets its name when it is complete; docs/archive.md
says what is in it.

  --output FILE         the file to make, packed with zstd, or with gzip when its name ends in .gz
  --server URL          the server (MILLRACE_SERVER, else http://127.0.0.1:8787)
  --key KEY             API key of the project (or the environment variable MILLRACE_KEY)

Ends with 0 when the file is complete, else it makes none: 1 when it was interrupted, 2 when it could not
begin.`;

const known = { output: { type: "string" }, server: { type: "string" }, key: { type: "string" } } as const;

/** The command that writes these parts. Its messages go to `output`; it returns the exit code. */
export const exportArchive =
  (parts: readonly ArchivePart[]) =>
  async (words: readonly string[], surroundings: Surroundings): Promise<number> => {
    const sections = parts.flatMap((part) => part.sections);
    const { output, env, abort, stop } = surroundings;
    let writer: ArchiveWriter | undefined;
    try {
      const { values } = parseArgs({ args: [...words], options: known });
      if (values.output === undefined) throw new UsageError("Name the file to make: --output plant.tar.zst");
      const target = { server: serverOf(values.server, env), key: keyOf(values.key, env) };
      const connection = new Connection(target, abort);
      await connection.login();
      writer = new ArchiveWriter(values.output, connection.project, sections);
      output.write(`Project ${connection.project} at ${target.server} into ${values.output}\n`);
      const startedMs = performance.now();
      const shown = new ExportProgress(
        output,
        sections.map(({ name }) => name),
      );
      try {
        await writer.begin();
        const progress = (name: string, records: number) => shown.add(name, records);
        for (const part of parts) await part.export({ connection, writer, stop, progress });
      } finally {
        shown.end();
      }
      describe(await writer.finish(), (performance.now() - startedMs) / 1000).forEach((line) => {
        output.write(`${line}\n`);
      });
      return exitCodes.loaded;
    } catch (problem) {
      await writer?.abandon();
      const isStop = problem instanceof Stopped || abort.aborted;
      if (!isStop && !isExpected(problem)) throw problem;
      output.write(`${isStop ? "Stopped" : messageOf(problem)}\n`);
      if (writer) output.write("No file was made.\n");
      return writer ? exitCodes.interrupted : exitCodes.notBegun;
    }
  };

const isExpected = (problem: unknown): boolean =>
  problem instanceof UsageError ||
  problem instanceof ServerProblem ||
  problem instanceof BadArchive ||
  // Of the file that is made, whose disk may be full.
  (problem as NodeJS.ErrnoException).syscall !== undefined ||
  String((problem as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS");

function describe({ sections }: ArchiveManifest, seconds: number): string[] {
  const lines = sections.map(({ name, records }) => `  ${name.padEnd(18)} ${count(records)}`);
  return [...lines, `Complete in ${duration(seconds)}`];
}

/** Shows the records of the current section that are written so far. */
class ExportProgress {
  readonly #line: StatusLine;
  readonly #sections: readonly string[];
  readonly #records = new Map<string, number>();
  readonly #startedMs = performance.now();

  constructor(output: Surroundings["output"], sections: readonly string[]) {
    this.#sections = sections;
    this.#line = new StatusLine(output);
  }

  add(section: string, records: number): void {
    const written = (this.#records.get(section) ?? 0) + records;
    this.#records.set(section, written);
    this.#line.show(() => {
      const seconds = Math.max(0.001, (performance.now() - this.#startedMs) / 1000);
      const share = this.#sections.indexOf(section) / this.#sections.length;
      return { share, text: `  ${section}: ${count(written)}  ${duration(seconds)} so far` };
    });
  }

  end(): void {
    this.#line.end();
  }
}

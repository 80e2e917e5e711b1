// `millrace import archive`: restores an archive into an empty project of a running server.

import { statSync } from "node:fs";
import { parseArgs } from "node:util";
import { exitCodes, keyOf, messageOf, type Surroundings, serverOf, UsageError } from "../client/command.ts";
import { Connection, ServerProblem } from "../client/connection.ts";
import { CreateOnce } from "../client/create-once.ts";
import { Ledger } from "../client/ledger.ts";
import { count, duration, Progress } from "../client/progress.ts";
import { type ArchiveManifest, BadArchive } from "./format.ts";
import { entriesOf, verified } from "./reader.ts";
import { nothingRestored, type Restored, Restorer } from "./restorer.ts";
import type { ArchivePart, Section } from "./section.ts";

export const restoreUsage = `Usage: millrace import archive <file> --project <name> [options]

Restores what "millrace export" has written into a project that holds nothing yet, of the same server or of
another one. Records get new ids, and all references follow; times of creation and of change stay. The project
itself (its name, its logins, its keys) is left as it is. docs/archive.md says more.

  --project NAME        the project to fill, to which the key belongs
  --server URL          the server (MILLRACE_SERVER, else http://127.0.0.1:8787)
  --key KEY             API key with full rights (or the environment variable MILLRACE_KEY)
  --state FILE          where to note what is restored, to resume from there (<file>.<project>.import.db)

Ends with 0 when everything is restored, 3 when references to records that are not in the archive were left
out, 2 when nothing was begun, 1 when it was interrupted; run the same command again to continue.`;

const known = {
  project: { type: "string" },
  server: { type: "string" },
  key: { type: "string" },
  state: { type: "string" },
} as const;

/** The command that restores these parts. Its messages go to `output`; it returns the exit code. */
export const importArchive =
  (parts: readonly ArchivePart[]) =>
  async (words: readonly string[], surroundings: Surroundings): Promise<number> => {
    const sections = parts.flatMap((part) => part.sections);
    const { output, abort } = surroundings;
    let ledger: Ledger<Restored> | undefined;
    try {
      const options = optionsOf(words, surroundings.env);
      const connection = new Connection(options, abort);
      await connection.login();
      refuseOtherProject(options.project, connection.project);
      const manifest = await verifiedWithProgress(options.file, surroundings);
      refuseUnknownSections(manifest, sections);
      const decides = [connection.projectId, manifest.exportedTime, manifest.sections];
      ledger = new Ledger(options.stateFile, decides, nothingRestored);
      const isResumed = ledger.progress !== nothingRestored;
      if (isResumed) output.write("Going on where it stopped\n");
      else
        await refuseUnlessEmpty(
          connection,
          parts.flatMap(({ lists }) => lists),
        );
      const { file } = options;
      return await run({ file, manifest, sections, connection, ledger, isResumed, surroundings });
    } catch (problem) {
      const isExpected =
        problem instanceof UsageError || problem instanceof ServerProblem || problem instanceof BadArchive;
      if (!isExpected && !abort.aborted) throw problem;
      output.write(`${abort.aborted ? "Aborted" : messageOf(problem)}\n`);
      if (ledger === undefined || ledger.progress === nothingRestored) {
        ledger?.remove();
        return exitCodes.notBegun;
      }
      ledger.close();
      output.write("Run the same command again to continue from where it stopped.\n");
      return exitCodes.interrupted;
    }
  };

function optionsOf(words: readonly string[], env: NodeJS.ProcessEnv) {
  const { values, positionals } = parsed(words);
  const [file, ...more] = positionals;
  if (file === undefined) throw new UsageError("Name the archive to import");
  if (more.length > 0) throw new UsageError(`One archive at a time, but there is also ${more.join(" ")}`);
  if (values.project === undefined) throw new UsageError("Name the project to fill: --project NAME");
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`There is no file ${file}`);
  return {
    file,
    project: values.project,
    server: serverOf(values.server, env),
    key: keyOf(values.key, env),
    stateFile: values.state ?? `${file}.${encodeURIComponent(values.project)}.import.db`,
  };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: known, allowPositionals: true });
  } catch (problem) {
    throw new UsageError((problem as Error).message);
  }
}

function refuseOtherProject(asked: string, ofKey: string): void {
  if (asked === ofKey) return;
  throw new UsageError(
    `The key is for the project ${ofKey}, not for ${asked}; on the machine of the server ` +
      `"millrace project create ${asked}" makes the project and a key for it`,
  );
}

async function verifiedWithProgress(file: string, { output }: Surroundings): Promise<ArchiveManifest> {
  const progress = new Progress(output, statSync(file).size, { bytes: 0, points: 0, unit: "bytes verified" });
  let bytes = 0;
  try {
    return await verified(file, (more) => {
      bytes += more;
      progress.update({ bytes, points: bytes });
    });
  } finally {
    progress.end();
  }
}

/** Its records would be lost silently. */
function refuseUnknownSections(manifest: ArchiveManifest, sections: readonly Section[]): void {
  const isKnown = (one: string) => sections.some(({ name }) => name === one);
  const unknown = manifest.sections.find(({ name, entries }) => entries > 0 && !isKnown(name));
  if (unknown)
    throw new BadArchive(`The archive has the section ${unknown.name}, which this program does not know`);
}

/** Records of the target could have the names and external ids of archived ones. */
async function refuseUnlessEmpty(connection: Connection, lists: readonly string[]): Promise<void> {
  for (const resource of lists) {
    const path = `${connection.pathOf(resource, "0.6")}?limit=1`;
    const { data } = (await connection.json("GET", path)) as { data: { items: unknown[] } };
    if (data.items.length > 0)
      throw new UsageError(
        `The project ${connection.project} already holds ${resource}; an archive needs an empty one`,
      );
  }
}

interface Run {
  readonly file: string;
  readonly manifest: ArchiveManifest;
  readonly sections: readonly Section[];
  readonly connection: Connection;
  readonly ledger: Ledger<Restored>;
  readonly isResumed: boolean;
  readonly surroundings: Surroundings;
}

async function run(one: Run): Promise<number> {
  const { file, manifest, sections, connection, ledger, isResumed, surroundings } = one;
  const { output, stop } = surroundings;
  const startedMs = performance.now();
  ledger.note({ ...ledger.progress }); // From now on something may be there.
  const creations = new CreateOnce(connection, ledger, { isResumed });
  const restorer = new Restorer({ sections, connection, ledger, creations });
  const totalBytes = manifest.sections.reduce((sum, { bytes }) => sum + bytes, 0);
  const progress = new Progress(output, totalBytes, { bytes: 0, points: 0, unit: "entries" });
  output.write(`${file}, exported from ${manifest.project}, into ${connection.project}\n`);
  let [number, bytes] = [0, 0];
  try {
    for await (const entry of entriesOf(file)) {
      if (stop.aborted) break;
      if (number >= ledger.progress.entries) await restorer.restore(entry, number);
      number += 1;
      bytes += entry.size;
      progress.update({ bytes, points: number });
    }
  } finally {
    progress.end();
  }
  if (stop.aborted) {
    output.write("Stopped. Run the same command again to continue.\n");
    ledger.close();
    return exitCodes.interrupted;
  }
  const { leftOut } = ledger.progress;
  ledger.remove();
  for (const { name, records } of manifest.sections) output.write(`  ${name.padEnd(18)} ${count(records)}\n`);
  if (leftOut > 0) output.write(`${count(leftOut)} references to records that are not in it were left out\n`);
  output.write(`Restored in ${duration((performance.now() - startedMs) / 1000)}\n`);
  return leftOut > 0 ? exitCodes.someRefused : exitCodes.loaded;
}

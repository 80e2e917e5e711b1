// `millrace import csv`: from the words of the command line to the exit code.
import { statSync } from "node:fs";
import { exitCodes, messageOf, type Surroundings, UsageError } from "../client/command.ts";
import { ServerProblem } from "../client/connection.ts";
import { count, duration, Progress } from "../client/progress.ts";
import { limits } from "../limits.ts";
import { Api } from "./api.ts";
import { type Batch, batchesOf } from "./batches.ts";
import { load } from "./load.ts";
import { type ImportOptions, readOptions, usage } from "./options.ts";
import { createMissing, type ImportPlan, planOf } from "./plan.ts";
import { Report } from "./report.ts";
import { rowsOf } from "./rows.ts";
import { type Acknowledged, nothingYet, State } from "./state.ts";
import { requireEncoding, UnreadableFile } from "./text-file.ts";
import { Epochs, formatName, isDateFormat } from "./times.ts";

/** A command of `millrace import`. */
export interface ImportCommand {
  readonly name: string;
  readonly usage: string;
  /** Writes its messages to the output of its surroundings; returns the exit code. */
  run(words: readonly string[], surroundings: Surroundings): Promise<number>;
}

/** Runs the command; returns its exit code. */
export async function importCsv(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { output } = surroundings;
  let begun = false;
  try {
    const options = readOptions(words, surroundings.env);
    const fileBytes = sizeOf(options.file);
    await requireEncoding(options);
    const api = new Api(options, surroundings.abort);
    await api.login();
    const plan = await planOf(options, api);
    const state = new State(options.stateFile, identityOf(options, api.project, plan));
    const before = options.restart || options.dryRun ? nothingYet : state.read(fileBytes);
    for (const line of describe(options, api.project, plan, before)) output.write(`${line}\n`);
    if (!options.dryRun) {
      state.write(before);
      begun = true;
      await createMissing(api, plan);
    }
    return await run({ options, plan, api, state, before, fileBytes, surroundings });
  } catch (problem) {
    if (!isExpected(problem) && !surroundings.abort.aborted) throw problem;
    output.write(`${surroundings.abort.aborted ? "Aborted" : messageOf(problem)}\n`);
    if (begun) output.write("Run the same command again to continue from where it stopped.\n");
    else if (problem instanceof UsageError) output.write("millrace import csv --help lists all options.\n");
    return begun ? exitCodes.interrupted : exitCodes.notBegun;
  }
}

export const csvImport: ImportCommand = { name: "csv", usage, run: importCsv };

const isExpected = (problem: unknown): boolean =>
  problem instanceof UsageError || problem instanceof ServerProblem || problem instanceof UnreadableFile;

function sizeOf(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) throw new UsageError(`There is no file ${file}`);
  return found.size;
}

/** The inputs that must be equal in two runs, so that the second may resume the first. */
const identityOf = (options: ImportOptions, project: string, plan: ImportPlan): unknown => [
  options.server,
  project,
  options.encoding,
  plan.header.cells,
  plan.columns.map(({ index, series }) => [index, series.name]),
  [plan.timeIndex, plan.timeFormat, options.epochMs, options.epochBy, options.delimiter],
  // Not with the defaults: the notes of earlier versions count.
  ...(options.timeZone === "UTC" && !options.decimalComma ? [] : [options.timeZone, options.decimalComma]),
];

function describe(options: ImportOptions, project: string, plan: ImportPlan, before: Acknowledged): string[] {
  const time = plan.header.cells[plan.timeIndex];
  const format = plan.timeFormat === "iso" ? "ISO 8601" : formatName(plan.timeFormat);
  const zone = isDateFormat(plan.timeFormat) ? ` (${options.timeZone} without a zone)` : "";
  const create = (count: number, what: string) =>
    count === 0 ? [] : [`${options.dryRun ? "Would create" : "Creating"} ${count} ${what}`];
  return [
    `${options.file}: ${plan.columns.length} series into project ${project} at ${options.server}`,
    `Times: column ${time}, ${format}${zone}`,
    ...(plan.left.length > 0 ? [`Left out: ${plan.left.map((one) => one || "(no name)").join(", ")}`] : []),
    ...create(plan.missingAssets.length, `assets: ${plan.missingAssets.join(", ")}`),
    ...create(plan.missingSeries.length, "series"),
    ...(before.endBytes > 0 ? [`Going on after line ${before.line}`] : []),
    ...(options.dryRun ? ["Dry run: nothing is written"] : []),
  ];
}

interface Run {
  readonly options: ImportOptions;
  readonly plan: ImportPlan;
  readonly api: Api;
  readonly state: State;
  readonly before: Acknowledged;
  readonly fileBytes: number;
  readonly surroundings: Surroundings;
}

const noteEveryMs = 1_000;

/** Reads, sends and acknowledges; a dry run does all but send and note. */
async function run({ options, plan, api, state, before, fileBytes, surroundings }: Run): Promise<number> {
  const { output, stop } = surroundings;
  const epochs = options.epochBy && new Epochs(options.epochBy, before.epochValues);
  const settings = { ...options, ...(epochs && { epochs }) };
  const start = before.endBytes > 0 ? before : plan.header;
  const batches = batchesOf(rowsOf(options, start), plan, settings);
  const report = new Report(options.reportFile, before.refused);
  const progress = new Progress(output, fileBytes, { bytes: before.endBytes, points: before.points });
  const startedMs = performance.now();
  let reached = before;
  let notedMs = startedMs;
  const acknowledge = (batch: Batch) => {
    report.add(batch.refused);
    const points = reached.points + batch.points;
    reached = { ...batch.end, points, refused: report.count, epochValues: batch.epochValues };
    progress.update({ bytes: reached.endBytes, points });
    if (options.dryRun || performance.now() - notedMs < noteEveryMs) return;
    state.write(reached);
    notedMs = performance.now();
  };
  const send = options.dryRun ? async () => {} : (batch: Batch) => api.insertPoints(batch.body);
  try {
    await load(batches, { inFlightMax: limits.importRequestsInFlight, send, acknowledge, stop });
  } finally {
    progress.end();
    if (!options.dryRun) state.write(reached);
  }
  return conclude({ options, state, reached, report, surroundings, startedMs, before });
}

interface Ending {
  readonly options: ImportOptions;
  readonly state: State;
  readonly reached: Acknowledged;
  readonly report: Report;
  readonly surroundings: Surroundings;
  readonly startedMs: number;
  readonly before: Acknowledged;
}

function conclude({ options, state, reached, report, surroundings, startedMs, before }: Ending): number {
  const { output, stop } = surroundings;
  const seconds = (performance.now() - startedMs) / 1000;
  const points = reached.points - before.points;
  const rate = `in ${duration(seconds)}, ${count(points / Math.max(seconds, 0.001))} points/s`;
  output.write(`${count(points)} points ${options.dryRun ? "would be loaded" : `loaded ${rate}`}\n`);
  for (const line of report.summary()) output.write(`${line}\n`);
  if (stop.aborted) {
    output.write(`Stopped after line ${reached.line}. Run the same command again to continue.\n`);
    return exitCodes.interrupted;
  }
  if (!options.dryRun) state.remove();
  return report.count > 0 ? exitCodes.someRefused : exitCodes.loaded;
}

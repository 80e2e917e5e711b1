// Parses the command line of `millrace import csv`, and reports every mistake in it.
import { parseArgs } from "node:util";
import { keyOf, serverOf, UsageError } from "../client/command.ts";
import { isTimeZone } from "../lib/clock-buckets.ts";
import { toTimestamp } from "../lib/timestamp-format.ts";
import { type Encoding, encodings } from "./text-file.ts";
import { type EpochBy, isDateFormat, parseEpochBy, parseIso, type TimeFormat, timeFormats } from "./times.ts";

export interface ImportOptions {
  readonly file: string;
  readonly server: string;
  readonly key: string;
  /** The header of the time column; absent: the first column. */
  readonly timeColumn?: string;
  readonly timeFormat: TimeFormat | "auto";
  /** Of dates without an offset. */
  readonly timeZone: string;
  /** The origin of numeric times, in milliseconds. */
  readonly epochMs: number;
  readonly epochBy?: EpochBy;
  readonly mappingFile?: string;
  readonly onlyMapped: boolean;
  readonly prefix: string;
  /** Refuse to begin where series or assets are missing, instead of making them. */
  readonly existingOnly: boolean;
  /** Strings that mean "no value" in a cell, besides the empty cell. */
  readonly missing: ReadonlySet<string>;
  readonly delimiter: string;
  /** Numbers are written as `1,5`. */
  readonly decimalComma: boolean;
  readonly encoding: Encoding;
  readonly dryRun: boolean;
  readonly stateFile: string;
  readonly restart: boolean;
  readonly reportFile: string;
}

export const usage = `Usage: millrace import csv <file> [options]

Loads a wide CSV file (a header line, a time column, one column for each series) into a running server.

  --server URL          the server (MILLRACE_SERVER, else http://127.0.0.1:8787)
  --key KEY             API key (or the environment variable MILLRACE_KEY)
  --time-column NAME    the column of times (the first one)
  --time-format FORMAT  auto, iso, or a number of: ${timeFormats.slice(1).join(", ")} (auto: iso, s or ms)
                        or a pattern such as "dd.MM.yyyy HH:mm" (docs/import.md)
  --time-zone ZONE      the clock of dates without an offset, such as Europe/Oslo (UTC)
  --epoch DATE          what numbers of time count from (1970-01-01)
  --epoch-by COLUMN=DATE+STEP
                        each value of COLUMN has its own epoch: the first one DATE, each further one STEP
                        later; scenario=2026-01-01+1d gives every scenario its own day (units: w, d, h,
                        min, s, ms)
  --mapping FILE        JSON or CSV: column, name, unit, description, asset, isString, isStep, skip, metadata,
                        externalId, dataSetId, labels, sourceCreatedTime, sourceModifiedTime
  --only-mapped         leave out columns that the mapping does not name
  --prefix TEXT         put before the name of every series
  --existing-only       do not begin when series, or assets of the mapping, do not exist (else made)
  --missing TEXTS       cells to leave out besides empty ones, separated by commas: NaN,NULL,Bad
  --delimiter CHARACTER between cells (, or, with --decimal-comma, ;)
  --decimal-comma       numbers are written as 1,5
  --encoding ENCODING   of the file: ${encodings.join(", ")} (utf-8)
  --dry-run             check everything, write nothing, say what would be done
  --state FILE          where to note what is acknowledged, to resume from there (<file>.import.json)
  --restart             start from the beginning, whatever that file says
  --report FILE         where to list refused cells (<file>.refused.csv)

Ends with 0 when everything is loaded, 3 when some cells were refused, 2 when nothing was begun, 1 when it was
interrupted; run the same command again to continue.`;

const known = {
  server: { type: "string" },
  key: { type: "string" },
  "time-column": { type: "string" },
  "time-format": { type: "string" },
  "time-zone": { type: "string" },
  epoch: { type: "string" },
  "epoch-by": { type: "string" },
  mapping: { type: "string" },
  "only-mapped": { type: "boolean" },
  prefix: { type: "string" },
  "existing-only": { type: "boolean" },
  missing: { type: "string" },
  delimiter: { type: "string" },
  "decimal-comma": { type: "boolean" },
  encoding: { type: "string" },
  "dry-run": { type: "boolean" },
  state: { type: "string" },
  restart: { type: "boolean" },
  report: { type: "string" },
} as const;

/** Reads the words after `import csv`; throws a UsageError with the valid form. */
export function readOptions(words: readonly string[], env: NodeJS.ProcessEnv): ImportOptions {
  const { values, positionals } = parsed(words);
  const [file, ...more] = positionals;
  if (file === undefined) throw new UsageError("Name the CSV file to import");
  if (more.length > 0) throw new UsageError(`One file at a time, but there is also ${more.join(" ")}`);
  const key = keyOf(values.key, env);
  const timeFormat = timeFormatOf(values["time-format"] ?? "auto");
  requireEpochFits(timeFormat, values);
  const decimalComma = values["decimal-comma"] ?? false;
  return {
    file,
    server: serverOf(values.server, env),
    key,
    ...(values["time-column"] !== undefined && { timeColumn: values["time-column"] }),
    timeFormat,
    timeZone: timeZoneOf(timeFormat, values["time-zone"]),
    epochMs: epochOf(values.epoch ?? "1970-01-01"),
    ...(values["epoch-by"] !== undefined && { epochBy: epochByOf(values["epoch-by"]) }),
    ...(values.mapping !== undefined && { mappingFile: values.mapping }),
    onlyMapped: values["only-mapped"] ?? false,
    prefix: values.prefix ?? "",
    existingOnly: values["existing-only"] ?? false,
    missing: new Set(["", ...(values.missing?.split(",").map((one) => one.trim()) ?? [])]),
    delimiter: delimiterOf(values.delimiter, decimalComma),
    decimalComma,
    encoding: encodingOf(values.encoding),
    dryRun: values["dry-run"] ?? false,
    stateFile: values.state ?? `${file}.import.json`,
    restart: values.restart ?? false,
    reportFile: values.report ?? `${file}.refused.csv`,
  };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: known, allowPositionals: true });
  } catch (problem) {
    throw new UsageError(problem instanceof Error ? problem.message : String(problem));
  }
}

function oneOf<Word extends string>(option: string, given: string, allowed: readonly Word[]): Word {
  const found = allowed.find((word) => word === given);
  if (!found) throw new UsageError(`${option} is one of ${allowed.join(", ")}, not ${given}`);
  return found;
}

function timeFormatOf(given: string): TimeFormat | "auto" {
  const named = (["auto", ...timeFormats] as const).find((word) => word === given);
  if (named) return named;
  if (!given.includes("yy"))
    throw new UsageError(
      `--time-format is one of auto, ${timeFormats.join(", ")}, or a pattern such as "dd.MM.yyyy HH:mm", ` +
        `not ${given}`,
    );
  try {
    toTimestamp("", given);
  } catch (problem) {
    throw new UsageError(`--time-format: ${(problem as Error).message}`);
  }
  return { pattern: given };
}

interface GivenEpoch {
  readonly epoch?: string | undefined;
  readonly "epoch-by"?: string | undefined;
}

function requireEpochFits(timeFormat: TimeFormat | "auto", given: GivenEpoch): void {
  const counted = given.epoch !== undefined || given["epoch-by"] !== undefined;
  if (!counted) return;
  if (timeFormat === "auto")
    throw new UsageError(`Say with --time-format what the numbers are: ${timeFormats.slice(1).join(", ")}`);
  if (isDateFormat(timeFormat))
    throw new UsageError("--epoch and --epoch-by are for numbers of time, not for dates");
  if (given.epoch !== undefined && given["epoch-by"] !== undefined)
    throw new UsageError("--epoch-by carries its own date; leave out --epoch");
}

function timeZoneOf(timeFormat: TimeFormat | "auto", given = "UTC"): string {
  if (!isTimeZone(given)) throw new UsageError(`--time-zone is a name such as Europe/Oslo, not ${given}`);
  if (given !== "UTC" && timeFormat !== "auto" && !isDateFormat(timeFormat))
    throw new UsageError("--time-zone is for dates, not for numbers of time");
  return given;
}

function delimiterOf(given: string | undefined, decimalComma: boolean): string {
  const delimiter = given === "\\t" ? "\t" : (given ?? (decimalComma ? ";" : ","));
  if (delimiter.length !== 1) throw new UsageError("--delimiter is one character (\\t for a tab)");
  return delimiter;
}

/** How the bytes of the file are characters. */
export const encodingOf = (given = "utf-8"): Encoding => oneOf("--encoding", given.toLowerCase(), encodings);

function epochOf(given: string): number {
  const epochMs = parseIso(given);
  if (epochMs === undefined) throw new UsageError(`--epoch is a date such as 2026-01-01, not ${given}`);
  return epochMs;
}

function epochByOf(given: string): EpochBy {
  const found = parseEpochBy(given);
  if (!found) throw new UsageError(`--epoch-by is COLUMN=DATE+STEP, as scenario=2026-01-01+1d, not ${given}`);
  return found;
}

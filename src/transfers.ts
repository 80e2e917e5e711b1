// The part of the registry of resources that commands load without the server: how each resource is
// exported, restored and imported. `src/resources.ts` has the part of the server.
import type { ArchivePart } from "./archive/section.ts";
import { csvImport, type ImportCommand } from "./import/import-csv.ts";
import type { RecordKind } from "./import/record-kind.ts";
import { type NotCovered, none } from "./lib/not-covered.ts";
import { assetArchive } from "./resources/assets/assets.archive.ts";
import { assetImport } from "./resources/assets/assets.import.ts";
import { eventArchive } from "./resources/events/events.archive.ts";
import { eventImport } from "./resources/events/events.import.ts";
import { fileArchive } from "./resources/files/files.archive.ts";
import { securityCategoryArchive } from "./resources/groups/groups.archive.ts";
import { projectArchive } from "./resources/projects/projects.archive.ts";
import { rawArchive } from "./resources/raw/raw.archive.ts";
import { rawImport } from "./resources/raw/raw.import.ts";
import { relationshipArchive } from "./resources/relationships/relationships.archive.ts";
import { retentionArchive } from "./resources/retention/retention.archive.ts";
import { sequenceArchive } from "./resources/sequences/sequences.archive.ts";
import { suggestionArchive } from "./resources/suggestions/suggestions.archive.ts";
import { timeSeriesArchive } from "./resources/timeseries/timeseries.archive.ts";
import { transformationArchive } from "./resources/transformations/transformations.archive.ts";
import { trendArchive } from "./resources/trends/trends.archive.ts";

/** An entry names the parts that do not cover the resource, and why. */
export interface Transfer {
  readonly archive: ArchivePart | NotCovered;
  /** By name the tables of the resource that no section holds, and why. */
  readonly notArchived?: Readonly<Record<string, string>>;
  readonly import: RecordKind | ImportCommand | NotCovered;
}

const noFileFormat = none("no tabular files of such records are known");
const noRecords = none("it stores no records");

/**
 * The resources, by the name of their folder in `src/resources/`. A resource imports only resources before
 * it (scripts/tidy/arrows.ts), and its sections are exported and restored after those of resources before it,
 * so that references are known.
 */
export const transfers = {
  projects: { archive: projectArchive, import: none("`millrace project create` creates projects") },
  identities: {
    archive: none("the target decides which accounts and keys it has"),
    import: none("accounts and keys are not loaded from files"),
  },
  groups: { archive: securityCategoryArchive, import: none("groups are not loaded from files") },
  assets: { archive: assetArchive, import: assetImport },
  "tag-matching": { archive: noRecords, import: noRecords },
  timeseries: {
    archive: timeSeriesArchive,
    notArchived: { erasures: "pending deletions, which are no content" },
    import: none("the import of datapoints creates their series"),
  },
  datapoints: { archive: none("the part of time series has their datapoints"), import: csvImport },
  calculated: { archive: noRecords, import: noRecords },
  analytics: {
    archive: none("a job has a result for a short time, and can be run again"),
    import: noFileFormat,
  },
  events: { archive: eventArchive, import: eventImport },
  files: {
    archive: fileArchive,
    notArchived: {
      file_attachments: "bytes of models, which are not archived",
      file_uploads: "unfinished uploads",
      file_removals: "pending deletions, which are no content",
    },
    import: none("files are uploaded over the API"),
  },
  raw: {
    archive: rawArchive,
    notArchived: {
      raw_erasures: "pending deletions, which are no content",
      raw_commits: "a target counts its own writes",
    },
    import: rawImport,
  },
  sequences: {
    archive: sequenceArchive,
    notArchived: { sequence_erasures: "pending deletions, which are no content" },
    import: noFileFormat,
  },
  relationships: { archive: relationshipArchive, import: noFileFormat },
  suggestions: { archive: suggestionArchive, import: noFileFormat },
  retention: {
    archive: retentionArchive,
    import: noFileFormat,
    notArchived: {
      retained_series: "since when a rule counts for a series: a restored one begins again",
      retention_clocks: "when a server last looked for due rules",
    },
  },
  contents: { archive: noRecords, import: noRecords },
  trends: { archive: trendArchive, import: noFileFormat },
  connectors: {
    archive: none("they are the state of running processes, which report to another server themselves"),
    import: noFileFormat,
  },
  transformations: {
    archive: transformationArchive,
    notArchived: { transformation_runs: "a history of runs, which a restored project does not have" },
    import: noFileFormat,
  },
  demo: {
    archive: none("it is the state of a job; the records of a demo plant are archived as any others"),
    import: noFileFormat,
  },
  models: {
    archive: none("code that runs on the server is not carried from one server to another"),
    import: none("packages are uploaded over the API"),
  },
  audit: {
    archive: none("a restored project has not done what the log of the original one says"),
    import: none("the server alone writes it"),
  },
  configuration: {
    archive: noRecords,
    import: none("`millrace apply` applies it"),
  },
  archives: { archive: noRecords, import: noRecords },
  explanations: { archive: noRecords, import: noRecords },
} as const satisfies Readonly<Record<string, Transfer>>;

/** The name of the folder of a resource. */
export type ResourceName = keyof typeof transfers;

export const resourceNames = Object.keys(transfers) as readonly ResourceName[];

const all: readonly Transfer[] = Object.values(transfers);

/** The parts of an archive, in the order of export and restore. */
export const archiveParts: readonly ArchivePart[] = all.flatMap(({ archive }) =>
  "sections" in archive ? [archive] : [],
);

/** The kinds of records that `millrace import` loads from CSV or JSON lines. */
export const recordKinds: readonly RecordKind[] = all.flatMap((one) =>
  "loader" in one.import ? [one.import] : [],
);

/** The other commands of `millrace import`. */
export const importCommands: readonly ImportCommand[] = all.flatMap((one) =>
  "run" in one.import ? [one.import] : [],
);

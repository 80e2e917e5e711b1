// How a resource declares its part of an archive: the sections, their export and their restore.
//
// A `*.archive.ts` file of a resource declares its part with `recordSection` and `listPart` (records.ts), or
// by hand; `src/transfers.ts` lists all parts.
import type { Connection } from "../client/connection.ts";
import type { CreateOnce } from "../client/create-once.ts";
import type { Made } from "../client/ledger.ts";
import type { ArchiveLine, Check } from "./checks.ts";
import type { ArchiveEntry } from "./reader.ts";
import type { References } from "./references.ts";
import type { ArchiveWriter } from "./writer.ts";

/** The services and the archive of an export. */
export interface Exporting {
  readonly connection: Connection;
  readonly writer: ArchiveWriter;
  /** Called after each entry with the number of its records. */
  readonly progress: (section: string, records: number) => void;
  readonly stop: AbortSignal;
}

/** The services and the archive of a restore. */
export interface Restoring {
  readonly connection: Connection;
  readonly creations: CreateOnce;
  readonly references: References;
}

export interface RestoreResult {
  /** The ids of new records by kind, for the references of later records. */
  readonly made?: Readonly<Record<string, readonly Made[]>>;
  /** A record whose bytes are the next entry; it is restored when they are. */
  readonly awaitsBytes?: ArchiveLine;
}

/** A section of JSON lines. */
export interface LinesSection {
  readonly kind: "lines";
  readonly name: string;
  /** The list of the API whose items are the lines, where there is one. */
  readonly list?: string;
  readonly check: Check;
  /** How many lines `restore` takes at most. */
  readonly linesMax: number;
  /** Lines with different values of this go to different calls of `restore`. */
  readonly together?: (line: ArchiveLine) => string;
  restore(lines: readonly ArchiveLine[], restoring: Restoring): Promise<RestoreResult>;
}

/** A section whose entries are bytes. */
export interface BytesSection {
  readonly kind: "bytes";
  readonly name: string;
  /** The extension of the names of entries. */
  readonly extension?: string;
  /** `awaiting` is the record that awaits these bytes. */
  restore(
    entry: ArchiveEntry,
    restoring: Restoring,
    awaiting: ArchiveLine | undefined,
  ): Promise<Pick<RestoreResult, "made">>;
}

/** A section that is there to be read, and is not restored. */
export interface InfoSection {
  readonly kind: "info";
  readonly name: string;
}

export type Section = LinesSection | BytesSection | InfoSection;

/** The sections of one resource in an archive. */
export interface ArchivePart {
  readonly sections: readonly Section[];
  /** Lists of the API which have to be empty before a restore, because it fills them. */
  readonly lists: readonly string[];
  /** Tables of the catalog whose records are in the sections. */
  readonly tables: readonly string[];
  /** Writes the sections. */
  export(exporting: Exporting): Promise<void>;
}

/** The export was told to end. */
export class Stopped extends Error {}

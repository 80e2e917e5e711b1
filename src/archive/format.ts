// The archive's words: its sections in the order in which they are restored, its first and last entries.
//
// docs/archive.md describes the format; a change of it here is a change there, and of the version.
import { createHash, type Hash } from "node:crypto";

export const formatName = "millrace-archive";
export const formatVersion = 1;

/** The first entry: what this is, so that other files and newer archives are told at once. */
export const headName = "millrace-archive.json";
/** The last entry: what all of the others hold. */
export const manifestName = "manifest.json";

/**
 * What others refer to comes before them; the points of some series directly after these, and so the bytes of
 * a file and the rows of a sequence.
 */
export const sections = [
  "project",
  "assettypes",
  "assets",
  "securitycategories",
  "timeseries",
  "datapoints",
  "eventtransformers",
  "semantictypes",
  "events",
  "files",
  "file-bytes",
  "raw",
  "sequences",
  "sequence-rows",
  "relationships",
] as const;
export type SectionName = (typeof sections)[number];

/** Where the API has the records of a section that is a list of them. */
export const resourceOf = (section: SectionName): string =>
  section === "assettypes" ? "assets/types" : section;

export interface Head {
  readonly format: string;
  readonly version: number;
  readonly project: string;
  /** When the export began; milliseconds since 1970. */
  readonly exportedTime: number;
}

export interface Section {
  readonly name: SectionName;
  readonly entries: number;
  /** Lines of the section; of `datapoints` the points, of `file-bytes` the files. */
  readonly records: number;
  readonly bytes: number;
  /** SHA-256 over the bytes of its entries, one after another, as hexadecimal digits. */
  readonly sha256: string;
}

export interface Manifest extends Head {
  readonly finishedTime: number;
  readonly sections: readonly Section[];
}

/** The figures of a section while its entries pass by. */
export class Tally {
  readonly #hash: Hash = createHash("sha256");
  #entries = 0;
  #records = 0;
  #bytes = 0;

  /** Answers the number of the entry that begins. */
  beginEntry(records = 0): number {
    this.#records += records;
    this.#entries += 1;
    return this.#entries;
  }

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }

  finish(name: SectionName): Section {
    return {
      name,
      entries: this.#entries,
      records: this.#records,
      bytes: this.#bytes,
      sha256: this.#hash.digest("hex"),
    };
  }
}

/** The archive cannot be read, or is not what it says; the message tells which. */
export class BadArchive extends Error {}

/** Bytes of an entry of lines, about: what is gathered before it is written. */
export const entryBytes = 4 * 2 ** 20;

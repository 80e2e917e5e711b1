// The format of an archive: its first and last entries, and the figures of its sections.
//
// docs/archive.md describes the format; a change of it here is a change there, and of the version.
import { createHash, type Hash } from "node:crypto";

export const formatName = "millrace-archive";
export const formatVersion = 1;

/** The first entry; by it a reader recognizes other files and newer archives at once. */
export const headName = "millrace-archive.json";
/** The last entry, with the figures of all others. */
export const manifestName = "manifest.json";

/** A section as an archive names it: its entries are `<name>/<number>.<extension>`, `jsonl` when absent. */
export interface SectionFormat {
  readonly name: string;
  readonly extension?: string;
}

export interface ArchiveHeader {
  readonly format: string;
  readonly version: number;
  readonly project: string;
  /** When the export began; milliseconds since 1970. */
  readonly exportedTime: number;
}

/** The figures of one section in a manifest. */
export interface SectionFigures {
  readonly name: string;
  readonly entries: number;
  /** Lines of the section; of `datapoints` the points, of `file-bytes` the files. */
  readonly records: number;
  readonly bytes: number;
  /** SHA-256 over the bytes of its entries, one after another, as hexadecimal digits. */
  readonly sha256: string;
}

export interface ArchiveManifest extends ArchiveHeader {
  readonly finishedTime: number;
  readonly sections: readonly SectionFigures[];
}

/** Counts and hashes the entries of a section. */
export class Tally {
  readonly #hash: Hash = createHash("sha256");
  #entries = 0;
  #records = 0;
  #bytes = 0;

  /** Returns the number of the new entry. */
  beginEntry(records = 0): number {
    this.#records += records;
    this.#entries += 1;
    return this.#entries;
  }

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }

  finish(name: string): SectionFigures {
    return {
      name,
      entries: this.#entries,
      records: this.#records,
      bytes: this.#bytes,
      sha256: this.#hash.digest("hex"),
    };
  }
}

/** The archive cannot be read or is invalid; the message says why. */
export class BadArchive extends Error {}

/** Lines are collected until they have about this many bytes, and become one entry. */
export const entryBytes = 4 * 2 ** 20;

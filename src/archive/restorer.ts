// Restores an archive entry by entry: the records of all sections, once each, also after an interruption.
import type { Connection } from "../client/connection.ts";
import type { CreateOnce } from "../client/create-once.ts";
import type { Ledger } from "../client/ledger.ts";
import { limits } from "../limits.ts";
import type { ArchiveLine } from "./checks.ts";
import { type ArchiveEntry, jsonLinesOf } from "./reader.ts";
import { References } from "./references.ts";
import type { LinesSection, RestoreResult, Restoring, Section } from "./section.ts";

/** The progress of a restore: whole entries, and lines of the entry after them. */
export interface Restored {
  readonly entries: number;
  readonly lines: number;
  /** References that were left out because the archive does not have their record. */
  readonly leftOut: number;
}

export const nothingRestored: Restored = { entries: 0, lines: 0, leftOut: 0 };

interface RestorerOptions {
  readonly sections: readonly Section[];
  readonly connection: Connection;
  readonly ledger: Ledger<Restored>;
  readonly creations: CreateOnce;
}

export class Restorer {
  readonly #sections: ReadonlyMap<string, Section>;
  readonly #ledger: Ledger<Restored>;
  readonly #restoring: Restoring;
  /** The record whose bytes are the next entry. */
  #awaiting: ArchiveLine | undefined;

  constructor({ sections, connection, ledger, creations }: RestorerOptions) {
    this.#sections = new Map(sections.map((section) => [section.name, section]));
    this.#ledger = ledger;
    const references = new References(ledger, ledger.progress.leftOut);
    this.#restoring = { connection, creations, references };
  }

  /** Restores the rest of the entry with this number, and records its progress. */
  async restore(entry: ArchiveEntry, number: number): Promise<void> {
    const section = this.#sections.get(entry.section ?? "");
    if (section?.kind === "bytes") {
      const { made } = await section.restore(entry, this.#restoring, this.#awaiting);
      this.#awaiting = undefined;
      this.#record({ entries: number + 1, lines: 0 }, made);
      return;
    }
    if (section?.kind === "lines") {
      await this.#restoreLines(section, entry, number);
      if (this.#awaiting) return; // The entry is restored when the bytes after it are.
    }
    this.#record({ entries: number + 1, lines: 0 });
  }

  async #restoreLines(section: LinesSection, entry: ArchiveEntry, number: number): Promise<void> {
    const { progress } = this.#ledger;
    const restored = number === progress.entries ? progress.lines : 0;
    for await (const { batch, lines } of batchesIn(section, entry, restored)) {
      const { made, awaitsBytes } = await section.restore(batch, this.#restoring);
      this.#awaiting = awaitsBytes;
      if (!awaitsBytes) this.#record({ entries: number, lines }, made);
    }
  }

  #record(reached: { entries: number; lines: number }, made: RestoreResult["made"] = {}): void {
    this.#ledger.note({ ...reached, leftOut: this.#restoring.references.leftOut }, made);
  }
}

interface LineBatch {
  readonly batch: readonly ArchiveLine[];
  /** The lines of the entry up to and including the batch. */
  readonly lines: number;
}

/** The lines of an entry after the first `restored`, in batches that go into one request each. */
async function* batchesIn(
  { name, check, linesMax, together }: LinesSection,
  entry: ArchiveEntry,
  restored: number,
): AsyncGenerator<LineBatch> {
  let [batch, bytes, lines]: [ArchiveLine[], number, number] = [[], 0, restored];
  for await (const read of jsonLinesOf(entry)) {
    if (read.line <= restored) continue;
    check(read.value, `${name}[${read.line}]`);
    const line = read.value as ArchiveLine;
    const isFull = batch.length === linesMax || bytes + read.bytes > limits.importBodyBytesMax;
    if (batch.length > 0 && (isFull || together?.(batch[0]!) !== together?.(line))) {
      yield { batch, lines };
      [batch, bytes] = [[], 0];
    }
    batch.push(line);
    bytes += read.bytes;
    lines = read.line;
  }
  if (batch.length > 0) yield { batch, lines };
}

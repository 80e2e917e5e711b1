// Translates references in an archive to the ids that the records have in the project that is restored.
import type { Ledger, Made } from "../client/ledger.ts";
import type { ArchiveLine, Item } from "./checks.ts";

export class References {
  readonly #ledger: Ledger<unknown>;
  #leftOut: number;

  constructor(ledger: Ledger<unknown>, leftOut: number) {
    this.#ledger = ledger;
    this.#leftOut = leftOut;
  }

  /** How many references were left out because the archive does not have their record. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** The new id of a record; undefined when the archive does not have it. */
  idOf(kind: string, archivedId: number): number | undefined {
    return this.#ledger.idOf(kind, archivedId);
  }

  /** Notes records that were made in place of those that the archive does not have. */
  note(kind: string, made: readonly Made[]): void {
    this.#ledger.note(this.#ledger.progress, { [kind]: made });
  }

  /** `{ [member]: new id }`, or nothing when the archive does not have the record. */
  single(kind: string, member: string, archivedId: number): ArchiveLine {
    const id = this.idOf(kind, archivedId);
    if (id === undefined) this.#leftOut += 1;
    return id === undefined ? {} : { [member]: id };
  }

  /** The new ids; those of records that the archive does not have are left out. */
  ids(kind: string, archivedIds: unknown): number[] {
    const items = ((archivedIds ?? []) as readonly number[]).map((id) => ({ id }));
    return this.items(kind, items).map(({ id }) => id);
  }

  /** The items with new ids; those of records that the archive does not have are left out. */
  items(kind: string, archived: unknown): Item[] {
    const items = archived as readonly Item[];
    const translated = items.flatMap((item) => {
      const id = this.idOf(kind, item.id);
      return id === undefined ? [] : [{ ...item, id }];
    });
    this.#leftOut += items.length - translated.length;
    return translated;
  }
}

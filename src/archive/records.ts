// Sections of records that the API lists with ids, and that a restore creates again with new ids and their
// old times.
import type { Created } from "../client/create-once.ts";
import type { Made } from "../client/ledger.ts";
import { limits } from "../limits.ts";
import type { ArchiveLine, Check, Item } from "./checks.ts";
import { JsonLines } from "./json-lines.ts";
import type { References } from "./references.ts";
import type { ArchivePart, Exporting, LinesSection, Restoring } from "./section.ts";

export interface RecordSection extends LinesSection {
  readonly list: string;
}

interface RecordOptions {
  readonly name: string;
  /** The list of the API that has the records; the name when absent. */
  readonly list?: string;
  readonly check: Check;
  /** The most items of a request, if it is fewer than usual. */
  readonly itemsMax?: number;
  /** Records without times of creation and change. */
  readonly isTimeless?: true;
  /** A list of parts with ids of their own, such as columns, and the kind under which these are recorded. */
  readonly parts?: { readonly member: string; readonly kind: string };
  /** Whether a record is restored; all are when absent. */
  readonly isRestored?: (record: Item, references: References) => boolean;
  /** The item of the request that creates the record; its members as they are when absent. */
  readonly toCreate?: (members: ArchiveLine, references: References, archived: Archived) => ArchiveLine;
}

interface Archived {
  readonly item: Item;
  /** The ids in the archive of all records of the request. */
  readonly ids: ReadonlySet<number>;
}

export function recordSection(options: RecordOptions): RecordSection {
  const { name, list = name, check, itemsMax: linesMax = limits.importItemsPerRequest } = options;
  return {
    ...{ kind: "lines", name, list, check, linesMax },
    restore: async (lines, restoring) => {
      const { isRestored = () => true } = options;
      const items = newItems(lines as readonly Item[], name, restoring).filter((item) =>
        isRestored(item, restoring.references),
      );
      const { creations } = restoring;
      const created = await creations.create(
        { kind: name, resource: list },
        itemsToCreate(items, options, restoring),
      );
      if (!options.isTimeless) await restoreTimes(restoring, list, items, created);
      const made = items.map(({ id }, at) => ({ given: id, id: created[at]!.id }));
      const { parts } = options;
      return {
        made: { [name]: made, ...(parts && { [parts.kind]: madeParts(parts.member, items, created) }) },
      };
    },
  };
}

/** The part of a resource whose sections are lists of the API, one after another. */
export const listPart = (sections: readonly RecordSection[], tables: readonly string[]): ArchivePart => ({
  ...{ sections, tables, lists: sections.map(({ list }) => list) },
  export: async (exporting) => {
    for (const section of sections) await exportList(exporting, section);
  },
});

/** Writes every record of the list of a section; `complete` may add to the records of a page. */
export async function exportList(
  exporting: Exporting,
  section: RecordSection,
  complete: (page: Item[]) => Promise<readonly unknown[]> = async (page) => page,
): Promise<void> {
  const lines = new JsonLines(exporting, section.name);
  for await (const page of pagesOf(exporting, section.list))
    for (const item of await complete(page)) await lines.add(JSON.stringify(item));
  await lines.flush();
}

const pageItems = 1_000;

/** The records of a list of the API, a page at a time. */
export const pagesOf = (
  { connection }: Exporting,
  path: string,
  query: Readonly<Record<string, string>> = {},
): AsyncGenerator<Item[]> =>
  connection.pages<Item>(connection.pathOf(path, "0.6"), { ...query, limit: String(pageItems) });

/** A record that moved while the export listed it may be in the archive twice. */
const newItems = (items: readonly Item[], kind: string, { references }: Restoring): Item[] =>
  items.filter(
    ({ id }, at) => references.idOf(kind, id) === undefined && items.findIndex((one) => one.id === id) === at,
  );

function itemsToCreate(
  items: readonly Item[],
  options: RecordOptions,
  { references }: Restoring,
): ArchiveLine[] {
  const { parts, toCreate = (members) => members } = options;
  const ids = new Set(items.map(({ id }) => id));
  return items.map((item) => {
    const { id: _, createdTime: __, lastUpdatedTime: ___, ...members } = item;
    const whole = parts ? { ...members, [parts.member]: newParts(item[parts.member]) } : members;
    return toCreate(whole, references, { item, ids });
  });
}

const newParts = (parts: unknown) =>
  (parts as readonly Item[]).map(({ id: _, createdTime: __, lastUpdatedTime: ___, ...part }) => part);

/** The server returns parts in the order of the request. */
const madeParts = (member: string, items: readonly Item[], created: readonly Created[]): Made[] =>
  items.flatMap((item, at) => {
    const made = created[at]![member] as readonly Created[];
    return (item[member] as readonly Item[]).map(({ id }, index) => ({ given: id, id: made[index]!.id }));
  });

/** Gives created records the times that they have in the archive. */
export async function restoreTimes(
  { connection }: Restoring,
  path: string,
  items: readonly ArchiveLine[],
  created: readonly Created[],
): Promise<void> {
  if (items.length === 0) return;
  const times = items.map(({ createdTime, lastUpdatedTime, uploadedAt, columns }, at) => {
    const made = created[at]!;
    return {
      id: made.id,
      ...{ createdTime, lastUpdatedTime, uploadedAt },
      ...(columns !== undefined && {
        columns: (columns as readonly Item[]).map((column, index) => ({
          id: (made["columns"] as readonly Created[])[index]!.id,
          createdTime: column["createdTime"],
          lastUpdatedTime: column["lastUpdatedTime"],
        })),
      }),
    };
  });
  const body = JSON.stringify({ items: times });
  await connection.json("POST", connection.pathOf(`restore/times/${path}`, "0.6"), { body });
}

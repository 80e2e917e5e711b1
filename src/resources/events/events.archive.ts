// Event transformers, semantic types and events in an archive.
import { type Item, id, list, object, optional, times } from "../../archive/checks.ts";
import { withoutDeleted } from "../../archive/deleted.ts";
import { exportList, recordSection } from "../../archive/records.ts";
import type { References } from "../../archive/references.ts";
import type { ArchivePart } from "../../archive/section.ts";
import type { Connection } from "../../client/connection.ts";
import { withAssets } from "../assets/assets.archive.ts";

const transformers = recordSection({ name: "eventtransformers", isTimeless: true, check: object({ id }) });
const semanticTypes = recordSection({ name: "semantictypes", isTimeless: true, check: object({ id }) });

const events = recordSection({
  name: "events",
  check: object({
    ...{ id, ...times, assetIds: optional(list(id)), eventTransformerId: optional(id) },
    semanticPhrases: optional(list(object({ semanticTypeId: id }))),
  }),
  toCreate: ({ eventTransformerId, additionalData, metadata, semanticPhrases, ...event }, references) => {
    const transformer = eventTransformerId as number | undefined;
    return {
      ...withAssets(event, references),
      semanticPhrases: phrasesOf(semanticPhrases, references),
      // Either of the two: the strings of the one follow from the other.
      ...(additionalData === undefined ? { metadata } : { additionalData }),
      // Events may name transformers that do not exist: those keep their number.
      ...(transformer !== undefined && {
        eventTransformerId: references.idOf(transformers.name, transformer) ?? transformer,
      }),
    };
  },
});

function phrasesOf(archived: unknown, references: References): object[] {
  const phrases = (archived ?? []) as readonly { readonly text: string; readonly semanticTypeId: number }[];
  const items = phrases.map(({ text, semanticTypeId: id }) => ({ text, id }));
  return references.items(semanticTypes.name, items).map(({ id, text }) => ({ text, semanticTypeId: id }));
}

export const eventArchive: ArchivePart = {
  sections: [transformers, semanticTypes, events],
  lists: [transformers.list, semanticTypes.list, events.list],
  tables: ["event_transformers", "semantic_types", "events"],
  export: async (exporting) => {
    await exportList(exporting, transformers);
    await exportList(exporting, semanticTypes);
    await exportList(exporting, events, (page) => withAdditionalData(exporting.connection, page));
  },
};

/** Only 0.4 shows values other than strings in the metadata of an event. */
async function withAdditionalData(connection: Connection, page: readonly Item[]): Promise<unknown[]> {
  if (page.length === 0) return [];
  const body = JSON.stringify({ items: page.map(({ id }) => id) });
  type Old = { readonly additionalData: Readonly<Record<string, unknown>> };
  let items: readonly Old[];
  try {
    const old = await connection.json("POST", connection.pathOf("events/byids", "0.4"), { body });
    ({ items } = (old as { data: { items: Old[] } }).data);
  } catch (problem) {
    return withAdditionalData(connection, withoutDeleted(page, problem));
  }
  return page.map((event, at) => {
    const { additionalData } = items[at]!;
    const isPlain = Object.values(additionalData).every((value) => typeof value === "string");
    return isPlain ? event : { ...event, additionalData };
  });
}

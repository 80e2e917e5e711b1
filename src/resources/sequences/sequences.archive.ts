// Sequences and their rows in an archive.
import { id, list, object, optional, times } from "../../archive/checks.ts";
import { untilDeleted } from "../../archive/deleted.ts";
import { BadArchive } from "../../archive/format.ts";
import { JsonLines } from "../../archive/json-lines.ts";
import { pagesOf, recordSection } from "../../archive/records.ts";
import type { References } from "../../archive/references.ts";
import type { ArchivePart, Exporting, LinesSection } from "../../archive/section.ts";
import type { Connection } from "../../client/connection.ts";
import { limits } from "../../limits.ts";
import { withAsset } from "../assets/assets.archive.ts";

const columnKind = "sequence-columns";

const sequences = recordSection({
  name: "sequences",
  check: object({ id, ...times, assetId: optional(id), columns: list(object({ id, ...times })) }),
  parts: { member: "columns", kind: columnKind },
  toCreate: withAsset,
});

const rows: LinesSection = {
  ...{ kind: "lines", name: "sequence-rows", linesMax: limits.sequenceRowsPerWriteMax },
  check: object({ sequenceId: id, values: list(object({ columnId: id })) }),
  together: ({ sequenceId }) => `${sequenceId}`,
  restore: async (lines, { connection, references }) => {
    const sequence = references.idOf(sequences.name, lines[0]!["sequenceId"] as number);
    if (sequence === undefined)
      throw new BadArchive("The archive has rows of a sequence that it does not have");
    const items = lines.map(({ rowNumber, values }) => ({ rowNumber, values: valuesOf(values, references) }));
    const body = JSON.stringify({ items: [{ rows: items }] });
    await connection.json("POST", connection.pathOf(`sequences/${sequence}/postdata`), { body });
    return {};
  },
};

/** Leaves out values of columns that were added after the export had listed the sequence. */
function valuesOf(archived: unknown, references: References): object[] {
  const values = archived as readonly { readonly columnId: number; readonly value: unknown }[];
  const items = values.map(({ columnId: id, value }) => ({ id, value }));
  return references.items(columnKind, items).map(({ id, value }) => ({ columnId: id, value }));
}

export const sequenceArchive: ArchivePart = {
  sections: [sequences, rows],
  lists: [sequences.list],
  tables: ["sequences", "sequence_rows"],
  export: exportSequences,
};

/** Each page of sequences, followed by its rows. */
async function exportSequences(exporting: Exporting): Promise<void> {
  for await (const page of pagesOf(exporting, sequences.list)) {
    const lines = new JsonLines(exporting, sequences.name);
    for (const sequence of page) await lines.add(JSON.stringify(sequence));
    await lines.flush();
    const rowLines = new JsonLines(exporting, rows.name);
    for (const { id } of page)
      for await (const row of untilDeleted(sequenceRows(exporting.connection, id)))
        await rowLines.add(JSON.stringify({ sequenceId: id, ...row }));
    await rowLines.flush();
  }
}

async function* sequenceRows(connection: Connection, id: number): AsyncGenerator<object> {
  const path = connection.pathOf(`sequences/${id}/getdata`);
  let cursor: string | undefined;
  do {
    const body = JSON.stringify({ items: [{ limit: limits.sequenceRowsPerReadMax, cursor }] });
    const { data } = (await connection.json("POST", path, { body })) as {
      data: { items: { rows: object[] }[]; nextCursor?: string };
    };
    yield* data.items.flatMap(({ rows }) => rows);
    cursor = data.nextCursor;
  } while (cursor);
}

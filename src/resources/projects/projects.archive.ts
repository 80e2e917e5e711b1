// The record of the project in an archive: for readers; a restore keeps the record of its target.
import { JsonLines } from "../../archive/json-lines.ts";
import type { ArchivePart } from "../../archive/section.ts";

export const projectArchive: ArchivePart = {
  sections: [{ kind: "info", name: "project" }],
  lists: [],
  tables: ["projects"],
  export: async (exporting) => {
    const { connection } = exporting;
    const { data } = (await connection.json("GET", connection.pathOf("", "0.6"))) as {
      data: { items: unknown[] };
    };
    const lines = new JsonLines(exporting, "project");
    await lines.add(JSON.stringify(data.items[0]));
    await lines.flush();
  },
};

// Transformations in an archive. A restored one runs with the rights of the account that restores it, and
// has no marks: its first run reads all rows.
import { id, object, times } from "../../archive/checks.ts";
import { listPart, recordSection } from "../../archive/records.ts";
import { limits } from "../../limits.ts";

export const transformationArchive = listPart(
  [
    recordSection({
      name: "transformations",
      itemsMax: limits.transformationsPerRequestMax,
      check: object({ id, ...times }),
      toCreate: ({ owner: _, ownerId: __, marks: ___, nextTime: ____, ...transformation }) => transformation,
    }),
  ],
  ["transformations"],
);

// Saved trends in an archive. A restored trend belongs to the account that restores it.
import { id, object, times } from "../../archive/checks.ts";
import { listPart, recordSection } from "../../archive/records.ts";

export const trendArchive = listPart(
  [
    recordSection({
      name: "trends",
      check: object({ id, ...times }),
      toCreate: ({ owner: _, ownerId: __, ...trend }) => trend,
    }),
  ],
  ["trends"],
);

// Relationships in an archive; they name their ends by external ids, which a restore keeps.
import { id, object, times } from "../../archive/checks.ts";
import { listPart, recordSection } from "../../archive/records.ts";

export const relationshipArchive = listPart(
  [recordSection({ name: "relationships", check: object({ id, ...times }) })],
  ["relationships"],
);

// Security categories in an archive.
import { id, object } from "../../archive/checks.ts";
import { listPart, recordSection } from "../../archive/records.ts";

export const securityCategoryArchive = listPart(
  [recordSection({ name: "securitycategories", isTimeless: true, check: object({ id }) })],
  ["security_categories"],
);

// Looks through a catalog's SQLite file that nobody has open, and makes its indexes anew where these are
// wrong.
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Finding, integrityOf, noDatabase } from "../../../findings.ts";
import { addFunctions } from "./functions.ts";

/**
 * What is wrong with the database; with `told`, what is left of it after the indexes were made anew, and
 * `told` hears of what that has mended.
 */
export function examineDatabase(path: string, told?: (finding: Finding) => void): Finding[] {
  const file = basename(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    addFunctions(database);
    const found = integrityOf(database, file).map((one) => withRemedy(database!, one));
    if (told === undefined || found.every(({ remedy }) => remedy === undefined)) return found;
    reindex(database);
    const left = integrityOf(database, file);
    for (const one of found) if (!left.some((other) => other.found === one.found)) told(one);
    return left;
  } catch (why) {
    return [noDatabase(file, why)];
  } finally {
    database?.close();
  }
}

/** An index holds nothing that its table does not. */
function withRemedy(database: DatabaseSync, finding: Finding): Finding {
  if (!/\bindex\b/.test(finding.found)) return finding;
  return { ...finding, remedy: { says: "make the indexes anew", apply: () => reindex(database) } };
}

const reindex = (database: DatabaseSync): void => database.exec("REINDEX");

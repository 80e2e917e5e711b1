// Checks the SQLite file of a catalog that no process has open, and rebuilds its indexes where they are
// wrong.
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Finding, integrityOf, noDatabase } from "../../../findings.ts";
import { addFunctions } from "./functions.ts";

/**
 * Returns the damage in the database. With `told`, rebuilds damaged indexes first, calls `told` for each
 * finding that this repaired, and returns the others.
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
  return { ...finding, remedy: { says: "rebuild the indexes", apply: () => reindex(database) } };
}

const reindex = (database: DatabaseSync): void => database.exec("REINDEX");

// Values of PostgreSQL as JSON: each column comes as text, and its type decides.
import { parseJson } from "../../lib/json.ts";
import { exactNumber } from "./database.ts";

/**
 * The types whose values are not strings in JSON, by their OID
 * (https://www.postgresql.org/docs/15/catalog-pg-type.html).
 */
const readers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === "t",
  17: (text) => Buffer.from(text.slice(2), "hex").toString("base64"),
  20: exactNumber,
  21: Number,
  23: Number,
  26: Number,
  114: parseJson,
  700: exactNumber,
  701: exactNumber,
  1114: isoTime,
  1184: isoTime,
  1700: exactNumber,
  3802: parseJson,
};

/** The reader of a type; of an unknown type the text of PostgreSQL. */
export const readerOf = (oid: number): ((text: string) => unknown) => readers[oid] ?? ((text) => text);

/** `2026-01-31 10:00:00.5+00` as ISO 8601, with all digits of the second. The session is in UTC. */
function isoTime(text: string): string {
  return text.replace(" ", "T").replace(/\+00$/, "Z");
}

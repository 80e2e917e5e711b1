// Queries of OData as text.

/** A string as a literal of a filter. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** True of every record: the server refuses whole sets without a filter. */
const always = "CreatedTime ge 1970-01-01T00:00:00Z";

/** The records of a set that meet all conditions; a `false` in the list is left out. */
export function filtered(set: string, conditions: readonly (string | false)[]): string {
  const given = conditions.filter((condition) => condition !== false);
  return `${set}?$filter=${encodeURIComponent(given.join(" and ") || always)}`;
}

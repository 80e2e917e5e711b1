// Queries of OData as text.

/** A string as a literal of a filter. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The records of a set that meet all conditions; a condition that is false is left out. */
export function filtered(set: string, conditions: readonly (string | false)[]): string {
  const given = conditions.filter((condition) => condition !== false);
  return given.length === 0 ? set : `${set}?$filter=${encodeURIComponent(given.join(" and "))}`;
}

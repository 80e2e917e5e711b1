// Schemas that refuse members that they do not name, at any depth.
import type { TSchema } from "typebox";
import { copyOf, type SchemaKeywords } from "./schema-keywords.ts";

/**
 * The schema with `additionalProperties: false` in each object that names its members and does not say which
 * others it permits. For bodies that people write: an ignored member would hide a mistake.
 */
export const strict = <Schema extends TSchema>(schema: Schema, title: string): Schema =>
  copyOf(strictly(schema), { title }) as unknown as Schema;

function strictly(schema: SchemaKeywords): SchemaKeywords {
  const { properties, items, anyOf, additionalProperties } = schema;
  return copyOf(schema, {
    // One title has one schema.
    title: undefined,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, strictly(member)]),
      ),
    }),
    ...(properties && additionalProperties === undefined && { additionalProperties: false }),
    ...(items && { items: strictly(items) }),
    ...(anyOf && { anyOf: anyOf.map(strictly) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: strictly(additionalProperties) }),
  });
}

// The keywords of JSON schemas that the decoders of bodies read, and changed copies of schemas.
import type { TSchema } from "typebox";

export interface SchemaKeywords extends TSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaKeywords>>;
  readonly additionalProperties?: boolean | SchemaKeywords;
  readonly items?: SchemaKeywords;
  readonly anyOf?: readonly SchemaKeywords[];
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

/** Copies a schema with changed keywords, and keeps all its other properties, such as refinements. */
export function copyOf(schema: SchemaKeywords, changed: Readonly<Record<string, unknown>>): SchemaKeywords {
  const copy = Object.create(Object.getPrototypeOf(schema), Object.getOwnPropertyDescriptors(schema));
  for (const [name, value] of Object.entries(changed)) {
    if (value === undefined) delete copy[name];
    else Object.defineProperty(copy, name, { value, enumerable: true });
  }
  return copy as SchemaKeywords;
}

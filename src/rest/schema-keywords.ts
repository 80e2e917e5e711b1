// The keywords of JSON schemas that the decoders of bodies read.
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

// Narrows a schema to the variants that a value names, so that a message tells the problems of these alone.

/** The parts of JSON Schema that describe a configuration. */
interface Schema {
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly required?: readonly string[];
  readonly prefixItems?: readonly Schema[];
}

/**
 * Replaces each choice of objects by the one whose literal the value has, such as `format: json`. If the
 * value has none of the literals, the result requires one of them.
 */
export function withChosenVariants<Whole extends object>(schema: Whole, value: unknown): Whole {
  return narrowed(schema as Schema, value) as Whole;
}

function narrowed(schema: Schema, value: unknown): Schema {
  const { anyOf, properties, items } = schema;
  if (items && Array.isArray(value)) {
    const { items: _, ...rest } = schema;
    return { ...rest, prefixItems: value.map((one) => narrowed(items, one)) };
  }
  if (!isRecord(value)) return schema;
  if (anyOf) return variantOf(schema, anyOf, value);
  if (!properties) return schema;
  const inner = Object.entries(properties).map(([name, one]) => [name, narrowed(one, value[name])]);
  return { ...schema, properties: Object.fromEntries(inner) };
}

function variantOf(schema: Schema, variants: readonly Schema[], value: Fields): Schema {
  const literals = variants.map(({ properties = {} }) =>
    Object.entries(properties).find((entry) => "const" in entry[1]),
  );
  const name = literals[0]?.[0];
  if (name === undefined || literals.some((one) => one?.[0] !== name)) return schema;
  const words = literals.map((one) => one![1].const);
  const chosen = variants[words.indexOf(value[name])];
  if (chosen) return narrowed(chosen, value);
  return { type: "object", required: [name], properties: { [name]: { enum: words } } };
}

type Fields = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

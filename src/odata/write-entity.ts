// Entities as JSON: what is written of each is decided once for an answer, and then done for every record.
import { type BufferWriter, BytesLiteral } from "../lib/buffer-writer.ts";
import type { Entities, Entity } from "./expand.ts";
import type { Links } from "./links.ts";
import { type Model, namespace, type Property, type Row } from "./model.ts";
import type { Expansion, Shape } from "./shape.ts";
import { code, type Format, writeValue } from "./write-value.ts";

export interface Writing {
  readonly model: Model;
  readonly format: Format;
  readonly links: Links;
}

/** What is written of every entity of a shape. */
export interface Layout {
  readonly format: Format;
  /** What opens an entity that has control information, or nothing at all. */
  readonly head: string;
  readonly control: ((row: Row) => string) | undefined;
  readonly properties: readonly PropertyPlace[];
  readonly expansions: readonly ExpansionPlace[];
}

interface PropertyPlace {
  readonly property: Property;
  /** What opens the entity or divides the property from the one before it, and its name. */
  readonly label: BytesLiteral;
  readonly get: Property["get"];
  /** The members selected of an open object; all where it is absent. */
  readonly members: ReadonlySet<string> | undefined;
}

interface ExpansionPlace {
  readonly isMany: boolean;
  readonly label: BytesLiteral;
  readonly layout: Layout;
  /** What stands before the label when there is a number, which ends without its digits. */
  readonly countHead: string;
  readonly labelBehindCount: BytesLiteral;
  /** Where the rest of what belongs to the row is. */
  readonly restOf: (row: Row, expanded: Entities) => string;
}

/**
 * The layout of entities of this shape, each with its own control information; `context` is what stands
 * before that in an answer of one entity: with a comma behind it, or nothing.
 */
export function layoutOf(writing: Writing, shape: Shape, context = ""): Layout {
  const { format } = writing;
  const { properties, expansions } = shape;
  const control = controlOf(writing, shape);
  const isEmpty = properties.length + expansions.length === 0;
  const head = `{${context}`;
  const before = (place: number) => (place > 0 || control ? "," : head);
  return {
    ...{ format, control, head: isEmpty && !control ? head.replace(/,$/, "") : head },
    properties: properties.map((property, at) =>
      propertyPlace(format, shape, { property, before: before(at) }),
    ),
    expansions: expansions.map((expansion, at) =>
      expansionPlace(writing, shape, { expansion, before: before(properties.length + at) }),
    ),
  };
}

function propertyPlace(
  { level }: Format,
  { members }: Shape,
  { property, before }: { readonly property: Property; readonly before: string },
): PropertyPlace {
  const { name, get } = property;
  const annotation = level === "full" ? typeAnnotation(property) : undefined;
  const type = annotation === undefined ? "" : `"${name}@odata.type":"${annotation}",`;
  return { property, get, label: new BytesLiteral(`${before}${type}"${name}":`), members: members.get(name) };
}

function expansionPlace(
  writing: Writing,
  shape: Shape,
  { expansion, before }: { readonly expansion: Expansion; readonly before: string },
): ExpansionPlace {
  const { name, isMany = false } = expansion.navigation;
  return {
    isMany,
    label: new BytesLiteral(`${before}"${name}":`),
    layout: layoutOf(writing, expansion.shape),
    countHead: `${before}"${name}@odata.count":`,
    labelBehindCount: new BytesLiteral(`,"${name}":`),
    restOf(row, { items, next }) {
      const rest = writing.links.rest(shape, row, expansion, { after: next!, given: items.length });
      return `,"${name}@odata.nextLink":${JSON.stringify(rest)}`;
    },
  };
}

/** Writes entities with commas between them. */
function writeEntities(sheet: BufferWriter, layout: Layout, entities: readonly Entity[]): void {
  for (let at = 0; at < entities.length; at++) {
    if (at > 0) sheet.byte(code.comma);
    writeEntity(sheet, layout, entities[at]!);
  }
}

export function writeEntity(sheet: BufferWriter, layout: Layout, { row, expanded }: Entity): void {
  const { format, head, control, properties, expansions } = layout;
  if (control) sheet.string(head + control(row));
  else if (properties.length + expansions.length === 0) sheet.string(head);
  for (let at = 0; at < properties.length; at++) {
    const { property, label, get, members } = properties[at]!;
    sheet.literal(label);
    const value = get(row);
    writeValue(sheet, members ? picked(value as Row | undefined, members) : value, property, format);
  }
  for (let at = 0; at < expansions.length; at++) {
    const place = expansions[at]!;
    if (place.isMany) writeMany(sheet, place, { row, entities: expanded[at] as Entities, format });
    else {
      const one = expanded[at] as Entity | undefined;
      sheet.literal(place.label);
      if (one) writeEntity(sheet, place.layout, one);
      else sheet.string("null");
    }
  }
  sheet.byte(code.closingBrace);
}

interface Many {
  readonly row: Row;
  readonly entities: Entities;
  readonly format: Format;
}

function writeMany(sheet: BufferWriter, place: ExpansionPlace, { row, entities, format }: Many): void {
  const { items, count, next } = entities;
  if (count !== undefined) sheet.string(place.countHead + countJson(count, format));
  sheet.literal(count === undefined ? place.label : place.labelBehindCount);
  sheet.byte(code.opening);
  writeEntities(sheet, place.layout, items);
  sheet.byte(code.closing);
  if (next) sheet.string(place.restOf(row, entities));
}

const picked = (value: Row | undefined, wanted: ReadonlySet<string>) =>
  value && Object.fromEntries(Object.entries(value).filter(([name]) => wanted.has(name)));

/** What a reader cannot tell from the JSON itself. */
function typeAnnotation({ type, isList }: Property): string | undefined {
  const plain = type.startsWith("Edm.") ? type.slice(4) : `${namespace}.${type}`;
  if (isList) return `#Collection(${plain})`;
  return type === "Edm.DateTimeOffset" || type === "Edm.Int64" ? `#${plain}` : undefined;
}

export const countJson = (count: number, { isIeee754Compatible }: Format): string =>
  isIeee754Compatible ? `"${count}"` : String(count);

/** What an entity says of itself before its data: where its bytes are, with full metadata all the rest. */
function controlOf(writing: Writing, shape: Shape): ((row: Row) => string) | undefined {
  const { format } = writing;
  const { stream } = shape.type;
  const full = format.level === "full" ? fullControl(writing, shape) : undefined;
  if (!stream || format.level === "none") return full;
  return (row) => {
    const { url, contentType } = stream(row);
    const media = [`"@odata.mediaReadLink":${JSON.stringify(url)}`];
    if (contentType !== undefined) media.push(`"@odata.mediaContentType":${JSON.stringify(contentType)}`);
    return [...(full ? [full(row)] : []), ...media].join(",");
  };
}

/** What an entity is, and where it and its neighbours are. */
function fullControl({ model, links }: Writing, shape: Shape): (row: Row) => string {
  const navigations = [...model.navigationsOf(shape.type).keys()];
  const functions = [...model.functionsOf(shape.type).keys()];
  return (row) => {
    const id = links.entity(shape, row);
    const control: [string, string][] = [
      ["@odata.type", `#${namespace}.${shape.type.name}`],
      ["@odata.id", id],
      ["@odata.readLink", id],
      ...navigations.flatMap((name): [string, string][] => [
        [`${name}@odata.navigationLink`, `${id}/${name}`],
        [`${name}@odata.associationLink`, `${id}/${name}/$ref`],
      ]),
    ];
    const called = functions.map((name) => {
      const target = `${id}/${namespace}.${name}`;
      return `"#${namespace}.${name}":${JSON.stringify({ title: name, target })}`;
    });
    return [...control.map(([name, value]) => `"${name}":${JSON.stringify(value)}`), ...called].join(",");
  };
}

// Writes entities as JSON. A layout is computed once for a response and applied to each record.
import { type BufferWriter, BytesLiteral } from "../lib/buffer-writer.ts";
import type { Entity, EntityList } from "./expand.ts";
import type { Links } from "./links.ts";
import { type EntityModel, type EntityRecord, namespace, type Property, typeNameOf } from "./model.ts";
import type { Expansion, Projection } from "./projection.ts";
import { code, type JsonFormat, writeValue } from "./write-value.ts";

export interface WriteContext {
  readonly model: EntityModel;
  readonly format: JsonFormat;
  readonly links: Links;
}

/** How to write each entity of a projection. */
export interface EntityLayout {
  readonly format: JsonFormat;
  /** The start of an entity that has control information or no members at all. */
  readonly head: string;
  readonly control: ((row: EntityRecord) => string) | undefined;
  readonly properties: readonly PropertyLayout[];
  readonly expansions: readonly ExpansionLayout[];
}

interface PropertyLayout {
  readonly property: Property;
  /** The JSON before the value: the start of the entity or a comma, and the property's name. */
  readonly label: BytesLiteral;
  readonly get: Property["get"];
  /** The selected members of an open object; absent selects all. */
  readonly members: ReadonlySet<string> | undefined;
}

interface ExpansionLayout {
  readonly isMany: boolean;
  readonly label: BytesLiteral;
  readonly layout: EntityLayout;
  /** The JSON before the count, if the expansion is counted. */
  readonly countHead: string;
  readonly labelAfterCount: BytesLiteral;
  /** The JSON of the link to the rest of the collection. */
  readonly nextLinkOf: (row: EntityRecord, expanded: EntityList) => string;
}

/**
 * The layout of a projection's entities. `contextJson` is the context in a response of one entity, with a
 * trailing comma, or empty.
 */
export function layoutOf(context: WriteContext, projection: Projection, contextJson = ""): EntityLayout {
  const { format } = context;
  const { properties, expansions } = projection;
  const control = controlOf(context, projection);
  const isEmpty = properties.length + expansions.length === 0;
  const head = `{${contextJson}`;
  const before = (place: number) => (place > 0 || control ? "," : head);
  return {
    ...{ format, control, head: isEmpty && !control ? head.replace(/,$/, "") : head },
    properties: properties.map((property, at) =>
      propertyLayout(format, projection, { property, before: before(at) }),
    ),
    expansions: expansions.map((expansion, at) =>
      expansionLayout(context, projection, { expansion, before: before(properties.length + at) }),
    ),
  };
}

function propertyLayout(
  { level }: JsonFormat,
  { members }: Projection,
  { property, before }: { readonly property: Property; readonly before: string },
): PropertyLayout {
  const { name, get } = property;
  const annotation = level === "full" ? typeAnnotation(property) : undefined;
  const type = annotation === undefined ? "" : `"${name}@odata.type":"${annotation}",`;
  return { property, get, label: new BytesLiteral(`${before}${type}"${name}":`), members: members.get(name) };
}

function expansionLayout(
  context: WriteContext,
  projection: Projection,
  { expansion, before }: { readonly expansion: Expansion; readonly before: string },
): ExpansionLayout {
  const { name, isMany = false } = expansion.navigation;
  return {
    isMany,
    label: new BytesLiteral(`${before}"${name}":`),
    layout: layoutOf(context, expansion.projection),
    countHead: `${before}"${name}@odata.count":`,
    labelAfterCount: new BytesLiteral(`,"${name}":`),
    nextLinkOf(row, { items, next }) {
      const rest = context.links.rest(projection, row, expansion, { after: next!, given: items.length });
      return `,"${name}@odata.nextLink":${JSON.stringify(rest)}`;
    },
  };
}

function writeEntities(writer: BufferWriter, layout: EntityLayout, entities: readonly Entity[]): void {
  for (let at = 0; at < entities.length; at++) {
    if (at > 0) writer.byte(code.comma);
    writeEntity(writer, layout, entities[at]!);
  }
}

export function writeEntity(writer: BufferWriter, layout: EntityLayout, { row, expanded }: Entity): void {
  const { format, head, control, properties, expansions } = layout;
  if (control) writer.string(head + control(row));
  else if (properties.length + expansions.length === 0) writer.string(head);
  for (let at = 0; at < properties.length; at++) {
    const { property, label, get, members } = properties[at]!;
    writer.literal(label);
    const value = get(row);
    writeValue(
      writer,
      members ? picked(value as EntityRecord | undefined, members) : value,
      property,
      format,
    );
  }
  for (let at = 0; at < expansions.length; at++) {
    const place = expansions[at]!;
    if (place.isMany) writeMany(writer, place, { row, entities: expanded[at] as EntityList, format });
    else {
      const one = expanded[at] as Entity | undefined;
      writer.literal(place.label);
      if (one) writeEntity(writer, place.layout, one);
      else writer.string("null");
    }
  }
  writer.byte(code.closingBrace);
}

interface ExpandedMany {
  readonly row: EntityRecord;
  readonly entities: EntityList;
  readonly format: JsonFormat;
}

function writeMany(
  writer: BufferWriter,
  place: ExpansionLayout,
  { row, entities, format }: ExpandedMany,
): void {
  const { items, count, next } = entities;
  if (count !== undefined) writer.string(place.countHead + countJson(count, format));
  writer.literal(count === undefined ? place.label : place.labelAfterCount);
  writer.byte(code.opening);
  writeEntities(writer, place.layout, items);
  writer.byte(code.closing);
  if (next) writer.string(place.nextLinkOf(row, entities));
}

const picked = (value: EntityRecord | undefined, wanted: ReadonlySet<string>) =>
  value && Object.fromEntries(Object.entries(value).filter(([name]) => wanted.has(name)));

/** The type of a value, if JSON does not show it. */
function typeAnnotation({ type, isList }: Property): string | undefined {
  const plain = typeNameOf(type).replace(/^Edm\./, "");
  if (isList) return `#Collection(${plain})`;
  return type === "Edm.DateTimeOffset" || type === "Edm.Int64" ? `#${plain}` : undefined;
}

export const countJson = (count: number, { isIeee754Compatible }: JsonFormat): string =>
  isIeee754Compatible ? `"${count}"` : String(count);

/**
 * The control information of an entity: the URL of its bytes, and all other information in full metadata.
 */
function controlOf(
  context: WriteContext,
  projection: Projection,
): ((row: EntityRecord) => string) | undefined {
  const { format } = context;
  const { stream } = projection.type;
  const full = format.level === "full" ? fullControl(context, projection) : undefined;
  if (!stream || format.level === "none") return full;
  return (row) => {
    const { url, contentType } = stream(row);
    const media = [`"@odata.mediaReadLink":${JSON.stringify(url)}`];
    if (contentType !== undefined) media.push(`"@odata.mediaContentType":${JSON.stringify(contentType)}`);
    return [...(full ? [full(row)] : []), ...media].join(",");
  };
}

/** The control information of full metadata: type, ids, navigations and functions. */
function fullControl({ model, links }: WriteContext, projection: Projection): (row: EntityRecord) => string {
  const navigations = [...model.navigationsOf(projection.type).keys()];
  const functions = [...model.functionsOf(projection.type).keys()];
  return (row) => {
    const id = links.entity(projection, row);
    const control: [string, string][] = [
      ["@odata.type", `#${namespace}.${projection.type.name}`],
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

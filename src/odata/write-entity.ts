// Entities as JSON: what is written of each is decided once for an answer, and then done for every record.
import { type ByteSheet, Label } from "../lib/byte-sheet.ts";
import type { Entities, Entity } from "./expand.ts";
import type { Links } from "./links.ts";
import { type Model, namespace, type Property, type Row } from "./model.ts";
import type { Expansion, Shape } from "./shape.ts";
import { closing, comma, type Format, opening, valueWriter } from "./write-value.ts";

export interface Writing {
  readonly model: Model;
  readonly format: Format;
  readonly links: Links;
}

type WriteEntity = (sheet: ByteSheet, entity: Entity) => void;

type WriteMember = WriteEntity;

const closingBrace = 125;

/**
 * Writes entities of this shape, each an object with its own control information; `context` is what stands
 * before that in an answer of one entity: with a comma behind it, or nothing.
 */
export function entityWriter(writing: Writing, shape: Shape, context = ""): WriteEntity {
  const control = controlOf(writing, shape);
  const head = `{${context}`;
  const separatorAt = (place: number) => (place > 0 || control ? "," : head);
  const { properties, expansions } = shape;
  const members = [
    ...properties.map((property, at) =>
      propertyWriter(writing, { shape, property, before: separatorAt(at) }),
    ),
    ...expansions.map((expansion, at) =>
      expansionWriter(writing, { shape, expansion, at, before: separatorAt(properties.length + at) }),
    ),
  ];
  const isEmpty = !control && members.length === 0;
  return (sheet, entity) => {
    if (control) sheet.text(head + control(entity.row));
    else if (isEmpty) sheet.text(head.replace(/,$/, ""));
    for (const write of members) write(sheet, entity);
    sheet.byte(closingBrace);
  };
}

/** Writes entities with commas between them. */
export function writeAll(sheet: ByteSheet, entities: readonly Entity[], write: WriteEntity): void {
  for (let at = 0; at < entities.length; at++) {
    if (at > 0) sheet.byte(comma);
    write(sheet, entities[at]!);
  }
}

interface PropertyPlace {
  readonly shape: Shape;
  readonly property: Property;
  /** What opens the entity, or divides the member from the one before. */
  readonly before: string;
}

function propertyWriter({ format }: Writing, { shape, property, before }: PropertyPlace): WriteMember {
  const { name, get } = property;
  const write = valueWriter(property, format);
  const annotation = format.level === "full" ? typeAnnotation(property) : undefined;
  const type = annotation === undefined ? "" : `"${name}@odata.type":"${annotation}",`;
  const label = new Label(`${before}${type}"${name}":`);
  const wanted = shape.members.get(name);
  return (sheet, { row }) => {
    sheet.label(label);
    const value = get(row);
    write(sheet, wanted ? picked(value as Row | undefined, wanted) : value);
  };
}

const picked = (value: Row | undefined, wanted: ReadonlySet<string>) =>
  value && Object.fromEntries(Object.entries(value).filter(([name]) => wanted.has(name)));

/** What a reader cannot tell from the JSON itself. */
function typeAnnotation({ type, isList }: Property): string | undefined {
  const plain = type.startsWith("Edm.") ? type.slice(4) : `${namespace}.${type}`;
  if (isList) return `#Collection(${plain})`;
  return type === "Edm.DateTimeOffset" || type === "Edm.Int64" ? `#${plain}` : undefined;
}

interface ExpansionPlace {
  readonly shape: Shape;
  readonly expansion: Expansion;
  /** Among the expansions. */
  readonly at: number;
  readonly before: string;
}

function expansionWriter(writing: Writing, place: ExpansionPlace): WriteMember {
  const { shape, expansion, at, before } = place;
  const { name } = expansion.navigation;
  const write = entityWriter(writing, expansion.shape);
  const label = new Label(`${before}"${name}":`);
  if (!expansion.navigation.isMany)
    return (sheet, { expanded }) => {
      const one = expanded[at] as Entity | undefined;
      sheet.label(label);
      if (one) write(sheet, one);
      else sheet.text("null");
    };
  const furtherLabel = new Label(`,"${name}":`);
  return (sheet, { row, expanded }) => {
    const { items, count, next } = expanded[at] as Entities;
    if (count !== undefined) sheet.text(`${before}"${name}@odata.count":${countJson(count, writing.format)}`);
    sheet.label(count === undefined ? label : furtherLabel);
    sheet.byte(opening);
    writeAll(sheet, items, write);
    sheet.byte(closing);
    if (!next) return;
    const rest = writing.links.rest(shape, row, expansion, { after: next, given: items.length });
    sheet.text(`,"${name}@odata.nextLink":${JSON.stringify(rest)}`);
  };
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

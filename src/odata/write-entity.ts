// Entities as JSON: what is written of each is decided once for an answer, and then done for every record.
import type { Entities, Entity } from "./expand.ts";
import type { Links } from "./links.ts";
import { type Model, namespace, type Property, type Row } from "./model.ts";
import type { Expansion, Shape } from "./shape.ts";
import { type Format, valueWriter } from "./write-value.ts";

export interface Writing {
  readonly model: Model;
  readonly format: Format;
  readonly links: Links;
}

type WriteEntity = (entity: Entity) => string;
type WriteMember = (entity: Entity) => string;

/** Writes entities of this shape, each an object with its own control information. */
export function entityWriter(writing: Writing, shape: Shape): WriteEntity {
  const control = controlOf(writing, shape);
  const members = [
    ...shape.properties.map((property) => propertyWriter(writing, shape, property)),
    ...shape.expansions.map((expansion, at) => expansionWriter(writing, { shape, expansion, at })),
  ];
  return (entity) => {
    let json = control === undefined ? "{" : `{${control(entity.row)}`;
    for (const write of members) json += json === "{" ? write(entity) : `,${write(entity)}`;
    return `${json}}`;
  };
}

function propertyWriter({ format }: Writing, { members }: Shape, property: Property): WriteMember {
  const { name, get } = property;
  const write = valueWriter(property, format);
  const annotation = format.level === "full" ? typeAnnotation(property) : undefined;
  const prefix = `${annotation === undefined ? "" : `"${name}@odata.type":"${annotation}",`}"${name}":`;
  const wanted = members.get(name);
  if (!wanted) return ({ row }) => prefix + write(get(row));
  return ({ row }) => prefix + write(picked(get(row) as Row | undefined, wanted));
}

const picked = (value: Row | undefined, wanted: ReadonlySet<string>) =>
  value && Object.fromEntries(Object.entries(value).filter(([name]) => wanted.has(name)));

/** What a reader cannot tell from the JSON itself. */
function typeAnnotation({ type, isList }: Property): string | undefined {
  const plain = type.startsWith("Edm.") ? type.slice(4) : `${namespace}.${type}`;
  if (isList) return `#Collection(${plain})`;
  return type === "Edm.DateTimeOffset" || type === "Edm.Int64" ? `#${plain}` : undefined;
}

interface Place {
  readonly shape: Shape;
  readonly expansion: Expansion;
  readonly at: number;
}

function expansionWriter(writing: Writing, { shape, expansion, at }: Place): WriteMember {
  const { name } = expansion.navigation;
  const write = entityWriter(writing, expansion.shape);
  if (!expansion.navigation.isMany)
    return ({ expanded }) => {
      const one = expanded[at] as Entity | undefined;
      return `"${name}":${one ? write(one) : "null"}`;
    };
  return ({ row, expanded }) => {
    const { items, count, next } = expanded[at] as Entities;
    const parts = count === undefined ? [] : [`"${name}@odata.count":${countJson(count, writing.format)}`];
    parts.push(`"${name}":[${items.map(write).join(",")}]`);
    if (next) {
      const rest = writing.links.rest(shape, row, expansion, { after: next, given: items.length });
      parts.push(`"${name}@odata.nextLink":${JSON.stringify(rest)}`);
    }
    return parts.join(",");
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

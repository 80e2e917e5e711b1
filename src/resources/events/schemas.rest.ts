// JSON schemas of events in requests and responses: one record in the format of 0.4 and in that of newer
// versions (docs/reference/events.md#shapes-of-an-event).
import { type Static, type TSchema, Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import {
  changed,
  changeObject,
  idField,
  listChange,
  metadataField,
  storable,
  textField,
} from "../../rest/fields.ts";
import type { ApiVersion } from "../../rest/route.ts";
import { eitherOf } from "../../rest/two-names.ts";
import { changeList, commonOverwriteOf, type ListChange } from "../common/changes.ts";
import {
  commonChangeOf,
  commonChanges,
  commonMembers,
  commonPatch,
  listChangeOf,
} from "../common/fields.rest.ts";
import { commonFieldsOf } from "../common/schema.ts";
import type { Event, EventChange, NewEvent } from "./events.ts";

const timeField = (description: string) =>
  Type.Integer({
    description: `${description}, in ms since 1970`,
    minimum: -limits.eventTimeMsMax,
    maximum: limits.eventTimeMsMax,
  });

const links = (description: string) =>
  Type.Array(idField("An asset"), { description, maxItems: limits.eventAssetsMax });

/** The tags of an event in 0.4: ids of assets, and strings. */
const tags = Type.Array(
  Type.Union([idField("An asset"), textField("A tag", { max: limits.nameLengthMax })]),
  {
    description: "Tags: a number is the id of an asset, as in `assetIds`",
    maxItems: limits.eventAssetsMax,
  },
);

const semanticPhrases = Type.Array(
  Type.Object({
    text: textField("A phrase", { max: limits.eventPhraseLengthMax }),
    semanticTypeId: idField("The semantic type of the phrase, which must exist"),
  }),
  { description: "Phrases with their meanings", maxItems: limits.eventPhrasesMax },
);

/** JSON Schema keywords for strings do not apply to other types, so other values are valid. */
const additionalData = Type.Unsafe<Readonly<Record<string, unknown>>>({
  description: "Like `metadata`; 0.5 and 0.6 return values that are not strings as JSON",
  type: "object",
  maxProperties: limits.metadataPairsMax,
  propertyNames: { type: "string", pattern: storable, maxLength: limits.metadataKeyLengthMax },
  additionalProperties: { pattern: storable },
});

const fields = {
  startTime: timeField("When the event began"),
  endTime: timeField("When the event ended"),
  description: textField("What happened"),
  type: textField("The type of the event"),
  subtype: textField("The subtype of the event"),
  metadata: metadataField("Key and value pairs of the caller's choice"),
  assetIds: links("The linked assets"),
  source: textField("The system the event comes from"),
  sourceId: textField("The event's id in that system; `source` and `sourceId` together are unique"),
  eventTransformerId: idField("The event transformer that created the event"),
  eventReferenceKey: textField("The transformer's key of the event"),
  semanticPhrases,
};

/** All versions accept all spellings. */
const spellings = {
  ...fields,
  subType: fields.subtype,
  additionalData,
  tagIds: tags,
};

const optionals = <Fields extends Record<string, TSchema>>(all: Fields) =>
  Type.Partial(Type.Object(all)).properties;

const writable = { ...optionals(spellings), ...commonMembers };

export const newEvent = Type.Object(
  { ...writable, id: Type.Optional(Type.Unknown({ description: "Refused: the service assigns ids" })) },
  { title: "NewEvent" },
);

export const wholeEvent = Type.Object({ id: idField("Which event"), ...writable });

/** An id, as the JavaScript SDK sends it, or an object, as the Scala SDK does. */
export const eventIds = Type.Union([idField("Which event"), Type.Object({ id: idField("Which event") })]);

const setter = <Value extends TSchema>(value: Value) =>
  changeObject({ set: Type.Optional(value), setNull: Type.Optional(Type.Boolean()) });

/** `{"set":value}` or `{"setNull":true}` for each member; clients use both spellings of `subtype`. */
const changes = {
  ...optionals({
    startTime: setter(fields.startTime),
    endTime: setter(fields.endTime),
    description: setter(fields.description),
    type: setter(fields.type),
    subtype: setter(fields.subtype),
    subType: setter(fields.subtype),
    metadata: setter(fields.metadata),
    additionalData: setter(additionalData),
    assetIds: listChange(fields.assetIds),
    tagIds: listChange(tags),
    source: setter(fields.source),
    sourceId: setter(fields.sourceId),
    eventTransformerId: setter(fields.eventTransformerId),
    eventReferenceKey: setter(fields.eventReferenceKey),
    semanticPhrases: setter(fields.semanticPhrases),
  }),
  ...commonChanges,
};

export const eventChange = changeObject({ id: Type.Optional(idField("Which event")), ...changes });
export const identifiedChange = changeObject({ id: idField("Which event"), ...changes });

const patchable = Object.fromEntries(
  Object.entries(spellings).map(([name, value]) => {
    const isLinks = name === "assetIds" || name === "tagIds";
    return [name, Type.Union([value, isLinks ? listChange(value) : setter(value)])];
  }),
);

/** The body of a PATCH: changes, or new values without `set`. */
export const eventPatch = {
  kind: "json",
  schema: changeObject({
    id: Type.Optional(idField("Which event")),
    ...optionals(patchable),
    ...commonPatch,
  }),
  changes: eventChange,
} as const;

const isText = (value: unknown): value is string => typeof value === "string";

type EventInput = Static<typeof wholeEvent>;

/** The metadata in both spellings as strings, and as sent if not all values are strings. */
function metadataOf(
  { metadata, additionalData }: Pick<EventInput, "metadata" | "additionalData">,
  prefix: string,
): Partial<Pick<Event, "metadata" | "sentMetadata">> {
  if (!additionalData) return metadata ? { metadata } : {};
  const strings = Object.entries(additionalData).map(([key, value]): [string, string] => [
    key,
    isText(value) ? value : JSON.stringify(value),
  ]);
  const length = strings.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  const expected = `at most ${limits.metadataLengthMax} characters in its keys and values together`;
  if (length > limits.metadataLengthMax)
    throw fail("field-invalid", { field: `${prefix}additionalData`, expected, got: `${length}` });
  const isMetadata = Object.values(additionalData).every(isText);
  const pairs = Object.fromEntries(strings);
  eitherOf([`${prefix}metadata`, metadata], [`${prefix}additionalData`, pairs]);
  return { metadata: pairs, ...(!isMetadata && { sentMetadata: additionalData }) };
}

const subtypeOf = <Value>({ subtype, subType }: { subtype?: Value; subType?: Value }, prefix: string) =>
  eitherOf([`${prefix}subtype`, subtype], [`${prefix}subType`, subType]);

export function newEventOf(sent: Static<typeof newEvent>, index: number): NewEvent {
  const prefix = `items[${index}].`;
  if (sent.id !== undefined) {
    const expected = "none, as the service assigns ids,";
    throw fail("field-invalid", { field: `${prefix}id`, expected, got: JSON.stringify(sent.id) });
  }
  const { startTime, endTime, description, type, source, sourceId } = sent;
  const subtype = subtypeOf(sent, prefix);
  const { eventTransformerId: transformerId, eventReferenceKey: referenceKey, semanticPhrases = [] } = sent;
  const { metadata = {}, sentMetadata } = metadataOf(sent, prefix);
  return {
    ...(startTime !== undefined && { startTime }),
    ...(endTime !== undefined && { endTime }),
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type }),
    ...(subtype !== undefined && { subtype }),
    metadata,
    ...(sentMetadata && { sentMetadata }),
    ...newLinksOf(sent, prefix),
    ...(source !== undefined && { source }),
    ...(sourceId !== undefined && { sourceId }),
    ...(transformerId !== undefined && { transformerId }),
    ...(referenceKey !== undefined && { referenceKey }),
    ...(semanticPhrases.length > 0 && { semanticPhrases }),
    ...commonFieldsOf(sent),
  };
}

/** The links and tags of a new event. Numbers among the tags are links. */
function newLinksOf(
  { assetIds = [], tagIds = [] }: Pick<EventInput, "assetIds" | "tagIds">,
  prefix: string,
): Pick<Event, "assetIds" | "tags"> {
  const set = [...assetIds, ...tagIds.filter(isId)];
  const bounds = { field: `${prefix}assetIds`, limit: limits.eventAssetsMax };
  const tags = [...new Set(tagIds.filter(isText))];
  return { assetIds: changeList([], { set }, bounds)!, ...(tags.length > 0 && { tags }) };
}

/**
 * Overwrites all members that published clients of the version know. Other members stay if they are absent:
 * those clients would clear them without knowing.
 */
export const overwriteOf =
  (version: ApiVersion) =>
  (sent: EventInput, index: number): EventChange => {
    const prefix = `items[${index}].`;
    const { metadata = {}, sentMetadata = null } = metadataOf(sent, prefix);
    const [ofOld, ofNew] = version === "0.4" ? [null, undefined] : [undefined, null];
    const links = linksChangeOf(version, {
      assetIds: { set: sent.assetIds ?? [] },
      tagIds: sent.tagIds || version === "0.4" ? { set: sent.tagIds ?? [] } : undefined,
    });
    return {
      id: sent.id,
      startTime: sent.startTime ?? null,
      endTime: sent.endTime ?? null,
      description: sent.description ?? null,
      type: sent.type ?? null,
      subtype: subtypeOf(sent, prefix) ?? null,
      ...{ metadata, sentMetadata },
      ...links,
      semanticPhrases: sent.semanticPhrases,
      ...commonOverwriteOf(sent),
      source: sent.source ?? ofNew,
      sourceId: sent.sourceId ?? ofNew,
      transformerId: sent.eventTransformerId ?? ofOld,
      referenceKey: sent.eventReferenceKey ?? ofOld,
    };
  };

interface ChangeContext {
  readonly version: ApiVersion;
  /** The prefix of field names in refusals: `items[0].`. */
  readonly prefix: string;
}

export function changeOf(
  id: number,
  sent: Static<typeof eventChange>,
  { version, prefix }: ChangeContext,
): EventChange {
  return {
    id,
    startTime: changed(sent.startTime),
    endTime: changed(sent.endTime),
    description: changed(sent.description),
    type: changed(sent.type),
    subtype: changed(subtypeOf(sent, prefix)),
    ...metadataChange(sent, prefix),
    ...linksChangeOf(version, { assetIds: listChangeOf(sent.assetIds), tagIds: listChangeOf(sent.tagIds) }),
    semanticPhrases: changed(sent.semanticPhrases),
    ...commonChangeOf(sent),
    source: changed(sent.source),
    sourceId: changed(sent.sourceId),
    transformerId: changed(sent.eventTransformerId),
    referenceKey: changed(sent.eventReferenceKey),
  };
}

function metadataChange(sent: Static<typeof eventChange>, prefix: string) {
  const metadata = changed(sent.metadata);
  const additionalData = changed(sent.additionalData);
  if (metadata === undefined && additionalData === undefined) return {};
  if (!(metadata && additionalData))
    eitherOf<unknown>([`${prefix}metadata`, metadata], [`${prefix}additionalData`, additionalData]);
  const eventInput = {
    ...(metadata && { metadata }),
    ...(additionalData && { additionalData }),
  };
  const { metadata: strings = {}, sentMetadata = null } = metadataOf(eventInput, prefix);
  return { metadata: strings, sentMetadata };
}

interface LinksInput {
  readonly assetIds: ListChange<number> | undefined;
  readonly tagIds: ListChange<number | string> | undefined;
}

/**
 * Strings among the tags change the tags, and numbers change the links. Only 0.4 returns links among the
 * tags, so in newer versions a list without numbers leaves the links.
 */
function linksChangeOf(version: ApiVersion, { assetIds, tagIds }: LinksInput) {
  if (!tagIds) return { assetIds };
  const lists = [tagIds.set, tagIds.add, tagIds.remove];
  const isAboutLinks = version === "0.4" || lists.some((list) => list?.some(isId));
  return {
    assetIds: isAboutLinks ? bothChanges(assetIds, elementsOf(tagIds, isId)) : assetIds,
    tags: elementsOf(tagIds, isText),
  };
}

const isId = (tag: number | string): tag is number => typeof tag === "number";

const elementsOf = <Item extends number | string>(
  { set, add, remove }: ListChange<number | string>,
  isMeant: (tag: number | string) => tag is Item,
): ListChange<Item> => ({
  set: set?.filter(isMeant),
  add: add?.filter(isMeant),
  remove: remove?.filter(isMeant),
});

function bothChanges(one: ListChange<number> | undefined, other: ListChange<number>): ListChange<number> {
  const both = (name: "set" | "add" | "remove") =>
    one?.[name] || other[name] ? [...(one?.[name] ?? []), ...(other[name] ?? [])] : undefined;
  return { set: both("set"), add: both("add"), remove: both("remove") };
}

const outOld = {
  id: Type.Integer(),
  ...optionals({
    startTime: Type.Integer(),
    endTime: Type.Integer(),
    description: Type.String(),
    type: Type.String(),
    subtype: Type.String(),
    eventTransformerId: Type.Integer(),
    eventReferenceKey: Type.String(),
    semanticPhrases,
  }),
  ...commonMembers,
};

/** The schema of an event in responses of the version. */
export const eventSchema = (version: ApiVersion) =>
  version === "0.4"
    ? Type.Object({ ...outOld, additionalData, tagIds: tags }, { title: "Event" })
    : Type.Object(
        {
          ...outOld,
          metadata: metadataField("Empty when there is none"),
          assetIds: Type.Array(Type.Integer()),
          ...optionals({
            source: Type.String(),
            sourceId: Type.String(),
            tagIds: Type.Array(Type.String(), { description: "The tags" }),
          }),
          createdTime: Type.Integer(),
          lastUpdatedTime: Type.Integer(),
        },
        { title: "Event" },
      );

/** Maps an event to the JSON of the version. */
export const eventJson =
  (version: ApiVersion) =>
  ({ id, startTime, endTime, description, type, subtype, assetIds, metadata, ...event }: Event) => ({
    ...{ id, startTime, endTime, description, type, subtype },
    ...(version === "0.4"
      ? { additionalData: event.sentMetadata ?? metadata, tagIds: [...assetIds, ...(event.tags ?? [])] }
      : {
          ...{ metadata, assetIds, ...(event.tags && { tagIds: event.tags }) },
          source: event.source,
          sourceId: event.sourceId,
          createdTime: event.createdTime,
          lastUpdatedTime: event.lastUpdatedTime,
        }),
    eventTransformerId: event.transformerId,
    eventReferenceKey: event.referenceKey,
    semanticPhrases: event.semanticPhrases,
    ...commonFieldsOf(event),
  });

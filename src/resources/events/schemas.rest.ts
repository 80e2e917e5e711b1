// The JSON shapes of events: one record in the shape of 0.4 and in that of newer versions
// (docs/reference/events.md#shapes-of-an-event).
import { type Static, type TSchema, Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { changed, changeObject, idField, metadataField, storable, textField } from "../../rest/fields.ts";
import type { ApiVersion } from "../../rest/route.ts";
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

/** The tags of an event in 0.4: ids of assets and strings. */
const tags = Type.Array(
  Type.Union([idField("An asset"), textField("A tag", { max: limits.nameLengthMax })]),
  {
    description: "Tags: a number is the id of an asset, as in `assetIds`",
    maxItems: limits.eventAssetsMax,
  },
);

const semanticPhrases = Type.Array(
  Type.Object({
    text: textField("A piece of text", { max: limits.eventPhraseLengthMax }),
    semanticTypeId: idField("The semantic type that says what it means; it exists"),
  }),
  { description: "Pieces of text with their meaning", maxItems: limits.eventPhrasesMax },
);

/** Keywords for texts say nothing of other values, which are welcome here. */
const additionalData = Type.Unsafe<Readonly<Record<string, unknown>>>({
  description: "As `metadata`; other values than texts are shown as JSON by 0.5 and 0.6",
  type: "object",
  maxProperties: limits.metadataPairsMax,
  propertyNames: { type: "string", pattern: storable, maxLength: limits.metadataKeyLengthMax },
  additionalProperties: { pattern: storable },
});

const fields = {
  startTime: timeField("When it began"),
  endTime: timeField("When it ended"),
  description: textField("What happened"),
  type: textField("What kind of event it is"),
  subtype: textField("What kind of its type"),
  metadata: metadataField("Key and value pairs of the caller's choice"),
  assetIds: links("The assets it happened to"),
  source: textField("The system the event comes from"),
  sourceId: textField("Its id in that system; `source` and `sourceId` together are unique"),
  eventTransformerId: idField("The event transformer that made it"),
  eventReferenceKey: textField("What the transformer calls it"),
  semanticPhrases,
};

/** Every spelling is taken in every version. */
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

/** A plain id, as the JavaScript SDK sends it, or an object, as the Scala SDK does. */
export const eventIds = Type.Union([idField("Which event"), Type.Object({ id: idField("Which event") })]);

const setter = <Value extends TSchema>(value: Value) =>
  changeObject({ set: Type.Optional(value), setNull: Type.Optional(Type.Boolean()) });

const listSetter = <List extends TSchema>(list: List) =>
  changeObject({
    set: Type.Optional(list),
    add: Type.Optional(list),
    remove: Type.Optional(list),
    setNull: Type.Optional(Type.Boolean()),
  });

/** `{"set":value}` or `{"setNull":true}` for each member; `subtype` in both spellings of the clients. */
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
    assetIds: listSetter(fields.assetIds),
    tagIds: listSetter(tags),
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
    return [name, Type.Union([value, isLinks ? listSetter(value) : setter(value)])];
  }),
);

/** As a change, or plainly the new values. */
export const eventPatch = changeObject({
  id: Type.Optional(idField("Which event")),
  ...optionals(patchable),
  ...commonPatch,
});
type EventPatch = Readonly<Record<string, unknown>>;

/** A plain value sets the member; an object changes it, unless it is itself the metadata to set. */
export const changeOfPatch = (sent: EventPatch): Static<typeof eventChange> =>
  Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, name === "id" ? value : asSetter(name, value)]),
  );

const asSetter = (name: string, value: unknown) => {
  if (typeof value !== "object" || Array.isArray(value)) return { set: value };
  const holdsPairs = name === "metadata" || name === "additionalData";
  return holdsPairs && !isSetter(value!) ? { set: value } : value;
};

const isSetter = (value: object) => {
  const members = Object.entries(value);
  return members.every(([name, member]) => (name === "set" || name === "setNull") && !isText(member));
};

const isText = (value: unknown): value is string => typeof value === "string";

type EventInput = Static<typeof wholeEvent>;

/** Both spellings of metadata as texts, and besides as sent where not all values are texts. */
function metadataOf(
  { metadata, additionalData }: Pick<EventInput, "metadata" | "additionalData">,
  prefix: string,
): Partial<Pick<Event, "metadata" | "sentMetadata">> {
  if (metadata || !additionalData) return metadata ? { metadata } : {};
  const texts = Object.entries(additionalData).map(([key, value]): [string, string] => [
    key,
    isText(value) ? value : JSON.stringify(value),
  ]);
  const length = texts.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  const expected = `at most ${limits.metadataLengthMax} characters in its keys and values together`;
  if (length > limits.metadataLengthMax)
    throw fail("field-invalid", { field: `${prefix}additionalData`, expected, got: `${length}` });
  const isMetadata = Object.values(additionalData).every(isText);
  return { metadata: Object.fromEntries(texts), ...(!isMetadata && { sentMetadata: additionalData }) };
}

export function newEventOf(sent: Static<typeof newEvent>, index: number): NewEvent {
  const prefix = `items[${index}].`;
  if (sent.id !== undefined) {
    const expected = "none, as the service assigns ids,";
    throw fail("field-invalid", { field: `${prefix}id`, expected, got: JSON.stringify(sent.id) });
  }
  const { startTime, endTime, description, type, subtype = sent.subType, source, sourceId } = sent;
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

/** The links and tags of a new event; numbers among the tags are links. */
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
 * All members that published clients of the version know are overwritten. Others stay when they are not sent:
 * these clients would clear them without knowing.
 */
export const overwriteOf =
  (version: ApiVersion) =>
  (sent: EventInput, index: number): EventChange => {
    const { metadata = {}, sentMetadata = null } = metadataOf(sent, `items[${index}].`);
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
      subtype: sent.subtype ?? sent.subType ?? null,
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
  /** Where the caller wrote the change, for refusals: `items[0].`. */
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
    subtype: changed(sent.subtype ?? sent.subType),
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
  const eventInput = {
    ...(metadata && { metadata }),
    ...(additionalData && { additionalData }),
  };
  const { metadata: texts = {}, sentMetadata = null } = metadataOf(eventInput, prefix);
  return { metadata: texts, sentMetadata };
}

interface LinksInput {
  readonly assetIds: ListChange<number> | undefined;
  readonly tagIds: ListChange<number | string> | undefined;
}

/**
 * Strings among the tags change the tags, numbers the links. Only 0.4 shows the links among the tags: in
 * newer versions a list of strings alone, or an empty one, leaves the links.
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

/** One event in an answer of this version. */
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
            tagIds: Type.Array(Type.String(), { description: "Tags that are strings" }),
          }),
          createdTime: Type.Integer(),
          lastUpdatedTime: Type.Integer(),
        },
        { title: "Event" },
      );

/** Makes what a client of this version is shown of an event. */
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

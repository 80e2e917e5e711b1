// The shapes of events on the wire: one record, shown as 0.4 knows it and as newer versions do (C9).
import { type Static, type TSchema, Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { changed, idField, metadataField, storable, textField } from "../../rest/fields.ts";
import type { ApiVersion } from "../../rest/route.ts";
import type { Event, EventChange, LinksChange, NewEvent } from "./events.ts";

const timeField = (description: string) =>
  Type.Integer({
    description: `${description}, in ms since 1970`,
    minimum: -limits.eventTimeMsMax,
    maximum: limits.eventTimeMsMax,
  });

const links = (description: string) =>
  Type.Array(idField("An asset"), { description, maxItems: limits.eventAssetsMax });

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
};

/** Every spelling is taken in every version. */
const spellings = {
  ...fields,
  subType: fields.subtype,
  additionalData,
  tagIds: links("As `assetIds`"),
};

const optionals = <Fields extends Record<string, TSchema>>(all: Fields) =>
  Type.Partial(Type.Object(all)).properties;

const writable = optionals(spellings);

export const newEvent = Type.Object(
  { ...writable, id: Type.Optional(Type.Unknown({ description: "Refused: the service assigns ids" })) },
  { title: "NewEvent" },
);

export const wholeEvent = Type.Object({ id: idField("Which event"), ...writable });

/** A plain id, or an object that holds it (C10). */
export const eventIds = Type.Union([idField("Which event"), Type.Object({ id: idField("Which event") })]);

const setter = <Value extends TSchema>(value: Value) =>
  Type.Object({ set: Type.Optional(value), setNull: Type.Optional(Type.Boolean()) });

const linksSetter = Type.Object({
  set: Type.Optional(fields.assetIds),
  add: Type.Optional(fields.assetIds),
  remove: Type.Optional(fields.assetIds),
  setNull: Type.Optional(Type.Boolean()),
});

/** `{"set":value}` or `{"setNull":true}` a member; `subtype` in both spellings of the clients (C11). */
const changes = optionals({
  startTime: setter(fields.startTime),
  endTime: setter(fields.endTime),
  description: setter(fields.description),
  type: setter(fields.type),
  subtype: setter(fields.subtype),
  subType: setter(fields.subtype),
  metadata: setter(fields.metadata),
  additionalData: setter(additionalData),
  assetIds: linksSetter,
  tagIds: linksSetter,
  source: setter(fields.source),
  sourceId: setter(fields.sourceId),
  eventTransformerId: setter(fields.eventTransformerId),
  eventReferenceKey: setter(fields.eventReferenceKey),
});

export const eventChange = Type.Object({ id: Type.Optional(idField("Which event")), ...changes });
export const identifiedChange = Type.Object({ id: idField("Which event"), ...changes });

const closed = <Schema extends { properties: Record<string, TSchema> }>({ properties }: Schema) =>
  Type.Object(properties as Schema["properties"], { additionalProperties: false });

const patchable = Object.fromEntries(
  Object.entries(spellings).map(([name, value]) => {
    const change = name === "assetIds" || name === "tagIds" ? linksSetter : setter(value);
    return [name, Type.Union([value, closed(change)])];
  }),
);

/** As a change, or plainly the new values. */
export const eventPatch = Type.Object({
  id: Type.Optional(idField("Which event")),
  ...optionals(patchable),
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

type Sent = Static<typeof wholeEvent>;

/** Both spellings of metadata as texts, and besides as sent where not all values are texts. */
function metadataOf(
  { metadata, additionalData }: Pick<Sent, "metadata" | "additionalData">,
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
  const {
    id,
    assetIds,
    tagIds,
    subType,
    eventTransformerId,
    eventReferenceKey,
    additionalData: _,
    ...rest
  } = sent;
  if (id !== undefined)
    throw fail("field-invalid", {
      field: `items[${index}].id`,
      expected: "none, as the service assigns ids,",
      got: JSON.stringify(id),
    });
  const { metadata = {}, sentMetadata } = metadataOf(sent, `items[${index}].`);
  const subtype = rest.subtype ?? subType;
  return {
    ...rest,
    ...(subtype !== undefined && { subtype }),
    metadata,
    ...(sentMetadata && { sentMetadata }),
    assetIds: [...new Set(assetIds ?? tagIds)],
    ...(eventTransformerId !== undefined && { transformerId: eventTransformerId }),
    ...(eventReferenceKey !== undefined && { referenceKey: eventReferenceKey }),
  };
}

/**
 * All members that the version has are overwritten. Those that only the other shape has stay when they are
 * not sent: its clients cannot know them.
 */
export const overwriteIn =
  (version: ApiVersion) =>
  (sent: Sent, index: number): EventChange => {
    const { metadata = {}, sentMetadata = null } = metadataOf(sent, `items[${index}].`);
    const [ofOld, ofNew] = version === "0.4" ? [null, undefined] : [undefined, null];
    return {
      id: sent.id,
      startTime: sent.startTime ?? null,
      endTime: sent.endTime ?? null,
      description: sent.description ?? null,
      type: sent.type ?? null,
      subtype: sent.subtype ?? sent.subType ?? null,
      ...{ metadata, sentMetadata },
      assetIds: { set: sent.assetIds ?? sent.tagIds ?? [] },
      source: sent.source ?? ofNew,
      sourceId: sent.sourceId ?? ofNew,
      transformerId: sent.eventTransformerId ?? ofOld,
      referenceKey: sent.eventReferenceKey ?? ofOld,
    };
  };

export function changeOf(id: number, sent: Static<typeof eventChange>, prefix: string): EventChange {
  return {
    id,
    startTime: changed(sent.startTime),
    endTime: changed(sent.endTime),
    description: changed(sent.description),
    type: changed(sent.type),
    subtype: changed(sent.subtype ?? sent.subType),
    ...metadataChange(sent, prefix),
    assetIds: linksChange(sent.assetIds ?? sent.tagIds),
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
  const wanted = {
    ...(metadata && { metadata }),
    ...(additionalData && { additionalData }),
  };
  const { metadata: texts = {}, sentMetadata = null } = metadataOf(wanted, prefix);
  return { metadata: texts, sentMetadata };
}

const linksChange = (sent: Static<typeof linksSetter> | undefined): LinksChange | undefined =>
  sent && (sent.setNull ? { set: [] } : { set: sent.set, add: sent.add, remove: sent.remove });

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
  }),
};

/** One event in an answer of this version. */
export const eventShape = (version: ApiVersion) =>
  version === "0.4"
    ? Type.Object({ ...outOld, additionalData, tagIds: Type.Array(Type.Integer()) }, { title: "Event" })
    : Type.Object(
        {
          ...outOld,
          metadata: metadataField("Empty when there is none"),
          assetIds: Type.Array(Type.Integer()),
          ...optionals({ source: Type.String(), sourceId: Type.String() }),
          createdTime: Type.Integer(),
          lastUpdatedTime: Type.Integer(),
        },
        { title: "Event" },
      );

/** Makes what a client of this version is shown of an event. */
export const eventIn =
  (version: ApiVersion) =>
  ({ id, startTime, endTime, description, type, subtype, assetIds, metadata, ...event }: Event) => ({
    ...{ id, startTime, endTime, description, type, subtype },
    ...(version === "0.4"
      ? { additionalData: event.sentMetadata ?? metadata, tagIds: assetIds }
      : {
          ...{ metadata, assetIds },
          source: event.source,
          sourceId: event.sourceId,
          createdTime: event.createdTime,
          lastUpdatedTime: event.lastUpdatedTime,
        }),
    eventTransformerId: event.transformerId,
    eventReferenceKey: event.referenceKey,
  });

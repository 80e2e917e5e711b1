// The tables of events, event transformers and semantic types: columns and indexes.
import { limits } from "../../limits.ts";
import type { Stored, Table, TableColumn } from "../../storage/catalog.ts";
import { type CommonFields, commonColumns } from "../common/schema.ts";

/** A phrase, and the id of the semantic type that is its meaning. */
export interface SemanticPhrase {
  readonly text: string;
  readonly semanticTypeId: number;
}

/** Something that happened in a plant. Times are in ms. */
export interface Event extends Stored, CommonFields {
  readonly startTime?: number;
  readonly endTime?: number;
  readonly description?: string;
  readonly type?: string;
  readonly subtype?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The metadata as sent, if not all values are strings; `metadata` holds such values as JSON. */
  readonly sentMetadata?: Readonly<Record<string, unknown>>;
  /** The ids of linked assets, without duplicates. */
  readonly assetIds: readonly number[];
  /** Without duplicates; absent if there is none. */
  readonly tags?: readonly string[];
  readonly semanticPhrases?: readonly SemanticPhrase[];
  /** `source` and `sourceId` together are unique in the project. */
  readonly source?: string;
  readonly sourceId?: string;
  /** The event transformer that created the event, and its key of the event. */
  readonly transformerId?: number;
  readonly referenceKey?: string;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

/** An event with the columns of the list's order: events without a start come last in both directions. */
export interface EventRow extends Event {
  readonly startOrLast: number;
  readonly startOrFirst: number;
}

export const rowOf = (event: Event): EventRow => ({
  ...event,
  startOrLast: event.startTime ?? limits.eventTimeMsMax + 1,
  startOrFirst: event.startTime ?? -limits.eventTimeMsMax - 1,
});

export const eventOf = ({ startOrLast: _, startOrFirst: __, ...event }: EventRow): Event => event;

const required = (type: TableColumn["type"]): TableColumn => ({ type, optional: false });
const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

export const eventTable: Table<EventRow> = {
  name: "events",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    startTime: optional("integer"),
    endTime: optional("integer"),
    description: optional("text"),
    type: optional("text"),
    subtype: optional("text"),
    metadata: required("json"),
    sentMetadata: optional("json"),
    assetIds: required("json"),
    tags: optional("json"),
    semanticPhrases: optional("json"),
    ...commonColumns,
    source: optional("text"),
    sourceId: optional("text"),
    transformerId: optional("integer"),
    referenceKey: optional("text"),
    createdTime: required("integer"),
    lastUpdatedTime: required("integer"),
    startOrLast: required("integer"),
    startOrFirst: required("integer"),
  },
  indexes: [
    ["startOrLast", "id"],
    ["startOrFirst", "id"],
    ["type", "startOrLast", "id"],
    ["transformerId", "referenceKey"],
  ],
  unique: [["source", "sourceId"], ["externalId"]],
  wordsOf: ["description"],
  links: [{ column: "assetIds", to: "assets", onDelete: "clear" }],
};

/** A record of an event transformer or a semantic type. */
export interface EventNamedType extends Stored {
  readonly name: string;
  readonly description?: string;
}

const namedTypeTable = (name: string): Table<EventNamedType> => ({
  name,
  belongsTo: "project",
  columns: { id: required("integer"), name: required("text"), description: optional("text") },
  indexes: [],
  unique: [],
  wordsOf: [],
});

/** Processes that create events from raw data. */
export const eventTransformerTable = namedTypeTable("event_transformers");

/** Meanings of phrases. */
export const semanticTypeTable = namedTypeTable("semantic_types");

// What events, event transformers and semantic types ask of the catalog: columns, and what is found fast.
import { limits } from "../../limits.ts";
import type { Column, Stored, Table } from "../../storage/catalog.ts";
import { type CommonFields, commonColumns } from "../common/schema.ts";

/** A text and the id of the semantic type that says what it means. */
export interface SemanticPhrase {
  readonly text: string;
  readonly semanticTypeId: number;
}

/** Something that happened to a plant. Times are in ms. */
export interface Event extends Stored, CommonFields {
  readonly startTime?: number;
  readonly endTime?: number;
  readonly description?: string;
  readonly type?: string;
  readonly subtype?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The metadata as sent, where not all of its values are texts; those are JSON in `metadata`. */
  readonly sentMetadata?: Readonly<Record<string, unknown>>;
  /** The assets it hangs on, each once. */
  readonly assetIds: readonly number[];
  /** Each once; absent when there is none. */
  readonly tags?: readonly string[];
  readonly semanticPhrases?: readonly SemanticPhrase[];
  /** Unique in the project together with `sourceId`. */
  readonly source?: string;
  readonly sourceId?: string;
  /** The event transformer that made it, and what that calls it. */
  readonly transformerId?: number;
  readonly referenceKey?: string;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

/** An event with its place in time: an unknown start comes last in the list, whichever way that runs. */
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

const required = (type: Column["type"]): Column => ({ type, optional: false });
const optional = (type: Column["type"]): Column => ({ type, optional: true });

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

/** An event transformer or a semantic type: a name and a description. */
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

/** Processes that make events of raw data. */
export const eventTransformerTable = namedTypeTable("event_transformers");

/** Meanings of pieces of data. */
export const semanticTypeTable = namedTypeTable("semantic_types");

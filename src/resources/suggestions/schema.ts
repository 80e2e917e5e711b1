// The table of suggestions.
import type { Stored, Table, TableColumn } from "../../storage/catalog.ts";

export const suggestionStates = ["OPEN", "ACCEPTED", "REJECTED"] as const;
export type SuggestionState = (typeof suggestionStates)[number];

/** A rectangle as fractions of the width and height of a page, from its upper left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A possible link of a series, or of a tag in a drawing, to an asset. */
export interface Suggestion extends Stored {
  /** Either the series or the file is present. */
  readonly seriesId?: number;
  readonly fileId?: number;
  /** The page of the drawing, from 1, and the place of the tag on it; absent for a series. */
  readonly page?: number;
  readonly box?: Box;
  readonly assetId: number;
  /** The text that was compared with the name of the asset. */
  readonly tag: string;
  /** As in tag matching: 0 is the best. */
  readonly score: number;
  readonly state: SuggestionState;
  readonly createdTime: number;
  /** When it was accepted or rejected, or its score changed. */
  readonly lastUpdatedTime: number;
}

const required = (type: TableColumn["type"]): TableColumn => ({ type, optional: false });
const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

export const suggestionTable: Table<Suggestion> = {
  name: "suggestions",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    seriesId: optional("integer"),
    fileId: optional("integer"),
    page: optional("integer"),
    box: optional("json"),
    assetId: required("integer"),
    tag: required("text"),
    score: required("integer"),
    state: required("text"),
    createdTime: required("integer"),
    lastUpdatedTime: required("integer"),
  },
  indexes: [["assetId"], ["fileId"], ["state"]],
  unique: [["seriesId", "assetId"]],
  wordsOf: [],
  links: [
    { column: "assetId", to: "assets", onDelete: "remove" },
    { column: "seriesId", to: "time_series", onDelete: "remove" },
    { column: "fileId", to: "files", onDelete: "remove" },
  ],
};

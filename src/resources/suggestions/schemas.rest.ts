// JSON schemas of suggestions.
import { type Static, Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { cursorParameter } from "../../rest/envelope.ts";
import { bulk, idField, itemsBody, json, textField } from "../../rest/fields.ts";
import { integer, oneOfWords, pageSize } from "../../rest/parameters.ts";
import { type Suggestion, suggestionStates } from "./schema.ts";
import type { NewSuggestion } from "./suggestions.ts";

const fraction = (description: string) => Type.Number({ description, minimum: 0, maximum: 1 });

const box = Type.Object(
  {
    x: fraction("The left edge"),
    y: fraction("The upper edge"),
    width: fraction("The width; the box ends at the right edge of the page at most"),
    height: fraction("The height; the box ends at the lower edge of the page at most"),
  },
  { title: "Box", description: "The place of the tag, as fractions of the width and height of the page" },
);

const members = {
  seriesId: Type.Optional(idField("The series; absent for a tag in a drawing")),
  fileId: Type.Optional(idField("The file with the drawing; absent for a series")),
  page: Type.Optional(
    Type.Integer({
      description: "The page of the drawing, from 1; with `fileId`",
      minimum: 1,
      maximum: limits.drawingPagesMax,
    }),
  ),
  box: Type.Optional(box),
  assetId: idField("The asset to which it would be linked"),
  tag: textField("The text that was compared with the name of the asset", {
    min: 1,
    max: limits.nameLengthMax,
  }),
  score: Type.Integer({
    description:
      "Letters to change, add or take away, case, separators and leading zeros aside; 0 is the best",
    minimum: 0,
    maximum: limits.nameLengthMax,
  }),
};

const state = Type.Enum([...suggestionStates], { description: "Whether it was accepted or rejected" });

const newSuggestion = Type.Object({ ...members, state: Type.Optional(state) }, { title: "NewSuggestion" });

export const newSuggestions = json(itemsBody(newSuggestion, { min: 1 }), bulk);

export const suggestionSchema = Type.Object(
  {
    id: Type.Integer(),
    ...members,
    state,
    createdTime: Type.Integer(),
    lastUpdatedTime: Type.Integer({
      description: "When it was accepted or rejected, or its score or place changed",
    }),
  },
  { title: "Suggestion" },
);

export const listQuery = {
  state: oneOfWords("Suggestions in this state", suggestionStates),
  kind: oneOfWords("Suggestions for series, or for tags in drawings", ["TIMESERIES", "FILE"] as const),
  seriesId: integer("Suggestions for this series", { min: 1 }),
  fileId: integer("Suggestions for tags in this drawing", { min: 1 }),
  assetId: integer("Suggestions of this asset", { min: 1 }),
  scoreMax: integer("Suggestions with this score or a better, lower one", { min: 0 }),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

const scoreMax = Type.Optional(
  Type.Integer({
    description: "The greatest score of a suggestion; default 1",
    minimum: 0,
    maximum: limits.tagEditsMax,
  }),
);

export const seriesToMatch = json(
  Type.Object({
    scoreMax,
    candidatesMax: Type.Optional(
      Type.Integer({
        description: "The most suggestions for a series, the best ones; default 3",
        minimum: 1,
        maximum: limits.suggestionCandidatesMax,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        description: "How many series the request compares; default the maximum",
        minimum: 1,
        maximum: limits.suggestionSeriesMax,
      }),
    ),
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the response before" })),
  }),
);

export const seriesMatched = Type.Object({
  examined: Type.Integer({ description: "The series without an asset that were compared" }),
  proposed: Type.Integer({ description: "The new suggestions" }),
  nextCursor: Type.Optional(Type.String({ description: "Where the next request continues" })),
});

export const drawingToMatch = json(
  Type.Object({
    fileId: idField("The file with the drawing: SVG, or PDF with text"),
    scoreMax: Type.Optional(
      Type.Integer({
        description: "The greatest score of a suggestion; default 0",
        minimum: 0,
        maximum: limits.tagEditsMax,
      }),
    ),
  }),
);

export const drawingMatched = Type.Object({
  examined: Type.Integer({ description: "The strings in the drawing that may be tags" }),
  matched: Type.Integer({ description: "The places that have a suggestion now, open or accepted" }),
  proposed: Type.Integer({ description: "The new open suggestions" }),
});

export function newSuggestionOf(sent: Static<typeof newSuggestion>, index: number): NewSuggestion {
  const { seriesId, fileId, page, box } = sent;
  const refused = (member: string, expected: string, got: unknown) =>
    fail("field-invalid", { field: `items[${index}].${member}`, expected, got: JSON.stringify(got) });
  if ((seriesId === undefined) === (fileId === undefined))
    throw refused("seriesId", "either seriesId or fileId", seriesId ?? null);
  if (fileId === undefined && (page ?? box) !== undefined)
    throw refused(page === undefined ? "box" : "page", "none without fileId", page ?? box);
  if (fileId !== undefined && page === undefined) throw refused("page", "a page of the file", null);
  if (fileId !== undefined && box === undefined) throw refused("box", "a place on the page", null);
  if (box && box.x + box.width > 1 + rounding) throw refused("box.width", "at most 1 - x", box.width);
  if (box && box.y + box.height > 1 + rounding) throw refused("box.height", "at most 1 - y", box.height);
  return {
    ...(seriesId !== undefined && { seriesId }),
    ...(fileId !== undefined && { fileId, page: page!, box: box! }),
    assetId: sent.assetId,
    tag: sent.tag,
    score: sent.score,
    state: sent.state ?? "OPEN",
  };
}

/** Of sums of fractions. */
const rounding = 1e-9;

export const suggestionJson = (found: Suggestion) => ({
  id: found.id,
  seriesId: found.seriesId,
  fileId: found.fileId,
  page: found.page,
  box: found.box,
  assetId: found.assetId,
  tag: found.tag,
  score: found.score,
  state: found.state,
  createdTime: found.createdTime,
  lastUpdatedTime: found.lastUpdatedTime,
});

// Refusals of suggestions. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const suggestionFailures = {
  "suggestion-exists": entry<Record<string, never>>({
    status: 409,
    when: "A series and an asset have a suggestion already, or the request creates theirs twice.",
    message: () => "A series and an asset have one suggestion at most; list it with seriesId and assetId",
  }),
  "suggestion-series-linked": entry<{ readonly name: string; readonly assetId: number }>({
    status: 409,
    when: "A suggestion is accepted for a series that is linked to another asset.",
    message: ({ name, assetId }) =>
      `The series ${name} is linked to the asset ${assetId}; clear its assetId first`,
  }),
  "suggestion-series-twice": entry<{ readonly name: string }>({
    status: 400,
    when: "A request accepts two suggestions for one series, which is linked to one asset at most.",
    message: ({ name }) => `items has more than one suggestion for the series ${name}; accept one`,
  }),
  "drawing-format": entry<{ readonly name: string; readonly contentType?: string | undefined }>({
    status: 400,
    when: "A search for tags names a file that is neither SVG nor PDF, by its content type and its name.",
    message: ({ name, contentType = "no content type" }) =>
      `${name} is neither SVG nor PDF: it has ${contentType} and another ending than .svg and .pdf`,
  }),
  "drawing-too-large": entry<{ readonly name: string; readonly bytes: number; readonly limit: number }>({
    status: 413,
    when: "Tags are looked for in a drawing with more bytes than the limit.",
    message: ({ name, bytes, limit }) => `${name} has ${bytes} bytes; a drawing has at most ${limit}`,
  }),
  "drawing-unreadable": entry<{ readonly name: string; readonly problem: string }>({
    status: 400,
    when: "A drawing is damaged or needs a password, or reading it goes beyond a bound.",
    message: ({ name, problem }) => `${name} cannot be read as a drawing: ${problem}`,
  }),
  "drawing-changed": entry<{ readonly name: string }>({
    status: 409,
    when: "The bytes of a drawing were replaced while tags were looked for in it.",
    message: ({ name }) => `${name} was replaced meanwhile; try again`,
  }),
} as const;

// Refusals of suggestions. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

export const suggestionFailures = {
  "suggestion-exists": entry<Record<string, never>>({
    status: 409,
    when: "A suggestion is created for a series and an asset that have one, or twice in one request.",
    message: () => "A series and an asset have one suggestion at most; list it with seriesId and assetId",
  }),
  "suggestion-series-linked": entry<{ readonly name: string; readonly assetId: number }>({
    status: 409,
    when: "A suggestion is accepted for a series that is linked to another asset.",
    message: ({ name, assetId }) =>
      `The series ${name} is linked to the asset ${assetId}; clear its assetId first`,
  }),
  "suggestion-series-twice": entry<{ readonly seriesId: number }>({
    status: 400,
    when: "A request accepts two suggestions for one series, which is linked to one asset at most.",
    message: ({ seriesId }) => `items has more than one suggestion for the series ${seriesId}; accept one`,
  }),
} as const;

// Limits of suggestions.
import { limit } from "./limit.ts";

export const suggestionsLimits = {
  suggestionSeriesMax: limit(
    1_000,
    "series",
    "Series that one request compares with the names of assets. The next request continues at the cursor.",
  ),
  suggestionCandidatesMax: limit(
    10,
    "suggestions",
    "Assets that a request suggests for one series. A larger number is refused.",
  ),
  suggestionTagsPerNameMax: limit(
    3,
    "tags",
    "Parts of the name of a series that are compared beside the whole name: the last ones.",
  ),
  suggestionNamesMax: limit(
    20,
    "names",
    "Nearest names of assets that are looked at for one tag. Other assets are no candidates.",
  ),
  drawingPagesMax: limit(
    100,
    "pages",
    "Pages of a drawing in which tags are found. Later pages are left out.",
  ),
} as const;

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
  drawingBytesMax: limit(
    20 * 2 ** 20,
    "bytes",
    "A drawing in which tags are found. A larger one is refused.",
  ),
  drawingsAtOnce: limit(2, "drawings", "Drawings that are read at the same time, each in a process."),
  drawingMsMax: limit(
    20_000,
    "ms",
    "Time of reading a drawing, of the clock and of the processor. Then it fails.",
  ),
  drawingMemoryBytesMax: limit(512 * 2 ** 20, "bytes", "Memory of the process that reads a drawing."),
  drawingHeapBytesMax: limit(256 * 2 ** 20, "bytes", "The part of it for JavaScript."),
  drawingReplyBytesMax: limit(8 * 2 ** 20, "bytes", "The strings of a drawing with their places, as JSON."),
  drawingTextsMax: limit(50_000, "strings", "Strings in a drawing. One with more is refused."),
  drawingTextLength: limit(1_000, "characters", "Characters of a string in a drawing. A longer one is cut."),
  drawingTagsMax: limit(5_000, "strings", "Strings in a drawing that may be tags. One with more is refused."),
  drawingDepthMax: limit(200, "elements", "Elements of an SVG inside of each other."),
  drawingNeighboursMax: limit(
    1_000,
    "strings",
    "Numbers near the letters of an instrument that are compared with their place.",
  ),
  drawingPagesMax: limit(
    100,
    "pages",
    "Pages of a drawing in which tags are found. Later pages are left out.",
  ),
} as const;

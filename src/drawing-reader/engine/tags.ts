// The strings of a drawing that may be tags: whole strings and words with letters and digits, and the letters
// of an instrument bubble with the number below them.
import { limits } from "../../limits.ts";
import type { DrawingTag } from "../drawing-reader.ts";
import type { PlacedText } from "./places.ts";

const isTag = (text: string): boolean =>
  text.length <= limits.nameLengthMax && /\p{L}/u.test(text) && /\p{N}/u.test(text);

export function tagsIn(texts: readonly PlacedText[]): DrawingTag[] {
  const whole = texts.flatMap(({ text, ...place }) => (isTag(text) ? [{ ...place, tag: text }] : []));
  return [...whole, ...texts.flatMap(wordsOf), ...bubbles(texts)];
}

/** The words of a longer string, each with its share of the width or, of an upright string, the height. */
function wordsOf({ text, ...place }: PlacedText): DrawingTag[] {
  if (!text.includes(" ")) return [];
  const isUpright = place.height > place.width;
  return [...text.matchAll(/\S+/g)].flatMap(({ 0: tag, index }) => {
    if (!isTag(tag)) return [];
    const [from, share] = [index / text.length, tag.length / text.length];
    return isUpright
      ? [{ ...place, tag, y: place.y + place.height * (1 - from - share), height: place.height * share }]
      : [{ ...place, tag, x: place.x + place.width * from, width: place.width * share }];
  });
}

/** `TC` above `1103` is `TC-1103`. */
function bubbles(texts: readonly PlacedText[]): DrawingTag[] {
  const numbers = texts.filter(({ text }) => /^\d{1,6}[A-Z]?$/.test(text));
  const columns = Map.groupBy(numbers, ({ page, x, width }) => `${page} ${columnOf(x + width / 2)}`);
  return texts.flatMap((upper) => {
    if (!/^[A-Z]{1,5}$/.test(upper.text)) return [];
    const middle = columnOf(upper.x + upper.width / 2);
    const near = [-1, 0, 1].flatMap((by) => columns.get(`${upper.page} ${middle + by}`) ?? []);
    const below = near.slice(0, limits.drawingNeighboursMax).find((lower) => isBelow(upper, lower));
    if (!below) return [];
    const [x, y] = [Math.min(upper.x, below.x), upper.y];
    const right = Math.max(upper.x + upper.width, below.x + below.width);
    const bottom = below.y + below.height;
    const tag = `${upper.text}-${below.text}`;
    return [{ page: upper.page, tag, x, y, width: right - x, height: bottom - y }];
  });
}

/** Columns as wide as a small bubble. */
const columnOf = (x: number): number => Math.floor(x * 100);

function isBelow(upper: PlacedText, lower: PlacedText): boolean {
  const apart = Math.abs(upper.x + upper.width / 2 - lower.x - lower.width / 2);
  const gap = lower.y - upper.y;
  return apart < Math.max(upper.width, lower.width) / 2 && gap > 0 && gap < 1.8 * upper.height;
}

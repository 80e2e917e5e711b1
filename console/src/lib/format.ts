// Numbers as text for people.

const significantDigits = 6;

/** A count with thin spaces between groups of three digits. */
export const countText = (count: number): string => numberText(Math.round(count));

/** A value with at most six significant digits: `12.3457`, `1.2e+9`. */
function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15)
    return value.toLocaleString("en-US").replaceAll(",", "\u202f");
  return String(Number(value.toPrecision(significantDigits)));
}

// The numbers that nearly all lines have: up to nine digits without an exponent.
const code = (character: string): number => character.charCodeAt(0);
const [minus, dot, zero, smallI, smallU] = [code("-"), code("."), code("0"), code("i"), code("u")];

const powersOfTen = Float64Array.from({ length: 10 }, (_, exponent) => 10 ** exponent);
/** More digits could exceed 32 bits. */
const digitsMax = 9;

/**
 * Reads a number of up to nine digits, with or without a point among them, into `values[index]`: `-1.5`, `3`,
 * `3i`, `3u`. One integer collects the digits, and its quotient by an exact power of ten is rounded only
 * once. Returns the index after the number, or -1 if the value has another form.
 */
export function scanPlainNumber(bytes: Buffer, from: number, values: Float64Array, index: number): number {
  const first = bytes[from] === minus ? from + 1 : from;
  let at = first;
  let sum = 0;
  let digit = bytes[at]! ^ zero;
  for (; digit <= 9; digit = bytes[++at]! ^ zero) sum = (Math.imul(sum, 10) + digit) | 0;
  const whole = at - first;
  let decimals = 0;
  if (bytes[at] === dot) {
    digit = bytes[++at]! ^ zero;
    for (; digit <= 9; digit = bytes[++at]! ^ zero) sum = (Math.imul(sum, 10) + digit) | 0;
    decimals = at - first - whole - 1;
  }
  const digits = whole + decimals;
  if (digits === 0 || digits > digitsMax) return -1;
  const size = decimals === 0 ? sum : sum / powersOfTen[decimals]!;
  const value = first === from ? size : -size;
  const isWhole = at === first + whole;
  const isInteger = isWhole && (bytes[at] === smallI || (bytes[at] === smallU && first === from));
  // An integer has no negative zero.
  values[index] = isInteger ? value + 0 : value;
  return isInteger ? at + 1 : at;
}

// Places of strings on a page: matrices as in SVG and PDF, and boxes as fractions of the page.

/** A string with its box, in fractions of the page from its upper left corner. */
export interface PlacedText {
  readonly page: number;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** x' = a x + c y + e, y' = b x + d y + f. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** The matrix that applies `inner` first. */
export const product = ([a, b, c, d, e, f]: Matrix, inner: Matrix): Matrix => [
  a * inner[0] + c * inner[1],
  b * inner[0] + d * inner[1],
  a * inner[2] + c * inner[3],
  b * inner[2] + d * inner[3],
  a * inner[4] + c * inner[5] + e,
  b * inner[4] + d * inner[5] + f,
];

const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** The matrix of a `transform` of SVG; a function that it does not know changes nothing. */
export function transformOf(text: string): Matrix {
  let matrix = identity;
  for (const [, name, list] of text.matchAll(/(\w+)\s*\(([^)]*)\)/g)) {
    const values = list!
      .trim()
      .split(/[\s,]+/)
      .map(Number);
    if (values.every(Number.isFinite)) matrix = product(matrix, oneTransform(name!, values));
  }
  return matrix;
}

function oneTransform(name: string, values: readonly number[]): Matrix {
  const [one = 0, two] = values;
  const angle = (one * Math.PI) / 180;
  switch (name) {
    case "matrix":
      return values.length === 6 ? (values as unknown as Matrix) : identity;
    case "translate":
      return [1, 0, 0, 1, one, two ?? 0];
    case "scale":
      return [one, 0, 0, two ?? one, 0, 0];
    case "rotate": {
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const [, x = 0, y = 0] = values;
      return product([1, 0, 0, 1, x, y], product([cos, sin, -sin, cos, 0, 0], [1, 0, 0, 1, -x, -y]));
    }
    case "skewX":
      return [1, 0, Math.tan(angle), 1, 0, 0];
    case "skewY":
      return [1, Math.tan(angle), 0, 1, 0, 0];
    default:
      return identity;
  }
}

interface Corners {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The smallest upright box around the rectangle after the matrix, within the page. */
export function boxOf([a, b, c, d, e, f]: Matrix, { left, top, right, bottom }: Corners) {
  const points = [
    [left, top],
    [right, top],
    [left, bottom],
    [right, bottom],
  ].map(([x, y]) => [a * x! + c * y! + e, b * x! + d * y! + f] as const);
  const [xs, ys] = [points.map(([x]) => within(x)), points.map(([, y]) => within(y))];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: rounded(Math.max(...xs) - x), height: rounded(Math.max(...ys) - y) };
}

const rounded = (value: number) => Math.round(value * 1e5) / 1e5;
const within = (value: number) => rounded(Math.min(1, Math.max(0, Number.isFinite(value) ? value : 0)));

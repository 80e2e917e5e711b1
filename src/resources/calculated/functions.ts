// Defines the functions of calculated series: names, numbers of arguments, and the operation on columns.

/** NaN is "no value". Functions do not change their arguments, and return a new column. */
export type NumberColumn = Float64Array;

interface FunctionRule {
  readonly least: number;
  readonly most: number;
  readonly apply: (columns: readonly [NumberColumn, ...NumberColumn[]]) => NumberColumn;
}

const each = (operation: (value: number) => number): FunctionRule => ({
  least: 1,
  most: 1,
  apply: ([column]) => column.map(operation),
});

const pair = (operation: (a: number, b: number) => number): FunctionRule => ({
  least: 2,
  most: 2,
  apply: ([a, b]) => a.map((value, i) => operation(value, b![i]!)),
});

/** A condition on two values: 1, 0, or NaN (unknown) if either has no value. */
const comparison = (holds: (a: number, b: number) => boolean): FunctionRule =>
  pair((a, b) => (Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : Number(holds(a, b))));

/** Combines all arguments from left to right. */
const fold = (operation: (a: number, b: number) => number): FunctionRule => ({
  least: 1,
  most: Number.POSITIVE_INFINITY,
  apply: ([first, ...rest]) => {
    const folded = first.slice();
    for (const column of rest)
      for (let i = 0; i < folded.length; i += 1) folded[i] = operation(folded[i]!, column[i]!);
    return folded;
  },
});

/** An operation whose second argument is optional. */
const pairOr = (operation: (a: number, b: number) => number, otherwise: number): FunctionRule => ({
  least: 1,
  most: 2,
  apply: ([a, b]) => a.map((value, i) => operation(value, b ? b[i]! : otherwise)),
});

const add = (a: number, b: number) => a + b;

/** Without the test, the logarithm of any value to the base 0 would be 0: a division by infinity. */
function logarithm(value: number, base: number): number {
  if (base === 10) return Math.log10(value);
  return base > 0 ? Math.log(value) / Math.log(base) : Number.NaN;
}

/** Rounds half away from zero, to this number of decimal places. */
function roundTo(value: number, digits: number): number {
  const scale = 10 ** digits;
  const scaled = Math.abs(value) * scale;
  // Beyond 2^52 a double has no digits left to round.
  return scaled < 2 ** 52 ? (Math.sign(value) * Math.round(scaled)) / scale : value;
}

const average: FunctionRule = {
  ...fold(add),
  apply: (columns) =>
    fold(add)
      .apply(columns)
      .map((sum) => sum / columns.length),
};

/** Arguments: a condition and its value, repeatedly, then the value if no condition holds. */
const choice: FunctionRule = {
  least: 3,
  most: Number.POSITIVE_INFINITY,
  apply: (columns) => {
    const chosen = columns.at(-1)!.slice();
    for (let at = columns.length - 3; at >= 0; at -= 2) {
      const [condition, value] = [columns[at]!, columns[at + 1]!];
      for (let i = 0; i < chosen.length; i += 1) if (condition[i] === 1) chosen[i] = value[i]!;
    }
    return chosen;
  },
};

/**
 * All functions by name, in lower case (docs/calculated.md#the-language). Operators have their signs as
 * names; minus with one argument is `negate`.
 */
export const functions = {
  "+": pair(add),
  "-": pair((a, b) => a - b),
  "*": pair((a, b) => a * b),
  "/": pair((a, b) => a / b),
  "%": pair((a, b) => a % b),
  "=": comparison((a, b) => a === b),
  "<>": comparison((a, b) => a !== b),
  "<": comparison((a, b) => a < b),
  "<=": comparison((a, b) => a <= b),
  ">": comparison((a, b) => a > b),
  ">=": comparison((a, b) => a >= b),
  and: pair((a, b) => (a === 0 || b === 0 ? 0 : a * b)),
  or: pair((a, b) => (a === 1 || b === 1 ? 1 : a + b)),
  not: each((value) => 1 - value),
  case: choice,
  negate: each((value) => -value),
  abs: each(Math.abs),
  avg: average,
  ceil: each(Math.ceil),
  cos: each(Math.cos),
  exp: each(Math.exp),
  floor: each(Math.floor),
  ln: each(Math.log),
  log: pairOr(logarithm, 10),
  max: fold(Math.max),
  min: fold(Math.min),
  mod: pair((a, b) => a % b),
  pow: pair(Math.pow),
  round: pairOr(roundTo, 0),
  sign: each(Math.sign),
  sin: each(Math.sin),
  sqrt: each(Math.sqrt),
  sum: fold(add),
} as const satisfies Readonly<Record<string, FunctionRule>>;

export type FunctionName = keyof typeof functions;

const operators: ReadonlySet<string> = new Set([
  ...["+", "-", "*", "/", "%", "negate"],
  ...["=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "case"],
]);

/** Whether a function is written as an operator or a keyword, and not as `name(...)`. */
export const isOperator = (name: string): boolean => operators.has(name);

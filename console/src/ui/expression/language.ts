// The functions of the expression language (docs/calculated.md), and the word or series at a caret.

export interface Suggestion {
  /** Replaces the typed beginning. */
  readonly text: string;
  readonly label: string;
  readonly hint: string;
  /** The series that the suggestion names, which becomes an alias. */
  readonly series?: { readonly name: string; readonly id: number };
}

const functionHints: Readonly<Record<string, string>> = {
  abs: "without its sign",
  avg: "average of a series with a granularity, or of several arguments",
  ceil: "rounded up",
  cos: "cosine",
  exp: "e to the power of the argument",
  floor: "rounded down",
  ln: "natural logarithm",
  log: "logarithm to base 10, or to the second argument",
  max: "largest",
  min: "smallest",
  mod: "remainder",
  pow: "power",
  round: "rounded, to digits after the point",
  sign: "-1, 0 or 1",
  sin: "sine",
  sqrt: "square root",
  sum: "sum",
};

const words: readonly Suggestion[] = [
  ...Object.entries(functionHints).map(([name, hint]) => ({ text: `${name}(`, label: `${name}(…)`, hint })),
  { text: "pi", label: "pi", hint: "3.14159…" },
  { text: "CASE WHEN ", label: "CASE WHEN … THEN … ELSE … END", hint: "a value that depends on a condition" },
];

export interface Typing {
  readonly kind: "series" | "word";
  /** Where the typed beginning starts. */
  readonly start: number;
  readonly beginning: string;
}

/** The token before the caret: a series after an open bracket, or a word. */
export function typingAt(text: string, caret: number): Typing | undefined {
  const before = text.slice(0, caret);
  const bracket = /\[([^[\]]*)$/.exec(before);
  if (bracket) return { kind: "series", start: bracket.index, beginning: bracket[1]! };
  const word = /[A-Za-z]\w*$/.exec(before);
  return word ? { kind: "word", start: word.index, beginning: word[0] } : undefined;
}

export const wordsFor = (beginning: string): readonly Suggestion[] =>
  words.filter(({ text }) => text.toLowerCase().startsWith(beginning.toLowerCase()));

/** Whether an expression calls a function: functions apply to aggregates, not to points. */
export const callsFunction = (text: string): boolean =>
  functionCall.test(text.replaceAll(/\[[^[\]]*\]/g, "[]"));

const functionCall = new RegExp(`\\b(?:${Object.keys(functionHints).join("|")}|power)\\s*\\(`, "i");

// Formulas in the address of the trend: `efficiency|%=100 * [out] / [in|max|1h]`. A bracket has the name of a
// series, and may have an aggregate and its granularity.

export interface FormulaText {
  readonly name: string;
  /** Empty for none. */
  readonly unit: string;
  readonly text: string;
}

/** Characters that separate the name from the unit and from the expression. */
const separators = /[|=]/g;

export const withoutSeparators = (text: string): string => text.replaceAll(separators, "");

export function formulaEntry({ name, unit, text }: FormulaText): string {
  const head = [name, ...(unit === "" ? [] : [unit])].map(withoutSeparators).join("|");
  return `${head}=${text}`;
}

/** The formulas of these entries. Entries that no formula can be, and repeated names, are left out. */
export function formulasIn(entries: readonly string[]): FormulaText[] {
  const all = entries.flatMap((entry): FormulaText[] => {
    const [, name, unit = "", text] = /^([^=|]+)(?:\|([^=|]*))?=(.*)$/s.exec(entry) ?? [];
    return name === undefined || text === undefined ? [] : [{ name, unit, text }];
  });
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}

/** A bracket of an expression. */
export interface FormulaLeaf {
  /** The text between the brackets. */
  readonly content: string;
  readonly name: string;
  readonly aggregate: string | undefined;
  readonly granularity: string | undefined;
}

const bracket = /\[([^[\]]*)\]/g;

/** The brackets of an expression, each content once. */
export function leavesIn(text: string): FormulaLeaf[] {
  const contents = new Set([...text.matchAll(bracket)].map(([, content]) => content!));
  return [...contents].map((content) => {
    const [name = "", aggregate, granularity] = content.split("|").map((part) => part.trim());
    return { content, name, aggregate: aggregate || undefined, granularity: granularity || undefined };
  });
}

interface AliasOfAggregate {
  readonly alias: string;
  readonly aggregate?: string;
  readonly granularity?: string;
}

/** Writes the aggregates of aliases into the brackets. */
export const withAggregates = (text: string, aliases: readonly AliasOfAggregate[]): string =>
  text.replaceAll(bracket, (whole, content: string) => {
    const { aggregate, granularity } = aliases.find(({ alias }) => alias === content) ?? {};
    return aggregate && granularity ? `[${content}|${aggregate}|${granularity}]` : whole;
  });

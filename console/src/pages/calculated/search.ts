// The search parameters of the page of calculated series: the whole expression, so that a link shares it.

export interface CalculatedSearch {
  readonly name?: string;
  readonly function?: string;
  /** Names of series in the expression: `in=123`, or `out=123:average:10m`. */
  readonly alias?: readonly string[];
  /** The start of the preview, such as `1d-ago`; it ends now. */
  readonly start?: string;
}

export interface Alias {
  readonly alias: string;
  readonly id: number;
  readonly aggregate?: string;
  readonly granularity?: string;
}

const text = (value: unknown): string | undefined =>
  value === undefined || value === "" ? undefined : String(value);

export function calculatedSearch(raw: Record<string, unknown>): CalculatedSearch {
  const alias = raw["alias"] === undefined ? [] : [raw["alias"]].flat().map(String);
  const search = {
    name: text(raw["name"]),
    function: text(raw["function"]),
    alias: alias.length === 0 ? undefined : alias,
    start: text(raw["start"]),
  };
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
}

const aliasPattern = /^(.+)=(\d+)(?::(\w+):(\w+))?$/;

/** Whether an address can hold the text as a granularity. The server checks the rest. */
export const isGranularity = (text: string): boolean => /^\w+$/.test(text);

export const aliasesIn = ({ alias = [] }: CalculatedSearch): Alias[] =>
  alias.flatMap((written) => {
    const [, name, id, aggregate, granularity] = aliasPattern.exec(written) ?? [];
    if (name === undefined) return [];
    return [
      { alias: name, id: Number(id), ...(aggregate && { aggregate }), ...(granularity && { granularity }) },
    ];
  });

export const aliasText = ({ alias, id, aggregate, granularity }: Alias): string =>
  aggregate && granularity ? `${alias}=${id}:${aggregate}:${granularity}` : `${alias}=${id}`;

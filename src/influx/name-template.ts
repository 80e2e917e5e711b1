// Name templates: how the name of a series, or the external id of its asset, is made from a line.
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

/** The parts of a line that identify a series. Tags are sorted by key. */
export interface LineSeries {
  readonly measurement: string;
  readonly tags: readonly (readonly [key: string, value: string])[];
  readonly field: string;
}

type Part = (series: LineSeries, db: string) => string | undefined;

/** `{measurement}`, `{tags}`, `{field}`, `{db}` and `{tag:KEY}` between any other characters. */
export class NameTemplate {
  readonly text: string;
  /** Whether the result depends on the database of the request. */
  readonly usesDb: boolean;
  readonly #parts: readonly Part[];

  /** Refuses (400) an unknown placeholder; `parameter` is the name of the template in the request. */
  constructor(text: string, parameter: string) {
    const expected = `at most ${limits.influxTemplateLengthMax} characters`;
    if (text.length > limits.influxTemplateLengthMax)
      throw fail("field-invalid", { field: parameter, expected, got: `${text.length} characters` });
    this.text = text;
    this.usesDb = text.includes("{db}");
    this.#parts = text.split(/(\{[^{}]*\})/).map((part) => partOf(part, parameter));
  }

  /** The name; undefined if the series lacks a tag that the template names. */
  nameOf(series: LineSeries, db: string): string | undefined {
    let name = "";
    for (const part of this.#parts) {
      const value = part(series, db);
      if (value === undefined) return undefined;
      name += value;
    }
    return name;
  }
}

/** `cpu.host=a.region=eu.usage_idle`. */
export const defaultSeriesTemplate = "{measurement}{tags}.{field}";

function partOf(part: string, parameter: string): Part {
  if (!part.startsWith("{")) return () => part;
  const word = part.slice(1, -1);
  if (word === "measurement") return ({ measurement }) => measurement;
  if (word === "field") return ({ field }) => field;
  if (word === "db") return (_, db) => db;
  if (word === "tags") return ({ tags }) => tags.map(([key, value]) => `.${key}=${value}`).join("");
  const key = word.startsWith("tag:") ? word.slice("tag:".length) : undefined;
  if (key) return ({ tags }) => tags.find(([one]) => one === key)?.[1];
  const expected = "the placeholders {measurement}, {tags}, {field}, {db} and {tag:KEY}";
  throw fail("field-invalid", { field: parameter, expected, got: part });
}

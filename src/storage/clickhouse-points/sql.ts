// Composes statements from constant text and integers. No string of a caller can enter a statement.
import { invariant } from "../../lib/invariant.ts";

export class Sql {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const noSql = new Sql("");

/** `` sql`SELECT v FROM points WHERE t < ${endMs}` ``: values are integers, lists of integers, or parts. */
export function sql(constants: TemplateStringsArray, ...values: readonly SqlValue[]): Sql {
  return new Sql(constants.map((text, index) => text + textOf(values[index] ?? noSql)).join(""));
}

type SqlValue = number | readonly number[] | Sql;

export function joinSql(parts: readonly Sql[], separator: Sql): Sql {
  return new Sql(parts.map(({ text }) => text).join(separator.text));
}

function textOf(value: SqlValue): string {
  if (value instanceof Sql) return value.text;
  if (typeof value !== "number") return value.map(integerText).join(",");
  return integerText(value);
}

function integerText(value: number): string {
  invariant(Number.isSafeInteger(value), "numbers in statements are integers");
  return String(value);
}

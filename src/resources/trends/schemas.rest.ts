// JSON schemas of trends, and the decoding of their definitions, which stay the JSON text that was sent.
import { type Static, Type } from "typebox";
import { fail } from "../../errors.ts";
import { JsonText } from "../../lib/json-reader.ts";
import { limits } from "../../limits.ts";
import { cursorParameter } from "../../rest/envelope.ts";
import {
  bulk,
  change,
  changed,
  changeObject,
  changeOfRequired,
  idField,
  itemsBody,
  json,
  nameField,
  textField,
} from "../../rest/fields.ts";
import { boolean, pageSize, text } from "../../rest/parameters.ts";
import type { ListedTrend, NewTrend, TrendChange } from "./trends.ts";

const name = nameField("The name, unique in the project");
const description = textField("The description");
const definition = Type.Unsafe<JsonText>({
  type: "object",
  additionalProperties: true,
  description: `Any JSON object of at most ${limits.trendDefinitionBytesMax} bytes, stored exactly as sent`,
});

const newTrend = Type.Object(
  { name, description: Type.Optional(description), definition },
  { title: "NewTrend" },
);

const trendChange = changeObject(
  {
    id: idField("Which trend"),
    name: changeOfRequired(name),
    description: change(description),
    definition: changeOfRequired(definition),
  },
  { title: "TrendChange" },
);

const some = { min: 1 };
export const newTrends = json(itemsBody(newTrend, some), { ...bulk, keptText: ["items", "definition"] });
export const trendChanges = json(itemsBody(trendChange, some), {
  ...bulk,
  keptText: ["items", "definition", "set"],
});

export const trendSchema = Type.Object(
  {
    id: Type.Integer(),
    name,
    description: Type.Optional(description),
    definition: Type.Optional(definition),
    owner: Type.String({ description: "The name of the account or user that created the trend" }),
    ownerId: Type.Optional(Type.Integer({ description: "The account; absent if a token created the trend" })),
    createdTime: Type.Integer(),
    lastUpdatedTime: Type.Integer(),
  },
  { title: "Trend" },
);

export const listQuery = {
  name: text("The trend with exactly this name"),
  query: text("Words that begin words of the name or the description"),
  owner: text("Trends that the account or user of this name created"),
  includeDefinition: boolean("Whether the response contains `definition`; default true"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

export const newTrendOf = (sent: Static<typeof newTrend>, index: number): NewTrend => ({
  name: sent.name,
  ...(sent.description !== undefined && { description: sent.description }),
  definition: definitionText(sent.definition, `items[${index}].definition`),
});

export function trendChangeOf(sent: Static<typeof trendChange>, index: number): TrendChange {
  const definition = changed(sent.definition);
  return {
    id: sent.id,
    name: changed(sent.name) ?? undefined,
    description: changed(sent.description),
    ...(definition && { definition: definitionText(definition, `items[${index}].definition.set`) }),
  };
}

function definitionText(definition: JsonText, field: string): string {
  const text = JsonText.of(definition)!;
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.trendDefinitionBytesMax)
    throw refusal(field, `at most ${limits.trendDefinitionBytesMax} bytes of JSON`, `${bytes}`);
  const inexact = numbersIn(text).find((digits) => !isExact(digits));
  if (inexact !== undefined) throw refusal(field, "numbers that JavaScript can represent", inexact);
  return text;
}

const refusal = (field: string, expected: string, got: string) =>
  fail("field-invalid", { field, expected, got: got.slice(0, 100) });

/** The digits of all numbers in a JSON text. */
const numbersIn = (text: string): readonly string[] =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? [];

/** JavaScript clients, the archive among them, would change other numbers when they copy a definition. */
const isExact = (digits: string): boolean =>
  /^-?\d+$/.test(digits) ? Number.isSafeInteger(Number(digits)) : Number.isFinite(Number(digits));

/** The JSON of a trend, with its definition exactly as it was sent. */
export function trendText({ definition, ...trend }: ListedTrend): string {
  const json = JSON.stringify({
    id: trend.id,
    name: trend.name,
    description: trend.description,
    owner: trend.owner,
    ownerId: trend.ownerId,
    createdTime: trend.createdTime,
    lastUpdatedTime: trend.lastUpdatedTime,
  });
  return definition === undefined ? json : `${json.slice(0, -1)},"definition":${definition}}`;
}

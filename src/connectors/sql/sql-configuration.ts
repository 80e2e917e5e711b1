// The part `source` of a configuration that reads a database.
import { type Static, Type } from "typebox";

const strict = { additionalProperties: false };

const querySchema = Type.Object(
  {
    name: Type.String({ minLength: 1, description: "Names the position of the query; unique in the file" }),
    sql: Type.String({ minLength: 1, description: "A SELECT without a semicolon" }),
    every: Type.Optional(Type.String({ description: "How often it runs; default 5m" })),
    incremental: Type.Optional(
      Type.Object(
        {
          column: Type.String({ description: "Grows with each new or changed row: a time or a sequence" }),
          start: Type.Optional(Type.String({ description: "The first value; default: from the beginning" })),
        },
        strict,
      ),
    ),
    rows: Type.Optional(
      Type.Object(
        {
          database: Type.String({ minLength: 1 }),
          table: Type.String({ minLength: 1 }),
          key: Type.String({
            minLength: 1,
            description: "The key of a row, from its columns: `{plant}-{id}`",
          }),
        },
        strict,
      ),
    ),
    points: Type.Optional(
      Type.Object(
        {
          series: Type.String({
            minLength: 1,
            description: "The name of the series, from the columns: `{tag}`",
          }),
          timestamp: Type.String({ description: "The column of the time: a timestamp, or ms since 1970" }),
          value: Type.String({ description: "The column of the value" }),
          unit: Type.Optional(Type.String({ description: "The unit, from the columns" })),
          isString: Type.Optional(Type.Boolean()),
          isStep: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
    ),
  },
  strict,
);

export const sqlSchema = Type.Object(
  {
    type: Type.Literal("sql"),
    url: Type.String({
      pattern: "^postgres(ql)?://",
      description: "`postgres://user:password@host/database`",
    }),
    timeout: Type.Optional(Type.String({ description: "The longest time of a query; default 10m" })),
    queries: Type.Array(querySchema, { minItems: 1 }),
  },
  strict,
);

export type SqlConfiguration = Static<typeof sqlSchema>;
export type SqlQuery = Static<typeof querySchema>;

// The part of a configuration that maps rows to raw rows or points.
import { type Static, Type } from "typebox";

const strict = { additionalProperties: false };

export const recordMapping = {
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
};

const mapping = Type.Object(recordMapping);
export type RecordMapping = Static<typeof mapping>;

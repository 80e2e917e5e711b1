// The part `source` of a configuration that reads a database.
import { type Static, Type } from "typebox";
import { recordMapping } from "../record-mapping.ts";

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
    ...recordMapping,
  },
  strict,
);

export const sqlSchema = Type.Object(
  {
    type: Type.Literal("sql"),
    url: Type.String({
      pattern: "^[a-z][a-z0-9+.-]*:",
      description: "`postgres://user:password@host/database`, or `mysql://...` for MySQL and MariaDB",
    }),
    driver: Type.Optional(
      Type.String({ minLength: 1, description: "The file of a module that reads another database" }),
    ),
    timeout: Type.Optional(Type.String({ description: "The longest time of a query; default 10m" })),
    queries: Type.Array(querySchema),
  },
  strict,
);

export type SqlConfiguration = Static<typeof sqlSchema>;
export type SqlQuery = Static<typeof querySchema>;

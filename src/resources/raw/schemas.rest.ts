// JSON schemas and parameters of raw data.

import { Type } from "typebox";
import { limits } from "../../limits.ts";
import { csvQuery } from "../../rest/csv.ts";
import { cursorParameter, pageSchema } from "../../rest/envelope.ts";
import { idField, itemsBody, nameField, textField, timeField } from "../../rest/fields.ts";
import { boolean, integer, type Parameter, pageSize, required, text } from "../../rest/parameters.ts";

export const databaseSchema = Type.Object(
  { dbName: nameField("The name of the database") },
  { title: "RawDatabase" },
);
const tableSchema = Type.Object({ tableName: nameField("The name of the table") }, { title: "RawTable" });

/** A table in lists and when it is created. Links are ignored in the names of tables to delete. */
export const linkedTableSchema = Type.Object(
  {
    ...tableSchema.properties,
    assetIds: Type.Optional(
      Type.Array(idField("An asset"), {
        description: "The assets that the rows are about; they replace the links of an existing table",
        maxItems: limits.fileLinksMax,
      }),
    ),
  },
  { title: "LinkedRawTable" },
);

const keyField = textField("The row's key", { min: 1, max: limits.rawKeyLengthMax });

/** Columns are any JSON object; numbers are returned as they were sent. */
const columnsField = Type.Unsafe<object>({
  type: "object",
  additionalProperties: true,
  description: "Values of any type by name, stored exactly as sent",
});

export const rowSchema = Type.Object(
  {
    key: Type.String(),
    columns: columnsField,
    lastUpdatedTime: Type.Integer({ description: "When the row was last written, in ms since 1970" }),
  },
  { title: "RawRow" },
);

const rowsPage = pageSchema(rowSchema);
export const rowsPageSchema = Type.Object({
  data: Type.Object({
    ...rowsPage.properties.data.properties,
    rowCount: Type.Optional(
      Type.Integer({
        description: "With `includeRowCount`: the rows of all pages, those before `startKey` too",
      }),
    ),
  }),
});

export const databasesBody = itemsBody(databaseSchema, { min: 1 });
export const newTablesBody = itemsBody(linkedTableSchema, { min: 1 });
export const tablesBody = itemsBody(tableSchema, { min: 1 });
const newRow = { key: keyField, columns: Type.Optional(columnsField) };
export const rowsBody = itemsBody(Type.Object(newRow));
export const restoredRowsBody = itemsBody(
  Type.Object({
    ...newRow,
    lastUpdatedTime: timeField("When the row was last written"),
  }),
);
export const keysBody = itemsBody(Type.Object({ key: keyField }));

export const inDatabase = { database: required(text("The name of the database")) };
export const inTable = { ...inDatabase, table: required(text("The name of the table")) };
export const ofRow = { ...inTable, key: required(text("The key of the row")) };

export const recursive = {
  recursive: boolean("Also delete databases with tables, and all of their rows; default false"),
};
export const ensureParentParameter = (what: string) => ({
  ensureParent: boolean(`Create ${what} if missing; default false`),
});

export const namesQuery = {
  assetId: integer("Tables linked to this asset, or databases with such a table"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.rawItemsDefault, max: limits.rawNamesMax }),
};

const columnsSchema = Type.String({ examples: ["speed,size"] });

/** Names separated by commas; `,` alone requests keys without columns, as the Spark data source does. */
const columns: Parameter<readonly string[] | undefined> = {
  schema: columnsSchema,
  description: "Only these columns, their names separated by commas; `,` for none",
  required: false,
  decode: (sent) => {
    const lists = sent.filter((one) => one !== "");
    if (lists.length === 0) return undefined;
    return lists.flatMap((one) => one.split(",")).filter((name) => name !== "");
  },
};

export const rowQuery = { columns };
export const rowsQuery = {
  ...csvQuery,
  columns,
  minLastUpdatedTime: integer("Last written after this time (exclusive), in ms"),
  maxLastUpdatedTime: integer("Last written at this time or earlier (inclusive), in ms"),
  startKey: text("Start at the first row with this key or a later one; only without `cursor`"),
  includeRowCount: boolean("Also count the rows, over all pages; default false"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.rawItemsDefault, max: limits.rawRowsMax }),
};

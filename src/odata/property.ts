// Declares the properties of entity types in one line each.
import type { RequestContext } from "../context.ts";
import type { OpenComplexType, Property } from "./model.ts";
import { column, idColumn, idListHas, type Operand, stringMember } from "./operand.ts";

type Getter<From, Value> = (row: From) => Value | undefined;
type OperandSource = Operand | ((ctx: RequestContext) => Operand);

const value = (operand: OperandSource) => ({ kind: "value", operand }) as const;

/** A string. */
export const text = <From>(
  name: string,
  get: Getter<From, string>,
  operand: OperandSource,
): Property<From> => ({
  ...{ name, type: "Edm.String", get },
  queryable: value(operand),
});

/** The id of a record in the column `field`: a number in the record, a string in OData. */
export const id = <From>(name: string, get: Getter<From, number>, field: string): Property<From> => ({
  ...{ name, type: "Edm.String", get },
  queryable: value(idColumn(field)),
});

/** The ids of linked records, in the list in the column `field`. */
export const idList = <From>(
  name: string,
  get: Getter<From, readonly number[]>,
  field: string,
): Property<From> => ({
  ...{ name, type: "Edm.String", isList: true, isRequired: true },
  get: (row) => get(row) ?? [],
  queryable: {
    kind: "elements",
    elements: { operand: idColumn("value"), toFilter: (part) => idListHas(field, part) },
  },
});

/** A time in milliseconds since 1970, in the column `field`. */
export const time = <From>(name: string, get: Getter<From, number>, field: string): Property<From> => ({
  ...{ name, type: "Edm.DateTimeOffset", get },
  queryable: value(column(field, "Edm.DateTimeOffset")),
});

export const flag = <From>(
  name: string,
  get: Getter<From, boolean>,
  operand: OperandSource,
): Property<From> => ({
  ...{ name, type: "Edm.Boolean", isRequired: true, get },
  queryable: value(operand),
});

const metaDataType: OpenComplexType = { name: "MetaData" };

export const metadata = <From extends { readonly metadata: object }>(): Property<From> => ({
  ...{ name: "MetaData", type: metaDataType },
  get: (row) => row.metadata,
  queryable: { kind: "members", member: stringMember("metadata") },
});

/** Declares a property that every record has. */
export const required = <From>(property: Property<From>): Property<From> => ({
  ...property,
  isRequired: true,
});

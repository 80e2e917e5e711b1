// The properties that entity types have, each written down in one line by its room.
import type { RequestContext } from "../context.ts";
import type { Property } from "./model.ts";
import { column, idColumn, idListHas, member, type Operand } from "./operand.ts";

type Of<From, Value> = (row: From) => Value | undefined;
type Asked = Operand | ((ctx: RequestContext) => Operand);

const value = (operand: Asked) => ({ kind: "value", operand }) as const;

/** A text, and how a filter finds it. */
export const text = <From>(name: string, get: Of<From, string>, asked: Asked): Property<From> => ({
  ...{ name, type: "Edm.String", get },
  asked: value(asked),
});

/** The id of a record, in the column `field`: a text, which is made of the number where it is written. */
export const id = <From>(name: string, get: Of<From, number>, field: string): Property<From> => ({
  ...{ name, type: "Edm.String", get },
  asked: value(idColumn(field)),
});

/** The ids of records that a record hangs on, in the list that the column `field` holds. */
export const idList = <From>(
  name: string,
  get: Of<From, readonly number[]>,
  field: string,
): Property<From> => ({
  ...{ name, type: "Edm.String", isList: true, isRequired: true },
  get: (row) => get(row) ?? [],
  asked: {
    kind: "elements",
    elements: { operand: idColumn("value"), some: (part) => idListHas(field, part) },
  },
});

/** A moment, in milliseconds since 1970 in the column `field`. */
export const time = <From>(name: string, get: Of<From, number>, field: string): Property<From> => ({
  ...{ name, type: "Edm.DateTimeOffset", get },
  asked: value(column(field, "Edm.DateTimeOffset")),
});

export const flag = <From>(name: string, get: Of<From, boolean>, asked: Asked): Property<From> => ({
  ...{ name, type: "Edm.Boolean", isRequired: true, get },
  asked: value(asked),
});

/** Pairs of texts, in the column `metadata`. */
export const metadata = <From extends { readonly metadata: object }>(): Property<From> => ({
  ...{ name: "MetaData", type: "MetaData" },
  get: (row) => row.metadata,
  asked: { kind: "members", member: member("metadata") },
});

/** The same property, which every record has. */
export const required = <From>(property: Property<From>): Property<From> => ({
  ...property,
  isRequired: true,
});

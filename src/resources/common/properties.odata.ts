// The common fields as OData properties, and their operands in filters.
import { fail } from "../../errors.ts";
import type { Property } from "../../odata/model.ts";
import { column, firstPresent, type Operand } from "../../odata/operand.ts";
import { id, text } from "../../odata/property.ts";
import { and, everything, hasOneOf, hasOnly, not, some, textHas } from "../../query/filter.ts";
import type { CommonFields } from "./schema.ts";

type ExternallyNamed<Field extends string> = { readonly externalId?: string } & {
  readonly [Name in Field]?: string;
};

/**
 * `ExternalId` of a record: its external id, or the value of the column `otherwise`. Published clients send
 * no external ids; they put ids of other systems into that column.
 */
export const externalIdOf =
  <Field extends string>(otherwise: Field) =>
  (row: ExternallyNamed<Field>): string | undefined =>
    row.externalId ?? row[otherwise];

export const externalIdOperand = (otherwise: string): Operand =>
  otherwise === "externalId" ? column(otherwise) : firstPresent(column("externalId"), column(otherwise));

export const externalId = <From extends object, Field extends string>(
  otherwise: Field,
): Property<From & ExternallyNamed<Field>> =>
  text("ExternalId", externalIdOf(otherwise), externalIdOperand(otherwise));

export const dataSetId = <From extends CommonFields>(): Property<From> =>
  id("DataSetId", (row) => row.dataSetId, "dataSetId");

/**
 * The labels, separated by commas. A filter can compare a single label, or match records without labels.
 */
export const labels = <From extends { readonly labels?: readonly string[] }>(): Property<From> =>
  text("Labels", (row) => (row.labels?.length ? row.labels.join(",") : undefined), labelsOperand);

const labelsOperand: Operand = {
  type: "Edm.String",
  equals(value) {
    if (value === null) return not(some("labels", everything));
    const label = oneLabel(String(value));
    return and(hasOneOf("labels", [label]), hasOnly("labels", [label]));
  },
  has(test, part) {
    if (test !== "contains") throw fail("filter-feature-not-supported", { feature: `${test} on Labels` });
    return some("labels", textHas("contains", "value", oneLabel(part)));
  },
};

function oneLabel(label: string): string {
  if (!label.includes(",")) return label;
  throw fail("filter-feature-not-supported", { feature: "A filter by several labels at once" });
}

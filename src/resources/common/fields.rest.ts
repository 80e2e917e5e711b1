// The common fields over REST: schemas of bodies and responses, changes, and the parameters that filter by
// them.
import { type Static, type TSchema, Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, equals, type Filter, hasOneOf, type Scalar } from "../../query/filter.ts";
import { change, changed, changeOfList, idField, textField, timeField } from "../../rest/fields.ts";
import { integer, type ParameterValues, text, textList } from "../../rest/parameters.ts";
import { during } from "../../rest/search.ts";
import type { CommonChange, ListChange } from "./changes.ts";
import type { RecordName } from "./external-ids.ts";

export const externalIdField = (description: string) =>
  textField(description, { min: 1, max: limits.externalIdLengthMax });

export const dataSetIdField = idField("The data set of the record");

const label = externalIdField("A label");
export const labelsField = Type.Array(label, {
  description: "The labels, without duplicates",
  maxItems: limits.labelsMax,
});

const fields = {
  externalId: externalIdField("The record's id in another system, unique among the records of its type"),
  dataSetId: dataSetIdField,
  labels: labelsField,
  sourceCreatedTime: timeField("When the record's source was created"),
  sourceModifiedTime: timeField("When the record's source last changed"),
};

/** The members of a body that creates or overwrites a record, and of a response. */
export const commonMembers = Type.Partial(Type.Object(fields)).properties;

/** The members of a change. */
export const commonChanges = {
  externalId: change(fields.externalId),
  dataSetId: change(fields.dataSetId),
  labels: changeOfList(fields.labels),
  sourceCreatedTime: change(fields.sourceCreatedTime),
  sourceModifiedTime: change(fields.sourceModifiedTime),
};

const valueOrChange = (value: TSchema, change: { readonly anyOf: readonly TSchema[] }) =>
  Type.Optional(Type.Union([value, ...change.anyOf]));

/** The members of a patch: plain values, or changes. */
export const commonPatch = Object.fromEntries(
  Object.entries(fields).map(([name, value]) => [
    name,
    valueOrChange(value, commonChanges[name as keyof typeof fields]),
  ]),
);

const changesSchema = Type.Object(commonChanges);

export const commonChangeOf = (sent: Static<typeof changesSchema>): CommonChange => ({
  externalId: changed(sent.externalId),
  dataSetId: changed(sent.dataSetId),
  labels: listChangeOf(sent.labels),
  sourceCreatedTime: changed(sent.sourceCreatedTime),
  sourceModifiedTime: changed(sent.sourceModifiedTime),
});

interface ListInput<Item> {
  readonly set?: readonly Item[] | null | undefined;
  readonly setNull?: boolean | null | undefined;
  readonly add?: readonly Item[] | null | undefined;
  readonly remove?: readonly Item[] | null | undefined;
}

/**
 * `{"set":null}` as the only member clears the list, like `{"setNull":true}`. Beside any other member, also
 * `"setNull":false`, it has no effect (docs/reference/common.md#changes).
 */
export function listChangeOf<Item>(sent: ListInput<Item> | null | undefined): ListChange<Item> | undefined {
  if (!sent) return undefined;
  const { set, setNull, add, remove } = sent;
  const isAlone = [setNull, add, remove].every((other) => other === undefined);
  const isCleared = setNull || (set === null && isAlone);
  return { set: isCleared ? [] : (set ?? undefined), add: add ?? undefined, remove: remove ?? undefined };
}

const aTime = (which: string) => integer(`${which}, in ms since 1970, inclusive`);

/** The parameters of a list or search; `things` is the plural noun, such as "Assets". */
export const commonQuery = (things: string) => ({
  externalId: text(`${things} with exactly this external id; at most one has it`),
  dataSetId: integer(`${things} in this data set`),
  labels: textList(`${things} that have all of these labels`, limits.labelsMax),
  minSourceCreatedTime: aTime("Source created at this time or later"),
  maxSourceCreatedTime: aTime("Source created at this time or earlier"),
  minSourceModifiedTime: aTime("Source last changed at this time or later"),
  maxSourceModifiedTime: aTime("Source last changed at this time or earlier"),
});

export const commonFilter = (query: Partial<ParameterValues<ReturnType<typeof commonQuery>>>): Filter =>
  and(
    equalTo("externalId", query.externalId),
    equalTo("dataSetId", query.dataSetId),
    ...(query.labels ?? []).map((label) => hasOneOf("labels", [label])),
    during("sourceCreatedTime", query.minSourceCreatedTime, query.maxSourceCreatedTime),
    during("sourceModifiedTime", query.minSourceModifiedTime, query.maxSourceModifiedTime),
  );

const span = Type.Optional(
  Type.Object({ min: Type.Optional(Type.Integer()), max: Type.Optional(Type.Integer()) }),
);

/** The same conditions in the `filter` of a search body. */
export const commonBodyFilterMembers = {
  externalId: commonMembers.externalId,
  dataSetId: commonMembers.dataSetId,
  labels: commonMembers.labels,
  sourceCreatedTime: span,
  sourceModifiedTime: span,
};

const filterSchema = Type.Object(commonBodyFilterMembers);

export const commonBodyFilter = ({
  sourceCreatedTime,
  sourceModifiedTime,
  ...sent
}: Static<typeof filterSchema>): Filter =>
  commonFilter({
    ...sent,
    minSourceCreatedTime: sourceCreatedTime?.min,
    maxSourceCreatedTime: sourceCreatedTime?.max,
    minSourceModifiedTime: sourceModifiedTime?.min,
    maxSourceModifiedTime: sourceModifiedTime?.max,
  });

/** Matches records whose field equals the value; no condition if the value is absent. */
export const equalTo = (field: string, value: Scalar | undefined): Filter | undefined =>
  value === undefined ? undefined : equals(field, value);

/** Names a record to read: an id, or an object with the id or the external id. */
export const recordName = (which: string) =>
  Type.Union([
    idField(which),
    Type.Object({
      id: Type.Optional(idField(which)),
      externalId: Type.Optional(externalIdField(`${which}, in place of \`id\``)),
    }),
  ]);

/** `index` is the index of the item. Refuses (400) an object with both or neither. */
export function recordNameIn(sent: Static<ReturnType<typeof recordName>>, index: number): RecordName {
  if (typeof sent === "number") return sent;
  const { id, externalId } = sent;
  if (id === undefined && externalId === undefined)
    throw fail("fields-missing", { fields: [`items[${index}].id`] });
  if (externalId === undefined) return id!;
  if (id === undefined) return { externalId };
  const expected = "none beside an id";
  throw fail("field-invalid", { field: `items[${index}].externalId`, expected, got: externalId });
}

// JSON schemas of sequences in requests and responses.
import { type Static, Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { cursorParameter } from "../../rest/envelope.ts";
import {
  change,
  changed,
  changeObject,
  changeOfPairs,
  idField,
  itemsBody,
  metadataField,
  nameField,
  textField,
} from "../../rest/fields.ts";
import { id, idList, integer, pageSize, text } from "../../rest/parameters.ts";
import { patchBody } from "../../rest/patch.ts";
import { searchParameters } from "../../rest/search.ts";
import { dataSetIdField, externalIdField, recordName } from "../common/fields.rest.ts";
import type { ColumnChange, NewColumn, PairsChange, SequenceChange } from "./changes.ts";
import { columnValueTypes, type Sequence, type SequenceColumn } from "./schema.ts";
import type { NewSequence } from "./sequences.ts";

const name = nameField("The name");
const externalId = externalIdField("The id in another system, unique");
const description = textField("The description");
const pairs = "Key-value pairs of the caller's choice";
const assetId = idField("The linked asset");
const valueType = Type.Enum([...columnValueTypes], { description: "The type of the values; cannot change" });

const writable = {
  id: Type.Optional(Type.Unknown({ description: "Refused: the service assigns ids" })),
  name: Type.Optional(name),
  externalId: Type.Optional(externalId),
  description: Type.Optional(description),
  metadata: Type.Optional(metadataField(pairs)),
};

const newColumn = Type.Object({ ...writable, valueType }, { title: "NewSequenceColumn" });

const newSequence = Type.Object(
  {
    ...writable,
    assetId: Type.Optional(assetId),
    dataSetId: Type.Optional(dataSetIdField),
    columns: Type.Array(newColumn, { minItems: 1, maxItems: limits.sequenceColumnsMax }),
  },
  { title: "NewSequence" },
);

export const newColumns = Type.Object({
  items: Type.Array(newColumn, { minItems: 1, maxItems: limits.sequenceColumnsMax }),
});

const textChanges = {
  name: change(name),
  externalId: change(externalId),
  description: change(description),
  metadata: changeOfPairs(pairs),
};

const changes = { ...textChanges, assetId: change(assetId), dataSetId: change(dataSetIdField) };

const some = { min: 1, max: limits.sequencesPerPageMax };
export const newSequences = itemsBody(newSequence, some);

const whichSequence = idField("Which sequence");
export const sequenceIds = itemsBody(whichSequence, some);
export const sequenceNames = itemsBody(recordName("Which sequence"), some);
export const sequenceChange = changeObject({ id: Type.Optional(whichSequence), ...changes });
export const sequencePatch = patchBody(
  { id: Type.Optional(whichSequence), ...changes },
  { name, externalId, description, assetId, dataSetId: dataSetIdField, metadata: metadataField(pairs) },
);
export const sequenceChanges = itemsBody(changeObject({ id: whichSequence, ...changes }), some);

const whichColumn = idField("Which column");
export const columnIds = itemsBody(whichColumn, { min: 1 });
export const columnChanges = itemsBody(changeObject({ id: whichColumn, ...textChanges }), { min: 1 });

export function newSequenceOf(sent: Static<typeof newSequence>, index: number): NewSequence {
  const { assetId, dataSetId, columns } = sent;
  return {
    ...membersOf(sent, `items[${index}]`),
    ...(assetId !== undefined && { assetId }),
    ...(dataSetId !== undefined && { dataSetId }),
    columns: columns.map((column, at) => newColumnOf(column, `items[${index}].columns[${at}]`)),
  };
}

export const newColumnOf = (sent: Static<typeof newColumn>, field: string): NewColumn => ({
  ...membersOf(sent, field),
  valueType: sent.valueType,
});

function membersOf(sent: Omit<Static<typeof newColumn>, "valueType">, field: string) {
  const { id, name, externalId, description, metadata = {} } = sent;
  if (id !== undefined) {
    const expected = "none, as the service assigns ids,";
    throw fail("field-invalid", { field: `${field}.id`, expected, got: JSON.stringify(id) });
  }
  return {
    ...(name !== undefined && { name }),
    ...(externalId !== undefined && { externalId }),
    ...(description !== undefined && { description }),
    metadata,
  };
}

export const sequenceChangeOf = (id: number, sent: Static<typeof sequenceChange>): SequenceChange => ({
  ...columnChangeOf({ ...sent, id }),
  assetId: changed(sent.assetId),
  dataSetId: changed(sent.dataSetId),
});

export const columnChangeOf = (
  sent: Static<typeof sequenceChange> & { readonly id: number },
): ColumnChange => ({
  id: sent.id,
  name: changed(sent.name),
  externalId: changed(sent.externalId),
  description: changed(sent.description),
  metadata: pairsChangeOf(sent.metadata),
});

function pairsChangeOf(sent: Static<typeof sequenceChange>["metadata"]): PairsChange | undefined {
  if (!sent) return undefined;
  const { set, setNull, add, remove } = sent;
  return { set: setNull ? {} : (set ?? undefined), add: add ?? undefined, remove: remove ?? undefined };
}

/** Members without a value are null, because the Python SDK reads them in every response. */
const textOrNull = Type.Union([Type.String(), Type.Null()]);

const shared = {
  id: Type.Integer(),
  name: textOrNull,
  externalId: textOrNull,
  description: textOrNull,
  metadata: metadataField("Empty when there is none"),
  createdTime: Type.Integer(),
  lastUpdatedTime: Type.Integer(),
};

export const sequenceSchema = Type.Object(
  {
    ...shared,
    assetId: Type.Optional(Type.Integer()),
    dataSetId: Type.Optional(Type.Integer()),
    columns: Type.Array(Type.Object({ ...shared, valueType }, { title: "SequenceColumn" })),
  },
  { title: "Sequence" },
);

const sharedJson = (row: Sequence | SequenceColumn) => ({
  id: row.id,
  name: row.name ?? null,
  externalId: row.externalId ?? null,
  description: row.description ?? null,
  metadata: row.metadata,
  createdTime: row.createdTime,
  lastUpdatedTime: row.lastUpdatedTime,
});

export const sequenceJson = (sequence: Sequence) => ({
  ...sharedJson(sequence),
  assetId: sequence.assetId,
  dataSetId: sequence.dataSetId,
  columns: sequence.columns.map((column) => ({ ...sharedJson(column), valueType: column.valueType })),
});

export const sequenceIdParameter = { sequenceId: id("The id of the sequence") };

export const listQuery = {
  externalId: text("The sequence with exactly this external id"),
  name: text("Sequences with exactly this name"),
  assetId: integer("Sequences linked to this asset"),
  dataSetId: integer("Sequences in this data set"),
  path: idList("Sequences linked to assets in the subtrees of these assets"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.sequencesPerPageMax }),
};

export const searchQuery = {
  ...searchParameters("Sequences"),
  dataSetId: integer("Sequences in this data set"),
  assetIds: idList("Sequences linked to one of these assets"),
};

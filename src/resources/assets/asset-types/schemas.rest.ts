// JSON schemas of asset types and of an asset's type values (docs/reference/assets.md#asset-types).
import { type Static, Type } from "typebox";
import { limits } from "../../../limits.ts";
import {
  change,
  changeObject,
  changeOfRequired,
  idField,
  nameField,
  textField,
} from "../../../rest/fields.ts";
import { id } from "../../../rest/parameters.ts";
import { fieldValueTypes } from "./schema.ts";
import type { TypesChange } from "./values.ts";

const typeId = idField("Which type");
const fieldId = idField("Which field of the type");
const valueType = Type.Enum([...fieldValueTypes], {
  description: "The type of its values; a Long is an integer between -2^53 and 2^53",
});
const value = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const name = nameField("The name, which need not be unique");
const description = textField("What the type or field means");
const list = <Item extends Parameters<typeof Type.Array>[0]>(item: Item, maxItems: number) =>
  Type.Optional(Type.Array(item, { maxItems }));

export const newField = Type.Object(
  { name, description: Type.Optional(description), valueType },
  { title: "NewAssetTypeField" },
);

export const newAssetType = Type.Object(
  {
    name,
    description: Type.Optional(description),
    fields: list(newField, limits.assetTypeFieldsMax),
  },
  { title: "NewAssetType" },
);

const nameFields = { id: Type.Integer(), name: Type.String(), description: Type.Optional(Type.String()) };

export const assetTypeSchema = Type.Object(
  {
    ...nameFields,
    fields: Type.Array(Type.Object({ ...nameFields, valueType }, { title: "AssetTypeField" })),
  },
  { title: "AssetType" },
);

/** The changes of a type or of a field. */
export const nameChange = (which: string) =>
  changeObject({ id: idField(which), name: changeOfRequired(name), description: change(description) });

export const oneAssetType = { typeId: id("The asset type") };

const fieldInput = Type.Object({
  id: fieldId,
  value: Type.Union([textField("A String", { max: limits.textLengthMax }), Type.Number(), Type.Boolean()], {
    description: "A value of the field's `valueType`",
  }),
});

const fieldInputs = list(fieldInput, limits.assetTypeFieldsMax);
const typeInput = Type.Object({ id: typeId, fields: fieldInputs });
export const typeInputs = Type.Array(typeInput, {
  description: "The asset's types and their values; only responses of 0.6 contain them",
  maxItems: limits.assetTypesMax,
});

/** Changes of an asset's types, applied in the order `set`, `remove`, `add`, `edit`. */
export const typesChange = changeObject(
  {
    set: Type.Optional(Type.Union([typeInputs, Type.Null()])),
    setNull: Type.Optional(Type.Boolean()),
    remove: list(typeId, limits.assetTypesMax),
    add: list(typeInput, limits.assetTypesMax),
    edit: list(
      changeObject({
        id: typeId,
        set: Type.Optional(
          Type.Array(fieldInput, {
            description: "Replaces all values of the type; `remove` clears values",
            minItems: 1,
            maxItems: limits.assetTypeFieldsMax,
          }),
        ),
        remove: list(fieldId, limits.assetTypeFieldsMax),
        add: fieldInputs,
      }),
      limits.assetTypesMax,
    ),
  },
  { description: "Applied in the order set, remove, add, edit" },
);

/** `{"set":null}` as the only member clears the types, as in other lists. */
export function typesChangeOf({ set, setNull, ...others }: Static<typeof typesChange>): TypesChange {
  const isAlone = setNull === undefined && Object.keys(others).length === 0;
  const isCleared = setNull || (set === null && isAlone);
  if (isCleared) return { ...others, set: [] };
  return set ? { ...others, set } : others;
}

export const typeValuesSchema = Type.Array(
  Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    fields: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String(), valueType, value }), {
      description: "The fields with a value",
    }),
  }),
);

const bound = Type.Optional(Type.Union([Type.String(), Type.Number()], { description: "Inclusive" }));

/** The conditions of a search: assets must have all these types, with matching field values. */
export const typeFilters = Type.Array(
  Type.Object({
    id: typeId,
    fields: list(
      Type.Object({ id: fieldId, value: Type.Optional(value), min: bound, max: bound }),
      limits.assetTypeFieldsMax,
    ),
  }),
  { description: "The asset has all of these types", maxItems: limits.assetTypesMax },
);

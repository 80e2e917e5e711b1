// The JSON shapes of asset types, and of the types of an asset (docs/reference/assets.md#asset-types).
import { Type } from "typebox";
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

const typeId = idField("Which type");
const fieldId = idField("Which field of the type");
const valueType = Type.Enum([...fieldValueTypes], {
  description: "What its values are; a Long is an integer between -2^53 and 2^53",
});
const value = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const name = nameField("What it is called; others may be called the same");
const description = textField("What it stands for");
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

/** Of a type or of a field. */
export const nameChange = (which: string) =>
  changeObject({ id: idField(which), name: changeOfRequired(name), description: change(description) });

export const oneAssetType = { typeId: id("The asset type") };

const fieldInput = Type.Object({
  id: fieldId,
  value: Type.Union([textField("A String", { max: limits.textLengthMax }), Type.Number(), Type.Boolean()], {
    description: "As the `valueType` of the field says",
  }),
});

const fieldInputs = list(fieldInput, limits.assetTypeFieldsMax);
const typeInput = Type.Object({ id: typeId, fields: fieldInputs });
export const typeInputs = Type.Array(typeInput, {
  description: "Its types and their values, which responses of 0.6 show",
  maxItems: limits.assetTypesMax,
});

/** Of the types of an asset: done in the order `set`, `remove`, `add`, `edit`. */
export const typesChange = changeObject(
  {
    set: Type.Optional(typeInputs),
    setNull: Type.Optional(Type.Boolean()),
    remove: list(typeId, limits.assetTypesMax),
    add: list(typeInput, limits.assetTypesMax),
    edit: list(
      changeObject({
        id: typeId,
        set: Type.Optional(
          Type.Array(fieldInput, {
            description: "All values of the type from now on; `remove` clears values",
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
  { description: "Done in the order set, remove, add, edit" },
);

export const typeValuesSchema = Type.Array(
  Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    fields: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String(), valueType, value }), {
      description: "Those that have a value",
    }),
  }),
);

const bound = Type.Optional(Type.Union([Type.String(), Type.Number()], { description: "Inclusive" }));

/** Of a search: assets that have all of these types, and of each field such a value. */
export const typeFilters = Type.Array(
  Type.Object({
    id: typeId,
    fields: list(
      Type.Object({ id: fieldId, value: Type.Optional(value), min: bound, max: bound }),
      limits.assetTypeFieldsMax,
    ),
  }),
  { description: "Types that the asset has, all of them", maxItems: limits.assetTypesMax },
);

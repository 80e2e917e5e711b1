// The form of a new or existing asset.
import { Textarea, TextInput } from "@mantine/core";
import { type ChangeEvent, useState } from "react";
import type { Asset } from "../../api/generated.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { MetadataFields, metadataOf, pairsOf } from "../../ui/metadata-fields.tsx";
import type { AssetMutation } from "./use-asset-change.ts";

/** The fields of the form; one without a value is empty. */
export type AssetFields = Readonly<Record<TextField, string>> & {
  readonly metadata: Record<string, string>;
};

interface AssetFormProps {
  readonly title: string;
  readonly action: string;
  /** The fields as the form begins. */
  readonly opened: AssetFields;
  readonly change: AssetMutation<AssetFields>;
  onClose(): void;
}

const textFields = [
  { field: "externalId", label: "External id", note: "What other systems call it; unique" },
  { field: "source", label: "Source", note: "The system it comes from" },
  { field: "sourceId", label: "Id in the source", note: undefined },
] as const;

type TextField = "name" | "description" | (typeof textFields)[number]["field"];

export const emptyAsset: AssetFields = {
  ...{ name: "", description: "", externalId: "", source: "", sourceId: "" },
  metadata: {},
};

export function assetFieldsOf(asset: Asset): AssetFields {
  const { name, description = "", externalId = "", source = "", sourceId = "", metadata } = asset;
  return { name, description, externalId, source, sourceId, metadata };
}

export function AssetForm({ title, action, opened, change, onClose }: AssetFormProps) {
  const { metadata, ...openedTexts } = opened;
  const [texts, setTexts] = useState(openedTexts);
  const [pairs, setPairs] = useState(() => pairsOf(metadata));
  /** Trims the fields that the person changed, and no others. */
  const save = () => {
    const typed = Object.entries(texts).filter(([field, text]) => text !== openedTexts[field as TextField]);
    const trimmed = typed.map(([field, text]) => [field, text.trim()]);
    change.mutate({ ...openedTexts, ...Object.fromEntries(trimmed), metadata: metadataOf(pairs) });
  };
  const text = (field: TextField) => ({
    value: texts[field],
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      setTexts({ ...texts, [field]: event.currentTarget.value }),
  });
  return (
    <EditDialog
      {...{ title, action, isPending: change.isPending, problem: change.error, onClose }}
      onSave={save}
    >
      <TextInput label="Name" required data-autofocus {...text("name")} />
      <Textarea label="Description" autosize minRows={2} maxRows={12} {...text("description")} />
      {textFields.map(({ field, label, note }) => (
        <TextInput key={field} label={label} description={note} {...text(field)} />
      ))}
      <MetadataFields pairs={pairs} onChange={setPairs} />
    </EditDialog>
  );
}

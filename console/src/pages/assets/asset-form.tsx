// The form of a new or existing asset.
import { Textarea, TextInput } from "@mantine/core";
import { type ChangeEvent, useState } from "react";
import type { Asset } from "../../api/generated.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { MetadataFields, metadataOf, pairsOf } from "../../ui/metadata-fields.tsx";
import type { AssetMutation } from "./use-asset-change.ts";

/** The fields of the form; without a text, a field is absent. */
export interface AssetFields {
  readonly name: string;
  readonly description?: string;
  readonly externalId?: string;
  readonly source?: string;
  readonly sourceId?: string;
  readonly metadata: Record<string, string>;
}

interface AssetFormProps {
  readonly title: string;
  readonly action: string;
  readonly asset?: Asset;
  readonly change: AssetMutation<AssetFields>;
  onClose(): void;
}

const textFields = [
  { field: "externalId", label: "External id", note: "What other systems call it; unique" },
  { field: "source", label: "Source", note: "The system it comes from" },
  { field: "sourceId", label: "Id in the source", note: undefined },
] as const;

type TextField = "name" | "description" | (typeof textFields)[number]["field"];

const textsOf = (asset: Asset | undefined): Record<TextField, string> => ({
  name: asset?.name ?? "",
  description: asset?.description ?? "",
  externalId: asset?.externalId ?? "",
  source: asset?.source ?? "",
  sourceId: asset?.sourceId ?? "",
});

export function AssetForm({ title, action, asset, change, onClose }: AssetFormProps) {
  const [texts, setTexts] = useState(() => textsOf(asset));
  const [pairs, setPairs] = useState(() => pairsOf(asset?.metadata));
  const save = () => {
    const filled = Object.entries(texts).flatMap(([field, text]) =>
      text.trim() === "" ? [] : [[field, text.trim()]],
    );
    change.mutate({ name: texts.name, ...Object.fromEntries(filled), metadata: metadataOf(pairs) });
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

// Edits the record of a file.
import { Autocomplete, Group, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";
import { type File, patchFilesByFileId } from "../../api/generated.ts";
import { changedFields } from "../../lib/record-change.ts";
import { useProject } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { MetadataFields, type MetadataPair, metadataOf, pairsOf } from "../../ui/metadata-fields.tsx";
import { useFolders } from "./folder-tree.tsx";

interface FileFormProps {
  readonly file: File;
  onSaved(): void;
  onClose(): void;
}

export function FileForm({ file, onSaved, onClose }: FileFormProps) {
  const project = useProject();
  const [opened] = useState(() => fieldsOf(file));
  const [fields, setFields] = useState(opened);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => patchFilesByFileId(project, file.id, changedFields(recordOf(opened), recordOf(fields))),
    onSuccess: onSaved,
  });
  return (
    <EditDialog title="Edit the file" size="lg" {...{ isPending, problem: error, onClose }} onSave={mutate}>
      <FileFields fields={fields} onChange={(part) => setFields({ ...fields, ...part })} />
    </EditDialog>
  );
}

interface FileFieldsProps {
  readonly fields: Fields;
  onChange(part: Partial<Fields>): void;
}

function FileFields({ fields, onChange }: FileFieldsProps) {
  const { directories } = useFolders();
  const text = (field: "fileName" | OptionalText) => ({
    value: fields[field],
    onChange: (event: ChangeEvent<HTMLInputElement>) => onChange({ [field]: event.currentTarget.value }),
  });
  return (
    <>
      <TextInput label="Name" required data-autofocus {...text("fileName")} />
      <Group grow align="flex-start">
        <Autocomplete
          label="Folder"
          data={[...directories]}
          limit={50}
          value={fields.directory}
          onChange={(directory) => onChange({ directory })}
        />
        <TextInput label="Type" {...text("fileType")} />
      </Group>
      <AssetSelect
        label="Assets"
        placeholder="Search by name"
        value={fields.assetIds}
        onChange={(assetIds) => onChange({ assetIds })}
      />
      <Group grow align="flex-start">
        <TextInput label="Source" {...text("source")} />
        <TextInput label="Id in the source" {...text("sourceId")} />
        <TextInput label="External id" {...text("externalId")} />
      </Group>
      <MetadataFields pairs={fields.pairs} onChange={(pairs) => onChange({ pairs })} />
    </>
  );
}

const optionalTexts = ["directory", "fileType", "source", "sourceId", "externalId"] as const;
type OptionalText = (typeof optionalTexts)[number];

type Fields = Readonly<Record<"fileName" | OptionalText, string>> & {
  readonly assetIds: readonly number[];
  readonly pairs: readonly MetadataPair[];
};

function fieldsOf(file: File): Fields {
  const texts = optionalTexts.map((field) => [field, file[field] ?? ""]);
  return {
    ...(Object.fromEntries(texts) as Record<OptionalText, string>),
    ...{ fileName: file.fileName, assetIds: file.assetIds, pairs: pairsOf(file.metadata) },
  };
}

const recordOf = ({ assetIds, pairs, ...texts }: Fields) => ({
  ...texts,
  ...{ assetIds: [...assetIds], metadata: metadataOf(pairs) },
});

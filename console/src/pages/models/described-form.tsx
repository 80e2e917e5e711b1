// Edits the shared members of models and versions: description and metadata; new ones also have a name.
import { Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { changedFields, type RecordChange } from "../../lib/record-change.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { MetadataFields, type MetadataPair, metadataOf, pairsOf } from "../../ui/metadata-fields.tsx";
import { useModelsChange } from "./models-data.ts";

export interface DescribedFields {
  readonly name: string;
  readonly description: string;
  readonly pairs: readonly MetadataPair[];
}

export const newDescribed: DescribedFields = { name: "", description: "", pairs: [] };

interface DescribedInputsProps {
  readonly fields: DescribedFields;
  /** The API does not change names. */
  readonly isNew: boolean;
  onChange(part: Partial<DescribedFields>): void;
}

export const DescribedInputs = ({ fields, isNew, onChange }: DescribedInputsProps) => (
  <>
    {isNew && (
      <TextInput
        label="Name"
        required
        data-autofocus
        value={fields.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
    )}
    <Textarea
      label="Description"
      autosize
      value={fields.description}
      onChange={(event) => onChange({ description: event.currentTarget.value })}
    />
    <MetadataFields pairs={fields.pairs} onChange={(pairs) => onChange({ pairs })} />
  </>
);

/** The members of a new record. */
export const describedOf = ({ name, description, pairs }: DescribedFields) => ({
  name,
  ...(description !== "" && { description }),
  metadata: metadataOf(pairs),
});

interface Described {
  readonly description: string | null;
  readonly metadata: object;
}

const contentOf = ({ description, pairs }: DescribedFields) => ({ description, metadata: metadataOf(pairs) });

interface EditDescribedProps {
  readonly title: string;
  readonly record: Described;
  save(change: RecordChange<ReturnType<typeof contentOf>>): Promise<unknown>;
  onClose(): void;
}

export function EditDescribed({ title, record, save, onClose }: EditDescribedProps) {
  const [opened] = useState<DescribedFields>(() => ({
    ...newDescribed,
    description: record.description ?? "",
    pairs: pairsOf(record.metadata as Record<string, string>),
  }));
  const [fields, setFields] = useState(opened);
  const { mutate, isPending, error } = useModelsChange(async () => {
    await save(changedFields(contentOf(opened), contentOf(fields)));
    onClose();
  });
  return (
    <EditDialog {...{ title, isPending, problem: error, onClose }} onSave={() => mutate()}>
      <DescribedInputs fields={fields} isNew={false} onChange={(part) => setFields({ ...fields, ...part })} />
    </EditDialog>
  );
}

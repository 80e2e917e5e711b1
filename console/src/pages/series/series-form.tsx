// Edits the record of a series.
import { Group, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";
import { patchTimeseriesBySeries, type TimeSeries } from "../../api/generated.ts";
import { changedFields } from "../../lib/record-change.ts";
import { useProject } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { MetadataFields, metadataOf, pairsOf } from "../../ui/metadata-fields.tsx";

interface SeriesFormProps {
  readonly series: TimeSeries;
  onSaved(): void;
  onClose(): void;
}

export function SeriesForm({ series, onSaved, onClose }: SeriesFormProps) {
  const project = useProject();
  const [opened] = useState(() => fieldsOf(series));
  const [fields, setFields] = useState(opened);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      const change = changedFields(recordOf(opened), recordOf(fields));
      return patchTimeseriesBySeries(project, series.id, change);
    },
    onSuccess: onSaved,
  });
  return (
    <EditDialog title="Edit the series" size="lg" {...{ isPending, problem: error, onClose }} onSave={mutate}>
      <SeriesFields fields={fields} onChange={(part) => setFields({ ...fields, ...part })} />
    </EditDialog>
  );
}

interface SeriesFieldsProps {
  readonly fields: Fields;
  onChange(part: Partial<Fields>): void;
}

export function SeriesFields({ fields, onChange }: SeriesFieldsProps) {
  const text = (field: "name" | "description" | "unit" | "externalId") => ({
    value: fields[field],
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onChange({ [field]: event.currentTarget.value }),
  });
  return (
    <>
      <TextInput label="Name" required data-autofocus {...text("name")} />
      <Textarea label="Description" autosize maxRows={12} {...text("description")} />
      <Group grow>
        <TextInput label="Unit" {...text("unit")} />
        <TextInput label="External id" {...text("externalId")} />
      </Group>
      <AssetSelect
        label="Asset"
        placeholder={fields.assets.length === 0 ? "None" : undefined}
        maxValues={1}
        value={fields.assets}
        onChange={(assets) => onChange({ assets })}
      />
      <MetadataFields pairs={fields.pairs} onChange={(pairs) => onChange({ pairs })} />
    </>
  );
}

export interface Fields {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly externalId: string;
  readonly assets: readonly number[];
  readonly pairs: ReturnType<typeof pairsOf>;
}

export const emptyFields: Fields = {
  ...{ name: "", description: "", unit: "", externalId: "" },
  ...{ assets: [], pairs: pairsOf(undefined) },
};

const fieldsOf = (series: TimeSeries): Fields => ({
  name: series.name,
  description: series.description ?? "",
  unit: series.unit ?? "",
  externalId: series.externalId ?? "",
  assets: series.assetId === undefined ? [] : [series.assetId],
  pairs: pairsOf(series.metadata),
});

const recordOf = ({ assets: [assetId], pairs, ...texts }: Fields) => ({
  ...texts,
  ...{ assetId, metadata: metadataOf(pairs) },
});

// The ways to change a sequence: a new row, its record, its deletion.
import { Button, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { type ChangeEvent, useState } from "react";
import {
  deleteSequencesBySequenceId,
  patchSequencesBySequenceId,
  type Sequence,
} from "../../api/generated.ts";
import { changedFields } from "../../lib/record-change.ts";
import { useProject } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { MetadataFields, metadataOf, pairsOf } from "../../ui/metadata-fields.tsx";
import { RecordMenu } from "../../ui/record-menu.tsx";
import { useSequenceChange } from "./sequence-data.ts";

interface SequenceActionsProps {
  readonly sequence: Sequence;
  onNewRow(): void;
}

export function SequenceActions({ sequence, onNewRow }: SequenceActionsProps) {
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const close = () => setDialog(undefined);
  return (
    <>
      <Button size="xs" leftSection={<Plus size={14} aria-hidden />} onClick={onNewRow}>
        Add a row
      </Button>
      <Button
        variant="default"
        size="xs"
        leftSection={<Pencil size={14} aria-hidden />}
        onClick={() => setDialog("edit")}
      >
        Edit
      </Button>
      <RecordMenu
        actions={[
          { label: "Delete the sequence…", icon: Trash2, isDanger: true, run: () => setDialog("delete") },
        ]}
      />
      {dialog === "edit" && <SequenceForm sequence={sequence} onClose={close} />}
      {dialog === "delete" && <DeleteSequence sequence={sequence} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly sequence: Sequence;
  onClose(): void;
}

type TextField = "name" | "externalId" | "description";

function SequenceForm({ sequence, onClose }: DialogProps) {
  const project = useProject();
  const [opened] = useState(sequence);
  const [texts, setTexts] = useState(() => textsOf(opened));
  const [assetId, setAssetId] = useState(opened.assetId);
  const [pairs, setPairs] = useState(() => pairsOf(opened.metadata));
  const change = useSequenceChange(() => {
    const before = { ...textsOf(opened), assetId: opened.assetId, metadata: opened.metadata };
    const after = { ...texts, assetId, metadata: metadataOf(pairs) };
    return patchSequencesBySequenceId(project, sequence.id, changedFields(before, after));
  }, onClose);
  const text = (field: TextField) => ({
    value: texts[field],
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      setTexts({ ...texts, [field]: event.currentTarget.value }),
  });
  return (
    <EditDialog
      title="Edit the sequence"
      size="lg"
      isPending={change.isPending}
      problem={change.error}
      onSave={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <TextInput label="Name" data-autofocus {...text("name")} />
      <Textarea label="Description" autosize minRows={2} maxRows={12} {...text("description")} />
      <TextInput
        label="External id"
        description="What other systems call it; unique"
        {...text("externalId")}
      />
      <AssetSelect
        label="Asset"
        placeholder={assetId === undefined ? "Search by name" : undefined}
        maxValues={1}
        value={assetId === undefined ? [] : [assetId]}
        onChange={([chosen]) => setAssetId(chosen)}
      />
      <MetadataFields pairs={pairs} onChange={setPairs} />
    </EditDialog>
  );
}

const textsOf = (sequence: Sequence): Record<TextField, string> => ({
  ...{ name: sequence.name ?? "", externalId: sequence.externalId ?? "" },
  description: sequence.description ?? "",
});

/** After the deletion, the page of its asset is open. */
function DeleteSequence({ sequence, onClose }: DialogProps) {
  const project = useProject();
  const navigate = useNavigate();
  const { id, name, assetId } = sequence;
  const change = useSequenceChange(
    () => deleteSequencesBySequenceId(project, id),
    () =>
      assetId === undefined
        ? navigate({ to: "/assets" })
        : navigate({ to: "/assets/$id", params: { id: assetId } }),
  );
  return (
    <Confirm
      title="Delete the sequence?"
      action="Delete the sequence"
      isPending={change.isPending}
      problem={change.error}
      onConfirm={() => change.mutate(undefined)}
      onClose={onClose}
    >
      The sequence <b>{name ?? id}</b> is deleted with all of its rows. This cannot be undone.
    </Confirm>
  );
}

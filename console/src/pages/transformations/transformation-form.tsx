// The forms of a new transformation and of the settings of one.
import { Alert, NativeSelect, SimpleGrid, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { postTransformations, postTransformationsUpdate, type Transformation } from "../../api/generated.ts";
import { useProject, useSession } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { ScheduleInputs } from "./schedule-inputs.tsx";
import {
  changeOf,
  fieldsOf,
  isComplete,
  newFields,
  newTransformationOf,
  type TransformationFields,
} from "./transformation-fields.ts";
import { useTransformationsChange } from "./transformations-data.ts";

export function NewTransformation({ onClose }: { onClose(): void }) {
  const project = useProject();
  const navigate = useNavigate();
  const [fields, setFields] = useState(newFields);
  const change = (part: Partial<TransformationFields>) => setFields((now) => ({ ...now, ...part }));
  const { mutate, isPending, error } = useTransformationsChange(async () => {
    const { data } = await postTransformations(project, { items: [newTransformationOf(fields)] });
    onClose();
    await navigate({ to: "/transformations/$id", params: { id: data.items[0]!.id } });
  });
  return (
    <EditDialog
      title="New transformation"
      action="Create the transformation"
      size="lg"
      isComplete={isComplete(fields)}
      {...{ isPending, problem: error, onClose }}
      onSave={() => mutate()}
    >
      <Inputs fields={fields} onChange={change} />
      <Textarea
        label="Query"
        description="One SELECT. The page of the transformation shows its rows before anything is written."
        required
        autosize
        minRows={4}
        maxRows={12}
        classNames={{ input: "code" }}
        spellCheck={false}
        placeholder={'SELECT key AS externalId, title AS name FROM erp."locations"'}
        value={fields.query}
        onChange={(event) => change({ query: event.currentTarget.value })}
      />
    </EditDialog>
  );
}

interface EditProps {
  readonly transformation: Transformation;
  onClose(): void;
}

export function EditTransformation({ transformation, onClose }: EditProps) {
  const project = useProject();
  const { account } = useSession();
  const { owner, ownerId } = transformation;
  // A later read of the record is no change by this person.
  const [before] = useState(transformation);
  const [fields, setFields] = useState(() => fieldsOf(before));
  const { mutate, isPending, error } = useTransformationsChange(async () => {
    await postTransformationsUpdate(project, { items: [changeOf(before, fields)] });
    onClose();
  });
  return (
    <EditDialog
      title="Settings of the transformation"
      size="lg"
      isComplete={isComplete(fields)}
      {...{ isPending, problem: error, onClose }}
      onSave={() => mutate()}
    >
      {ownerId !== account.id && (
        <Alert color="orange">
          Runs have the rights of {owner} now. When you save, you become the owner, and runs have your rights.
        </Alert>
      )}
      <Inputs fields={fields} onChange={(part) => setFields((now) => ({ ...now, ...part }))} />
    </EditDialog>
  );
}

const destinations = [
  { value: "assets", label: "Assets" },
  { value: "events", label: "Events" },
  { value: "series", label: "Series" },
  { value: "datapoints", label: "Datapoints" },
  { value: "relationships", label: "Relationships" },
  { value: "files", label: "Metadata of files" },
  { value: "sequenceRows", label: "Rows of a sequence" },
  { value: "raw", label: "Raw rows" },
] as const;
const actions = [
  { value: "upsert", label: "Create or change records" },
  { value: "create", label: "Create records only" },
  { value: "update", label: "Change records only" },
  { value: "delete", label: "Delete records" },
] as const;
const nullModes = [
  { value: "keep", label: "Leaves the value of the record" },
  { value: "clear", label: "Clears the value of the record" },
] as const;
const errorModes = [
  { value: "stop", label: "Ends the run" },
  { value: "skip", label: "Is left out, kept in a raw table" },
] as const;

export interface InputsProps {
  readonly fields: TransformationFields;
  onChange(part: Partial<TransformationFields>): void;
}

function Inputs({ fields, onChange }: InputsProps) {
  const text = (label: string, member: "name" | "externalId" | "database" | "table" | "sequence") => (
    <TextInput
      label={label}
      required
      data-autofocus={member === "name" || undefined}
      value={fields[member]}
      onChange={(event) => onChange({ [member]: event.currentTarget.value })}
    />
  );
  const choice = <Member extends "type" | "action" | "nulls" | "onError">(
    label: string,
    member: Member,
    data: readonly { readonly value: TransformationFields[Member]; readonly label: string }[],
  ) => (
    <NativeSelect
      label={label}
      data={data.map((one) => ({ ...one, value: String(one.value) }))}
      value={fields[member]}
      onChange={(event) => onChange({ [member]: event.currentTarget.value } as Partial<TransformationFields>)}
    />
  );
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {text("Name", "name")}
        {text("External id", "externalId")}
        {choice("Rows become", "type", destinations)}
        {choice("Action", "action", actions)}
        {fields.type === "raw" && text("Database", "database")}
        {fields.type === "raw" && text("Table", "table")}
        {fields.type === "sequenceRows" && text("External id of the sequence", "sequence")}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {choice("A null", "nulls", nullModes)}
        {choice("A refused row", "onError", errorModes)}
      </SimpleGrid>
      <ScheduleInputs fields={fields} onChange={onChange} />
    </>
  );
}

// Creates or edits an event.
import { Group, Textarea, TextInput } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import { useMutation } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";
import { type Event, type NewEvent, patchEventsByEventId, postEvents } from "../../api/generated.ts";
import { localTimeMs, localTimeText } from "../../lib/local-time.ts";
import { changedFields } from "../../lib/record-change.ts";
import { useProject } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { MetadataFields, type MetadataPair, metadataOf, pairsOf } from "../../ui/metadata-fields.tsx";

interface EventFormProps {
  /** The event to edit; a new one when absent. */
  readonly event?: Event;
  onSaved(event: Event): void;
  onClose(): void;
}

export function EventForm({ event, onSaved, onClose }: EventFormProps) {
  const project = useProject();
  const [opened] = useState(() => fieldsOf(event));
  const [fields, setFields] = useState(opened);
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const { data } = event
        ? await patchEventsByEventId(project, event.id, changedFields(recordOf(opened), recordOf(fields)))
        : await postEvents(project, { items: [newEventOf(fields)] });
      return data.items[0]!;
    },
    onSuccess: onSaved,
  });
  const isBackwards =
    fields.start !== null && fields.end !== null && localTimeMs(fields.end)! < localTimeMs(fields.start)!;
  return (
    <EditDialog
      title={event ? "Edit the event" : "New event"}
      action={event ? "Save" : "Create the event"}
      size="lg"
      isComplete={!isBackwards}
      {...{ isPending, problem: error, onClose }}
      onSave={mutate}
    >
      <EventFields
        fields={fields}
        isBackwards={isBackwards}
        onChange={(part) => setFields({ ...fields, ...part })}
      />
    </EditDialog>
  );
}

interface EventFieldsProps {
  readonly fields: Fields;
  readonly isBackwards: boolean;
  onChange(part: Partial<Fields>): void;
}

function EventFields({ fields, isBackwards, onChange }: EventFieldsProps) {
  const text = (field: TextField) => ({
    value: fields[field],
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onChange({ [field]: event.currentTarget.value }),
  });
  const time = (label: string, field: "start" | "end") => (
    <DateTimePicker
      label={label}
      withSeconds
      clearable
      clearButtonProps={{ "aria-label": `Clear ${label.toLowerCase()}` }}
      value={fields[field]}
      onChange={(value) => onChange({ [field]: value })}
      error={field === "end" && isBackwards ? "The end is before the start." : undefined}
    />
  );
  return (
    <>
      <Textarea label="Description" autosize maxRows={12} data-autofocus {...text("description")} />
      <Group grow align="flex-start">
        <TextInput label="Type" {...text("type")} />
        <TextInput label="Subtype" {...text("subtype")} />
      </Group>
      <Group grow align="flex-start" preventGrowOverflow={false}>
        {time("Start", "start")}
        {time("End", "end")}
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

const textFields = ["description", "type", "subtype", "source", "sourceId", "externalId"] as const;
type TextField = (typeof textFields)[number];

type Fields = Readonly<Record<TextField, string>> & {
  /** As the time of the browser's zone; null for none. */
  readonly start: string | null;
  readonly end: string | null;
  readonly assetIds: readonly number[];
  readonly pairs: readonly MetadataPair[];
};

function fieldsOf(event: Event | undefined): Fields {
  const texts = textFields.map((field) => [field, event?.[field] ?? ""]);
  return {
    ...(Object.fromEntries(texts) as Record<TextField, string>),
    start: localTimeText(event ? event.startTime : Date.now()),
    end: localTimeText(event?.endTime),
    assetIds: event?.assetIds ?? [],
    pairs: pairsOf(event?.metadata),
  };
}

/** The times of the fields have no milliseconds: those of an event stay unless its time is changed. */
const recordOf = ({ start, end, assetIds, pairs, ...texts }: Fields) => ({
  ...texts,
  ...{ startTime: localTimeMs(start), endTime: localTimeMs(end) },
  ...{ assetIds: [...assetIds], metadata: metadataOf(pairs) },
});

function newEventOf(fields: Fields): NewEvent {
  const empty = textFields.filter((field) => fields[field] === "").map((field) => [field, undefined]);
  return { ...recordOf(fields), ...Object.fromEntries(empty) };
}

// The form of a new schedule: its model, inputs and outputs by alias, times and arguments.
import {
  Checkbox,
  Fieldset,
  Group,
  NativeSelect,
  NumberInput,
  Select,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Model, postAnalyticsModelsSchedules } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { JsonField, jsonIn } from "./json-field.tsx";
import { useModelsChange } from "./models-data.ts";
import {
  isComplete,
  newSchedule,
  type ScheduleFields,
  type SpanFields,
  scheduleOf,
  spanUnits,
} from "./schedule-fields.ts";
import { InputRows, OutputRows } from "./series-rows.tsx";

interface ScheduleFormProps {
  readonly models: readonly Model[];
  /** The fields of the schedule to copy. */
  readonly initial?: ScheduleFields;
  onClose(): void;
}

type Change = (part: Partial<ScheduleFields>) => void;

export function ScheduleForm({ models, initial = newSchedule, onClose }: ScheduleFormProps) {
  const project = useProject();
  const navigate = useNavigate({ from: "/models" });
  const [fields, setFields] = useState(initial);
  const { value: args } = jsonIn(fields.args, "object");
  const { mutate, isPending, error } = useModelsChange(async () => {
    const { id } = await postAnalyticsModelsSchedules(project, scheduleOf(fields, args!));
    onClose();
    await navigate({ search: { tab: "schedules", schedule: id } });
  });
  const change: Change = (part) => setFields({ ...fields, ...part });
  return (
    <EditDialog
      title="New schedule"
      action="Create the schedule"
      size="lg"
      isComplete={isComplete(fields) && args !== undefined}
      {...{ isPending, problem: error, onClose }}
      onSave={() => mutate()}
    >
      <ScheduleHead fields={fields} models={models} onChange={change} />
      <InputRows rows={fields.inputs} onChange={(inputs) => change({ inputs })} />
      <OutputRows rows={fields.outputs} onChange={(outputs) => change({ outputs })} />
      <Times fields={fields} onChange={change} />
      <JsonField
        label="Arguments of predict, a JSON object"
        kind="object"
        value={fields.args}
        onChange={(text) => change({ args: text })}
      />
    </EditDialog>
  );
}

interface PartProps {
  readonly fields: ScheduleFields;
  readonly onChange: Change;
}

function ScheduleHead({ fields, models, onChange }: PartProps & { readonly models: readonly Model[] }) {
  return (
    <>
      <Group grow align="flex-start">
        <TextInput
          label="Name"
          required
          data-autofocus
          value={fields.name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
        <Select
          label="Model"
          required
          searchable
          placeholder="Choose a model"
          nothingFoundMessage="There is no such model"
          data={models.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={fields.modelId === undefined ? null : String(fields.modelId)}
          onChange={(id) => onChange({ modelId: id === null ? undefined : Number(id) })}
        />
      </Group>
      <Textarea
        label="Description"
        autosize
        value={fields.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
    </>
  );
}

const Times = ({ fields, onChange }: PartProps) => (
  <Fieldset legend="Times">
    <Group grow align="flex-start" preventGrowOverflow={false}>
      <Span label="A run every" value={fields.stride} onChange={(stride) => onChange({ stride })} />
      <Span label="Length of the window" value={fields.window} onChange={(window) => onChange({ window })} />
    </Group>
    <Group grow align="flex-start" mt="xs" preventGrowOverflow={false}>
      <DateTimePicker
        label="End of the first window"
        placeholder="Now"
        withSeconds
        clearable
        clearButtonProps={{ "aria-label": "Clear the end of the first window" }}
        value={fields.start}
        onChange={(start) => onChange({ start })}
      />
      <Span
        label="Wait for late data"
        isDisabled={fields.waitsForData}
        value={fields.slack}
        onChange={(slack) => onChange({ slack })}
      />
    </Group>
    <Checkbox
      mt="xs"
      label="Wait until each input has a point at or after the end of the window"
      checked={fields.waitsForData}
      onChange={(event) => onChange({ waitsForData: event.currentTarget.checked })}
    />
    <Text size="xs" c="var(--text-quiet)" mt={6}>
      Times are multiples of the largest granularity. Missed windows run one after the other.
    </Text>
  </Fieldset>
);

interface SpanProps {
  readonly label: string;
  readonly value: SpanFields;
  readonly isDisabled?: boolean;
  onChange(value: SpanFields): void;
}

const Span = ({ label, value, isDisabled = false, onChange }: SpanProps) => (
  <Group gap={6} align="flex-end" wrap="nowrap">
    <NumberInput
      label={label}
      min={0}
      disabled={isDisabled}
      value={value.count}
      onChange={(count) => onChange({ ...value, count })}
      flex={1}
      miw={80}
    />
    <NativeSelect
      aria-label={`Unit of ${label}`}
      disabled={isDisabled}
      data={spanUnits.map(({ ms, label: unit }) => ({ value: String(ms), label: unit }))}
      value={String(value.unitMs)}
      onChange={(event) => onChange({ ...value, unitMs: Number(event.currentTarget.value) })}
      w={110}
    />
  </Group>
);

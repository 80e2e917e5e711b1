// When a transformation runs by itself: at cron times, at an interval, or after another transformation.
import { NativeSelect, NumberInput, Select, SimpleGrid, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useProject } from "../../session/session.ts";
import { transformationsQuery } from "../../ui/transformation-list.ts";
import type { Timing } from "./transformation-fields.ts";
import type { InputsProps } from "./transformation-form.tsx";
import { unscheduledText } from "./transformations-data.ts";

const timings: readonly { readonly value: Timing; readonly label: string }[] = [
  { value: "none", label: unscheduledText },
  { value: "cron", label: "At times of the day or week" },
  { value: "minutes", label: "At an interval" },
  { value: "after", label: "After another transformation" },
];

export function ScheduleInputs({ fields, onChange }: InputsProps) {
  const { timing, minutes } = fields;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <NativeSelect
        label="Runs"
        data={[...timings]}
        value={timing}
        onChange={(event) => onChange({ timing: event.currentTarget.value as Timing })}
      />
      {timing === "minutes" && (
        <NumberInput
          label="Minutes from one start to the next"
          min={1}
          allowDecimal={false}
          value={minutes}
          onChange={(value) => onChange({ minutes: Number(value) })}
        />
      )}
      {timing === "after" && <AfterInput {...{ fields, onChange }} />}
      {timing === "cron" && <CronInputs {...{ fields, onChange }} />}
    </SimpleGrid>
  );
}

function AfterInput({ fields: { after, externalId }, onChange }: InputsProps) {
  const { data = [] } = useQuery(transformationsQuery(useProject()));
  const others = data.filter((one) => one.externalId !== externalId);
  return (
    <Select
      label="After each successful run of"
      searchable
      nothingFoundMessage="There is no other transformation"
      data={others.map((one) => ({ value: one.externalId, label: one.name }))}
      value={after}
      onChange={(value) => onChange({ after: value ?? "" })}
    />
  );
}

function CronInputs({ fields: { cron, timeZone }, onChange }: InputsProps) {
  return (
    <>
      <Select
        label="Time zone"
        searchable
        allowDeselect={false}
        data={["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")]}
        value={timeZone}
        onChange={(value) => value && onChange({ timeZone: value })}
      />
      <TextInput
        label="Minute, hour, day, month, weekday"
        description="0 6 * * 1-5 is 6:00 from Monday to Friday"
        classNames={{ input: "code" }}
        value={cron}
        onChange={(event) => onChange({ cron: event.currentTarget.value })}
      />
    </>
  );
}

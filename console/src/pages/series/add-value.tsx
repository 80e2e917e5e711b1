// Adds one point to a series, such as a value of the laboratory. A point that it replaces is shown before.
import { Alert, NativeSelect, TextInput } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf, statusOf } from "../../api/errors.ts";
import {
  type Datapoint,
  getTimeseriesByIdData,
  postTimeseriesByIdData,
  type TimeSeries,
} from "../../api/generated.ts";
import { timeText, valueText } from "../../lib/format.ts";
import { localTimesMs, localTimeText, offsetText } from "../../lib/local-time.ts";
import { browserZone } from "../../lib/zoned-time.ts";
import { useProject } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { endOfTimeMs, startOfTimeMs } from "./all-time.ts";
import { type TypedValue, typedValue } from "./typed-value.ts";

interface AddValueProps {
  readonly series: TimeSeries;
  onAdded(): void;
  onClose(): void;
}

export function AddValue({ series, onAdded, onClose }: AddValueProps) {
  const { id, name, unit, isString } = series;
  const project = useProject();
  const time = useTypedTime();
  const { timeMs, problem: timeProblem } = time;
  const [text, setText] = useState("");
  const typed = typedValue(text, isString);
  const stored = useQuery({
    queryKey: ["series values", project, "point of", id, timeMs],
    enabled: timeProblem === undefined,
    staleTime: 0,
    queryFn: ({ signal }) => pointAt({ project, id, timeMs: timeMs! }, signal),
  });
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async (point: Datapoint) => {
      const { data, error: unread } = await stored.refetch();
      if (unread) throw unread;
      // Another point came since: the form shows it, and is submitted again.
      if (data?.value !== stored.data?.value) return false;
      await postTimeseriesByIdData(project, id, { items: [point] });
      return true;
    },
    onSuccess: (isStored) => isStored && onAdded(),
  });
  const isRefused = statusOf(error) === 400;
  const change = (set: () => void) => {
    reset();
    set();
  };
  return (
    <EditDialog
      title={`Add a value to ${name}`}
      action={stored.data ? "Replace the value" : "Add the value"}
      isComplete={typed.value !== undefined && timeProblem === undefined && stored.data !== undefined}
      isPending={isPending}
      problem={stored.error ?? (isRefused ? null : error)}
      onSave={() => mutate({ timestamp: timeMs!, value: typed.value! })}
      onClose={onClose}
    >
      <TimeInput time={time} change={change} />
      <ValueInput
        {...{ text, typed, unit, isString }}
        refusal={isRefused ? messageOf(error) : undefined}
        onChange={(changed) => change(() => setText(changed))}
      />
      {timeProblem === undefined && stored.data && <Replaced point={stored.data} unit={unit} />}
    </EditDialog>
  );
}

/** The text of a time, and the times that the clock shows as this text. */
function useTypedTime() {
  const [chosenMs, setChosenMs] = useState(wholeSecondMs);
  const [text, setText] = useState(() => localTimeText(chosenMs));
  const times = localTimesMs(text);
  const timeMs = times.includes(chosenMs) ? chosenMs : times[0];
  return { text, setText, times, timeMs, setChosenMs, problem: timeProblemOf(text, timeMs) };
}

const wholeSecondMs = (): number => Math.floor(Date.now() / 1_000) * 1_000;

interface TimeInputProps {
  readonly time: ReturnType<typeof useTypedTime>;
  change(set: () => void): void;
}

const TimeInput = ({ time, change }: TimeInputProps) => (
  <>
    <DateTimePicker
      label="Time"
      description={`On the clock of ${browserZone()}`}
      value={time.text}
      onChange={(changed) => change(() => time.setText(changed))}
      withSeconds
      error={time.problem}
    />
    {time.times.length > 1 && (
      <NativeSelect
        label="Which of the two times"
        description="The clock is put back and shows this time twice."
        data={time.times.map((timeMs) => ({ value: String(timeMs), label: offsetText(timeMs) }))}
        value={String(time.timeMs)}
        onChange={({ currentTarget: { value } }) => change(() => time.setChosenMs(Number(value)))}
      />
    )}
  </>
);

interface ValueInputProps {
  readonly text: string;
  readonly typed: TypedValue;
  readonly unit: string | undefined;
  readonly isString: boolean;
  readonly refusal: string | undefined;
  onChange(text: string): void;
}

const ValueInput = ({ text, typed, unit, isString, refusal, onChange }: ValueInputProps) => (
  <TextInput
    label={unit === undefined ? "Value" : `Value in ${unit}`}
    description={isString ? "Text" : undefined}
    inputMode={isString ? "text" : "decimal"}
    autoComplete="off"
    data-autofocus
    value={text}
    onChange={(event) => onChange(event.currentTarget.value)}
    error={refusal ?? typed.problem}
  />
);

function Replaced({ point, unit }: { readonly point: Datapoint; readonly unit: string | undefined }) {
  const withUnit = `${valueText(point.value)}${unit === undefined ? "" : ` ${unit}`}`;
  return (
    <Alert color="orange" role="status" title="There is a value at this time">
      {withUnit} at {timeText(point.timestamp)} is replaced. This cannot be undone.
    </Alert>
  );
}

function timeProblemOf(text: string | null, timeMs: number | undefined): string | undefined {
  if (text === null || text === "") return "Choose the time of the value.";
  if (timeMs === undefined) return "The clock is put forward and skips this time.";
  return timeMs < startOfTimeMs || timeMs > endOfTimeMs
    ? "The time must be in the years 1900 to 2099."
    : undefined;
}

interface PointPlace {
  readonly project: string;
  readonly id: number;
  readonly timeMs: number;
}

/** The point at exactly that time, or null. */
async function pointAt({ project, id, timeMs }: PointPlace, signal: AbortSignal): Promise<Datapoint | null> {
  const query = { start: String(timeMs), end: String(timeMs + 1), limit: 1 };
  const { data } = await getTimeseriesByIdData(project, id, query, { signal });
  return (data.items[0]?.datapoints[0] as Datapoint | undefined) ?? null;
}

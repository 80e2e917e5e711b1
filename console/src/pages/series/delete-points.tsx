// Deletes the points of a time range, after a count of them.
import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { deleteTimeseriesByIdDataDeleterange, type TimeSeries } from "../../api/generated.ts";
import { countText } from "../../lib/format.ts";
import { localTimeMs, localTimeText } from "../../lib/local-time.ts";
import { useProject } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { usePointCount } from "./all-time.ts";

const hourMs = 3_600_000;

interface DeletePointsProps {
  readonly series: TimeSeries;
  onDeleted(): void;
  onClose(): void;
}

export function DeletePoints({ series: { id, name }, onDeleted, onClose }: DeletePointsProps) {
  useReturnedFocus();
  const project = useProject();
  const [now] = useState(Date.now);
  const [start, setStart] = useState<string | null>(localTimeText(now - hourMs));
  const [end, setEnd] = useState<string | null>(localTimeText(now));
  const startMs = localTimeMs(start) ?? Number.NaN;
  const endMs = localTimeMs(end) ?? Number.NaN;
  const count = usePointCount(id, { startMs, endMs });
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteTimeseriesByIdDataDeleterange(project, id, String(startMs), String(endMs)),
    onSuccess: onDeleted,
  });
  const isRange = startMs < endMs;
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Delete points of ${name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        <Group grow align="flex-start">
          <DateTimePicker label="From" value={start} onChange={setStart} withSeconds />
          <DateTimePicker label="To, not included" value={end} onChange={setEnd} withSeconds />
        </Group>
        <Text size="sm" role="status">
          {isRange ? <CountOfPoints count={count.data} /> : "The start must be before the end."}
        </Text>
        <Refusal problem={count.error ?? error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button
            color="red.8"
            disabled={!isRange || !count.data}
            loading={isPending}
            onClick={() => mutate()}
          >
            Delete {count.data ? countText(count.data) : ""} points
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function CountOfPoints({ count }: { count: number | undefined }) {
  if (count === undefined) return "Counting the points…";
  if (count === 0) return "There are no points in this range.";
  return (
    <>
      <b>{countText(count)}</b> points are in this range. Deleting them cannot be undone.
    </>
  );
}

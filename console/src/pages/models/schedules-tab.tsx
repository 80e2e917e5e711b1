// Schedules with their last and next runs, and the runs of one schedule.
import { Drawer, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarClock } from "lucide-react";
import type { Model, ModelSchedule, ModelScheduleRun } from "../../api/generated.ts";
import { countText, durationText, timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import { nextRunMs, runsQuery, schedulesQuery } from "./models-data.ts";
import { StatusBadge } from "./status-badge.tsx";

export function SchedulesTab({ models }: { models: readonly Model[] }) {
  const schedules = useQuery(schedulesQuery(useProject()));
  const { schedule: openId } = useSearch({ from: "/frame/models" });
  const navigate = useNavigate({ from: "/models" });
  if (schedules.isPending) return <Loading what="the schedules" />;
  if (schedules.isError)
    return <Failure problem={schedules.error} onRetry={() => void schedules.refetch()} />;
  const open = schedules.data.find(({ id }) => id === openId);
  const show = (schedule: number | undefined) => void navigate({ search: { tab: "schedules", schedule } });
  return (
    <>
      <VirtualTable
        label="Schedules"
        columns={columnsOf(models)}
        rows={schedules.data}
        rowKey={({ id }) => id}
        onOpen={({ id }) => show(id)}
        empty={
          <Empty title="There are no schedules yet" icon={<CalendarClock size={28} aria-hidden />}>
            A schedule runs a model once for each window of time, and writes its results to series. Create one
            through the API (docs/models.md).
          </Empty>
        }
      />
      {open && <RunsDrawer schedule={open} onClose={() => show(undefined)} />}
    </>
  );
}

const strideOf = ({ dataSpec }: ModelSchedule): string =>
  typeof dataSpec?.["stride"] === "number" ? `every ${durationText(dataSpec["stride"])}` : "";

const columnsOf = (models: readonly Model[]): TableColumn<ModelSchedule>[] => [
  { key: "name", label: "Name", width: "minmax(100px, 2fr)", cell: ({ name }) => name },
  {
    ...{ key: "model", label: "Model", width: "minmax(100px, 1fr)", isOptional: true },
    cell: ({ modelId }) => models.find(({ id }) => id === modelId)?.name ?? modelId,
  },
  { key: "stride", label: "Runs", width: "110px", isOptional: true, cell: strideOf },
  { key: "last", label: "Last run", width: "130px", cell: (schedule) => <LastRun schedule={schedule} /> },
  {
    ...{ key: "next", label: "Next run", width: "170px", isOptional: true },
    cell: (schedule) => <NextRun schedule={schedule} />,
  },
];

function LastRun({ schedule }: { schedule: ModelSchedule }) {
  const { data } = useQuery(runsQuery(useProject(), schedule.id));
  if (data === undefined) return "…";
  return data[0] ? <StatusBadge status={data[0].status} /> : "none yet";
}

function NextRun({ schedule }: { schedule: ModelSchedule }) {
  const { data } = useQuery(runsQuery(useProject(), schedule.id));
  if (data === undefined) return "…";
  if (schedule.isDeprecated) return "none: deprecated";
  const timeMs = nextRunMs(schedule, data);
  return timeMs === undefined ? "when its data are there" : timeText(timeMs);
}

function RunsDrawer({ schedule, onClose }: { schedule: ModelSchedule; onClose(): void }) {
  const runs = useQuery(runsQuery(useProject(), schedule.id));
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={`Runs of ${schedule.name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        <Text size="sm" c="var(--text-quiet)">
          The next run: <NextRun schedule={schedule} />
        </Text>
        {runs.isPending && <Loading what="the runs" />}
        {runs.isError && <Failure problem={runs.error} />}
        {runs.data && <RunsTable runs={runs.data} />}
      </Stack>
    </Drawer>
  );
}

const RunsTable = ({ runs }: { runs: readonly ModelScheduleRun[] }) => (
  <Table.ScrollContainer minWidth={480}>
    <Table aria-label="Runs" fz="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>End of the window</Table.Th>
          <Table.Th>Outcome</Table.Th>
          <Table.Th ta="right">Points</Table.Th>
          <Table.Th>Reason</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {runs.map(({ id, windowEnd, status, datapoints, errorMsg }) => (
          <Table.Tr key={id}>
            <Table.Td>{timeText(windowEnd)}</Table.Td>
            <Table.Td>
              <StatusBadge status={status} />
            </Table.Td>
            <Table.Td ta="right">{datapoints === null ? "" : countText(datapoints)}</Table.Td>
            <Table.Td>{errorMsg}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

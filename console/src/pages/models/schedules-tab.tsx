// Schedules with their last and next runs.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarClock } from "lucide-react";
import type { Model, ModelSchedule } from "../../api/generated.ts";
import { durationText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import { runsQuery, schedulesQuery } from "./models-data.ts";
import { NextRun } from "./next-run.tsx";
import { ScheduleDrawer } from "./schedule-drawer.tsx";

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
            A schedule runs a model once for each window of time, and writes its results to series.
          </Empty>
        }
      />
      {open && (
        <ScheduleDrawer key={open.id} schedule={open} models={models} onClose={() => show(undefined)} />
      )}
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

// One schedule: the series it reads and writes, its runs, and the steps that end it.
import { Button, Drawer, Group, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { CircleStop, Copy, Trash2 } from "lucide-react";
import {
  deleteAnalyticsModelsSchedulesByScheduleId,
  type Model,
  type ModelSchedule,
  type ModelScheduleRun,
  putAnalyticsModelsSchedulesByScheduleIdDeprecate,
} from "../../api/generated.ts";
import { countOf, countText, durationText, timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Facts } from "../../ui/facts.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { RecordMenu } from "../../ui/record-menu.tsx";
import { useSeriesNames } from "../../ui/series-hits.ts";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { ConfirmStep, useDialog } from "./confirm-step.tsx";
import { runCountQuery, runsQuery } from "./models-data.ts";
import { NextRun } from "./next-run.tsx";
import { canCopy, copyOf, specOf } from "./schedule-fields.ts";
import { ScheduleForm } from "./schedule-form.tsx";

interface ScheduleProps {
  readonly schedule: ModelSchedule;
  readonly models: readonly Model[];
  onClose(): void;
}

export function ScheduleDrawer({ schedule, models, onClose }: ScheduleProps) {
  useReturnedFocus();
  const project = useProject();
  const runs = useQuery(runsQuery(project, schedule.id));
  const mayWrite = mayDo(useSession(), "modelHostingAcl", "WRITE");
  const model = models.find(({ id }) => id === schedule.modelId);
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={`Schedule ${schedule.name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        {schedule.description && <Text size="sm">{schedule.description}</Text>}
        <Group>
          {mayWrite && <ScheduleActions {...{ schedule, models, onClose }} />}
          <CopyAs request={{ method: "GET", project, path: `/analytics/models/schedules/${schedule.id}` }} />
        </Group>
        <ScheduleFacts schedule={schedule} model={model} />
        <Title order={2} size="h5">
          Runs
        </Title>
        {model && <LogLink model={model} />}
        {runs.isPending && <Loading what="the runs" />}
        {runs.isError && <Failure problem={runs.error} />}
        {runs.data && <RunsTable runs={runs.data} />}
      </Stack>
    </Drawer>
  );
}

const LogLink = ({ model: { id, activeVersionId } }: { model: Model }) =>
  activeVersionId === null ? (
    <Text size="sm" role="alert">
      The model has no active version, so runs fail. Make a version active.
    </Text>
  ) : (
    <TextLink to="/models" search={{ model: id, modelVersion: activeVersionId }}>
      Output of the code: the log of the active version
    </TextLink>
  );

function ScheduleFacts({ schedule, model }: { schedule: ModelSchedule; model: Model | undefined }) {
  const { stride, windowSize, slack, start, input, output } = specOf(schedule) ?? {};
  const inputs = Object.entries(input?.timeSeries ?? {});
  const outputs = Object.entries(output?.timeSeries ?? {});
  const nameOf = useSeriesNames([...inputs, ...outputs].map(([, { id }]) => id));
  const linkTo = (alias: string, id: number, note = "") => (
    <div key={alias}>
      {alias}:{" "}
      <TextLink to="/series/$id" params={{ id }}>
        {nameOf(id)}
      </TextLink>
      {note}
    </div>
  );
  const args = JSON.stringify(schedule.args);
  return (
    <Facts
      facts={[
        { label: "Next run", value: <NextRun schedule={schedule} /> },
        {
          label: "Model",
          value: model && (
            <TextLink to="/models" search={{ model: model.id }}>
              {model.name}
            </TextLink>
          ),
        },
        {
          label: "Inputs",
          value:
            inputs.length > 0 &&
            inputs.map(([alias, one]) =>
              linkTo(alias, one.id, one.aggregate && `, ${one.aggregate} of ${one.granularity}`),
            ),
        },
        {
          label: "Outputs",
          value: outputs.length > 0 && outputs.map(([alias, { id }]) => linkTo(alias, id)),
        },
        { label: "A run every", value: stride !== undefined && durationText(stride) },
        { label: "Window", value: windowSize !== undefined && durationText(windowSize) },
        { label: "Waits for late data", value: slackText(slack) },
        { label: "First window ends", value: typeof start === "number" && timeText(start) },
        { label: "Arguments", value: args !== "{}" && args },
        { label: "Created", value: timeText(schedule.createdTime) },
      ]}
    />
  );
}

function slackText(slack = 0): string {
  if (slack === 0) return "";
  return slack === -1 ? "until each input has a later point" : durationText(slack);
}

function ScheduleActions({ schedule, models, onClose }: ScheduleProps) {
  const project = useProject();
  const { dialog, open, close } = useDialog<"copy" | "stop" | "delete">();
  const { id, name, isDeprecated } = schedule;
  const all = [
    canCopy(schedule) && {
      label: "Copy to a new schedule…",
      icon: Copy,
      run: () => open("copy"),
    },
    { label: "Delete…", icon: Trash2, isDanger: true, run: () => open("delete") },
  ];
  const stop = {
    title: `Stop the schedule ${name}?`,
    action: "Stop the schedule",
    effect: "No further window runs. The list of its runs and the written points stay.",
    run: () => putAnalyticsModelsSchedulesByScheduleIdDeprecate(project, id, {}),
  };
  return (
    <>
      {!isDeprecated && (
        <Button
          size="xs"
          variant="default"
          leftSection={<CircleStop size={14} aria-hidden />}
          onClick={() => open("stop")}
        >
          Stop…
        </Button>
      )}
      <RecordMenu label={`Change the schedule ${name}`} actions={all.filter((one) => one !== false)} />
      {dialog === "copy" && <ScheduleForm models={models} initial={copyOf(schedule)} onClose={close} />}
      {dialog === "stop" && <ConfirmStep step={stop} onClose={close} />}
      {dialog === "delete" && <DeleteSchedule schedule={schedule} onDeleted={onClose} onClose={close} />}
    </>
  );
}

interface DeleteScheduleProps {
  readonly schedule: ModelSchedule;
  onDeleted(): void;
  onClose(): void;
}

function DeleteSchedule({ schedule: { id, name }, onDeleted, onClose }: DeleteScheduleProps) {
  const project = useProject();
  const { data: count } = useQuery(runCountQuery(project, id));
  const runs = count === undefined ? "its runs" : `the records of ${countOf(count, "run")}`;
  const step = {
    title: `Delete the schedule ${name}?`,
    action: "Delete the schedule",
    effect: `The schedule and ${runs} are deleted. A run in progress stops. The written points stay.`,
    run: async () => {
      await deleteAnalyticsModelsSchedulesByScheduleId(project, id);
      onDeleted();
    },
  };
  return <ConfirmStep step={step} onClose={onClose} />;
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

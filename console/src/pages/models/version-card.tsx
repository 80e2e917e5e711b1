// A version of a model: its state, its log and artifacts, and the actions that its state allows.
import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Archive, Pencil, Trash2 } from "lucide-react";
import {
  deleteAnalyticsModelsByModelIdVersionsByVersionId,
  type Model,
  type ModelVersion,
  postAnalyticsModelsByModelIdVersionsByVersionIdDeploy,
  putAnalyticsModelsByModelIdUpdate,
  putAnalyticsModelsByModelIdVersionsByVersionIdDeprecate,
  putAnalyticsModelsByModelIdVersionsByVersionIdUpdate,
} from "../../api/generated.ts";
import { bytesText, countOf, timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { Facts } from "../../ui/facts.tsx";
import { RecordMenu } from "../../ui/record-menu.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Artifacts } from "./artifacts.tsx";
import { ConfirmStep, type FinalStep, useDialog } from "./confirm-step.tsx";
import { EditDescribed } from "./described-form.tsx";
import classes from "./models.module.css";
import { artifactsQuery, isInProgress, packagesQuery, useModelsChange } from "./models-data.ts";
import { JobProgress, VersionLog } from "./version-log.tsx";

interface VersionProps {
  readonly model: Model;
  readonly version: ModelVersion;
}

export function VersionCard({ model, version }: VersionProps) {
  const { modelVersion: openId } = useSearch({ from: "/frame/models" });
  const navigate = useNavigate({ from: "/models" });
  const packages = useQuery(packagesQuery(useProject()));
  const source = packages.data?.find(({ id }) => id === version.sourcePackageId);
  const mayWrite = mayDo(useSession(), "modelHostingAcl", "WRITE");
  const isOpen = version.id === openId;
  const toggle = () =>
    void navigate({ search: { model: model.id, ...(isOpen ? {} : { modelVersion: version.id }) } });
  return (
    <Stack gap={6} component="section" aria-label={`Version ${version.name}`} className={classes["version"]}>
      <Group gap="xs">
        <Text fw={600}>{version.name}</Text>
        <StatusBadge status={version.status} />
        {version.id === model.activeVersionId && <Badge variant="light">active</Badge>}
        {version.isDeprecated && <Badge color="gray">deprecated</Badge>}
        <Group gap="xs" ml="auto">
          <Button size="compact-sm" variant="default" aria-expanded={isOpen} onClick={toggle}>
            {isOpen ? "Hide the log" : "Log"}
          </Button>
          {mayWrite && <VersionMenu model={model} version={version} />}
        </Group>
      </Group>
      <Text size="sm" c="var(--text-quiet)">
        Created {timeText(version.createdTime)} from the package {source?.name ?? version.sourcePackageId}
      </Text>
      {version.description && <Text size="sm">{version.description}</Text>}
      {version.errorMsg !== null && (
        <Text size="sm" role="alert">
          {version.errorMsg}
        </Text>
      )}
      <JobProgress version={version} />
      {mayWrite && <NextSteps model={model} version={version} />}
      {isOpen && <VersionDetails version={version} mayWrite={mayWrite} />}
    </Stack>
  );
}

function VersionDetails({ version, mayWrite }: { version: ModelVersion; mayWrite: boolean }) {
  const { trainingDetails, metadata } = version;
  const args = Object.entries(trainingDetails?.args ?? {}).map(([name, value]) => ({
    label: `Argument ${name}`,
    value: JSON.stringify(value),
  }));
  const pairs = Object.entries(metadata as Record<string, string>).map(([label, value]) => ({
    label,
    value,
  }));
  return (
    <>
      <Facts facts={[...args, ...pairs]} />
      <VersionLog version={version} />
      <Artifacts version={version} mayWrite={mayWrite} />
    </>
  );
}

/** The step that brings the version to predictions. */
function NextSteps({ model, version: { id, status } }: VersionProps) {
  const project = useProject();
  const isActive = model.activeVersionId === id;
  const step = useModelsChange(async (activeVersionId: { set: number } | { setNull: true } | undefined) =>
    activeVersionId === undefined
      ? postAnalyticsModelsByModelIdVersionsByVersionIdDeploy(project, model.id, id, {})
      : putAnalyticsModelsByModelIdUpdate(project, model.id, { activeVersionId }),
  );
  const button = (label: string, sent: Parameters<typeof step.mutate>[0], isQuiet = false) => (
    <Button
      size="compact-sm"
      variant={isQuiet ? "default" : "filled"}
      loading={step.isPending}
      onClick={() => step.mutate(sent)}
    >
      {label}
    </Button>
  );
  const canDeploy = status === "AWAITING_MANUAL_DEPLOYMENT" || status === "FAILED";
  return (
    <>
      <Group gap="xs">
        {canDeploy && button(status === "FAILED" ? "Deploy again" : "Deploy", undefined)}
        {status === "READY" && !isActive && button("Make active", { set: id })}
        {isActive && button("Make inactive", { setNull: true }, true)}
      </Group>
      <Refusal problem={step.error} />
    </>
  );
}

function VersionMenu({ model, version }: VersionProps) {
  const project = useProject();
  const { dialog, open, close } = useDialog<"edit" | "deprecate" | "delete">();
  const { id, name, isDeprecated } = version;
  const isRunning = isInProgress(version);
  const deprecate = {
    ...{ label: "Deprecate…", icon: Archive },
    run: () => open("deprecate"),
  };
  return (
    <>
      {isRunning && (
        <Button size="compact-sm" variant="default" onClick={() => open("delete")}>
          Stop…
        </Button>
      )}
      <RecordMenu
        label={`Change the version ${name}`}
        actions={[
          { label: "Edit…", icon: Pencil, run: () => open("edit") },
          ...(isDeprecated ? [] : [deprecate]),
          {
            ...{ label: isRunning ? "Stop and delete…" : "Delete…", isDanger: true },
            ...{ icon: Trash2, run: () => open("delete") },
          },
        ]}
      />
      {dialog === "edit" && (
        <EditDescribed
          title={`Edit the version ${name}`}
          record={version}
          save={(change) =>
            putAnalyticsModelsByModelIdVersionsByVersionIdUpdate(project, model.id, id, change)
          }
          onClose={close}
        />
      )}
      {dialog === "deprecate" && <ConfirmStep step={deprecation(project, version)} onClose={close} />}
      {dialog === "delete" && <DeleteVersion model={model} version={version} onClose={close} />}
    </>
  );
}

const deprecation = (project: string, { modelId, id, name }: ModelVersion): FinalStep => ({
  title: `Deprecate the version ${name}?`,
  action: "Deprecate the version",
  effect: "The version is marked as deprecated for everybody. It still predicts.",
  run: () => putAnalyticsModelsByModelIdVersionsByVersionIdDeprecate(project, modelId, id, {}),
});

function DeleteVersion({ model, version, onClose }: VersionProps & { onClose(): void }) {
  const project = useProject();
  const artifacts = useQuery(artifactsQuery(project, version)).data;
  const { id, name } = version;
  const isRunning = isInProgress(version);
  const bytes = (artifacts ?? []).reduce((sum, { size }) => sum + size, 0);
  const step: FinalStep = {
    title: isRunning ? `Stop the version ${name}?` : `Delete the version ${name}?`,
    action: isRunning ? "Stop and delete the version" : "Delete the version",
    effect: (
      <>
        {isRunning && "Its job stops. "}
        {artifacts === undefined
          ? "The version and its artifacts and logs are deleted."
          : `The version, its logs and ${countOf(artifacts.length, "artifact")} (${bytesText(bytes)}) ` +
            "are deleted."}
        {model.activeVersionId === id &&
          " It is the active version: afterwards the model and its schedules cannot predict."}
      </>
    ),
    run: () => deleteAnalyticsModelsByModelIdVersionsByVersionId(project, model.id, id),
  };
  return <ConfirmStep step={step} onClose={onClose} />;
}

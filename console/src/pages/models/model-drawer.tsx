// One model: its description, a form for a prediction, and its versions.
import { Badge, Drawer, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Archive, Pencil, Trash2 } from "lucide-react";
import {
  deleteAnalyticsModelsByModelId,
  type Model,
  putAnalyticsModelsByModelIdDeprecate,
  putAnalyticsModelsByModelIdUpdate,
} from "../../api/generated.ts";
import { countOf } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { MetadataCard } from "../../ui/facts.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { RecordMenu } from "../../ui/record-menu.tsx";
import { ConfirmStep, type FinalStep, useDialog } from "./confirm-step.tsx";
import { EditDescribed } from "./described-form.tsx";
import { schedulesQuery, versionsQuery } from "./models-data.ts";
import { NewVersionButton } from "./new-version.tsx";
import { PredictionForm } from "./prediction-form.tsx";
import { VersionCard } from "./version-card.tsx";

interface ModelDrawerProps {
  readonly model: Model;
  onClose(): void;
}

export function ModelDrawer({ model, onClose }: ModelDrawerProps) {
  useReturnedFocus();
  const project = useProject();
  const mayWrite = mayDo(useSession(), "modelHostingAcl", "WRITE");
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={`Model ${model.name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        {model.description && <Text size="sm">{model.description}</Text>}
        <Group>
          {model.isDeprecated && <Badge color="gray">deprecated</Badge>}
          {mayWrite && <NewVersionButton model={model} />}
          <CopyAs request={{ method: "GET", project, path: `/analytics/models/${model.id}` }} />
          {mayWrite && <ModelMenu model={model} onDeleted={onClose} />}
        </Group>
        <MetadataCard metadata={model.metadata as Record<string, string>} />
        <Title order={2} size="h5">
          Try a prediction
        </Title>
        <PredictionForm model={model} />
        <Title order={2} size="h5">
          Versions
        </Title>
        <Versions model={model} />
      </Stack>
    </Drawer>
  );
}

function Versions({ model }: { model: Model }) {
  const { data, error, isPending, refetch } = useQuery(versionsQuery(useProject(), model.id));
  if (isPending) return <Loading what="the versions" />;
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  if (data.length === 0) return <Text size="sm">The model has no versions.</Text>;
  return data.toReversed().map((version) => <VersionCard key={version.id} model={model} version={version} />);
}

function ModelMenu({ model, onDeleted }: { model: Model; onDeleted(): void }) {
  const project = useProject();
  const { dialog, open, close } = useDialog<"edit" | "deprecate" | "delete">();
  const { id, name, isDeprecated } = model;
  const deprecate = {
    ...{ label: "Deprecate…", icon: Archive },
    run: () => open("deprecate"),
  };
  return (
    <>
      <RecordMenu
        label={`Change the model ${name}`}
        actions={[
          { label: "Edit…", icon: Pencil, run: () => open("edit") },
          ...(isDeprecated ? [] : [deprecate]),
          {
            ...{ label: "Delete…", isDanger: true },
            ...{ icon: Trash2, run: () => open("delete") },
          },
        ]}
      />
      {dialog === "edit" && (
        <EditDescribed
          title={`Edit the model ${name}`}
          record={model}
          save={(change) => putAnalyticsModelsByModelIdUpdate(project, id, change)}
          onClose={close}
        />
      )}
      {dialog === "deprecate" && <ConfirmStep step={deprecation(project, model)} onClose={close} />}
      {dialog === "delete" && <DeleteModel model={model} onDeleted={onDeleted} onClose={close} />}
    </>
  );
}

const deprecation = (project: string, { id, name }: Model): FinalStep => ({
  title: `Deprecate the model ${name}?`,
  action: "Deprecate the model",
  effect: "The model is marked as deprecated for everybody. Predictions and schedules still work.",
  run: () => putAnalyticsModelsByModelIdDeprecate(project, id, {}),
});

interface DeleteModelProps {
  readonly model: Model;
  onDeleted(): void;
  onClose(): void;
}

function DeleteModel({ model: { id, name }, onDeleted, onClose }: DeleteModelProps) {
  const project = useProject();
  const versions = useQuery(versionsQuery(project, id)).data;
  const schedules = useQuery(schedulesQuery(project)).data?.filter(({ modelId }) => modelId === id);
  const step: FinalStep = {
    title: `Delete the model ${name}?`,
    action: "Delete the model",
    effect:
      versions === undefined || schedules === undefined
        ? "Its versions and schedules are being counted…"
        : `The model, ${countOf(versions.length, "version")} with artifacts and logs, and ` +
          `${countOf(schedules.length, "schedule")} with runs are deleted. Jobs that run are stopped. ` +
          "Source packages, and the points that schedules wrote, stay.",
    run: async () => {
      await deleteAnalyticsModelsByModelId(project, id);
      onDeleted();
    },
  };
  return <ConfirmStep step={step} onClose={onClose} />;
}

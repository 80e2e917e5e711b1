// One model: its versions with their logs, and a form for a prediction.
import { Badge, Box, Button, Drawer, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  getAnalyticsModelsByModelIdVersionsByVersionIdLog,
  type Model,
  type ModelVersion,
} from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Failure, Loading } from "../../ui/page-states.tsx";
import classes from "./models.module.css";
import { packagesQuery, versionsQuery } from "./models-data.ts";
import { PredictionForm } from "./prediction-form.tsx";
import { StatusBadge } from "./status-badge.tsx";

export function ModelDrawer({ model, onClose }: { model: Model; onClose(): void }) {
  const project = useProject();
  const versions = useQuery(versionsQuery(project, model.id));
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
          <CopyAs request={{ method: "GET", project, path: `/analytics/models/${model.id}` }} />
        </Group>
        <Title order={2} size="h5">
          Try a prediction
        </Title>
        <PredictionForm model={model} />
        <Title order={2} size="h5">
          Versions
        </Title>
        {versions.isPending && <Loading what="the versions" />}
        {versions.isError && <Failure problem={versions.error} onRetry={() => void versions.refetch()} />}
        {versions.data?.length === 0 && <Text size="sm">The model has no versions.</Text>}
        {versions.data?.toReversed().map((version) => (
          <VersionCard key={version.id} version={version} isActive={version.id === model.activeVersionId} />
        ))}
      </Stack>
    </Drawer>
  );
}

function VersionCard({ version, isActive }: { version: ModelVersion; isActive: boolean }) {
  const [showsLog, setShowsLog] = useState(false);
  const packages = useQuery(packagesQuery(useProject()));
  const source = packages.data?.find(({ id }) => id === version.sourcePackageId);
  return (
    <Stack gap={6} component="section" aria-label={`Version ${version.name}`}>
      <Group gap="xs">
        <Text fw={600}>{version.name}</Text>
        <StatusBadge status={version.status} />
        {isActive && <Badge variant="light">active</Badge>}
        <Button size="compact-xs" variant="default" ml="auto" onClick={() => setShowsLog(!showsLog)}>
          {showsLog ? "Hide the log" : "Log"}
        </Button>
      </Group>
      <Text size="sm" c="var(--text-quiet)">
        Created {timeText(version.createdTime)} from the package {source?.name ?? version.sourcePackageId}
      </Text>
      {version.errorMsg !== null && (
        <Text size="sm" role="alert">
          {version.errorMsg}
        </Text>
      )}
      {showsLog && <VersionLog version={version} />}
    </Stack>
  );
}

function VersionLog({ version: { modelId, id } }: { version: ModelVersion }) {
  const project = useProject();
  const log = useQuery({
    queryKey: ["models", project, "log", id],
    queryFn: async ({ signal }) =>
      (await getAnalyticsModelsByModelIdVersionsByVersionIdLog(project, modelId, id, {}, { signal })).data,
  });
  if (log.isPending) return <Loading what="the log" />;
  if (log.isError) return <Failure problem={log.error} />;
  const lines = [...log.data.train, ...log.data.predict];
  return (
    <Box component="pre" className={classes["output"]} tabIndex={0} role="region" aria-label="Log">
      {lines.length === 0 ? "The code has printed nothing." : lines.join("\n")}
    </Box>
  );
}

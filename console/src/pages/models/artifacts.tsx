// The artifacts of a version: downloads, and uploads while the version waits for its deployment.
import { Button, Group, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Download, FileUp } from "lucide-react";
import {
  getAnalyticsModelsByModelIdVersionsByVersionIdArtifactsByName,
  type ModelVersion,
  postAnalyticsModelsByModelIdVersionsByVersionIdArtifactsUpload,
} from "../../api/generated.ts";
import { bytesText, countText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { ChooseFiles } from "../../ui/choose-files.tsx";
import { Refusal } from "../../ui/confirm.tsx";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { artifactsQuery, useModelsChange } from "./models-data.ts";
import { TransferProgress } from "./transfer-progress.tsx";
import { useTransfer } from "./use-transfer.ts";

export function Artifacts({ version, mayWrite }: { version: ModelVersion; mayWrite: boolean }) {
  const { data, error, isPending } = useQuery(artifactsQuery(useProject(), version));
  const isOpen = version.status === "AWAITING_MANUAL_DEPLOYMENT";
  if (isPending) return <Loading what="the artifacts" />;
  if (error) return <Failure problem={error} />;
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {data.length === 0 ? "No artifacts" : `Artifacts: ${countText(data.length)}`}
      </Text>
      {data.length > 0 && <ArtifactTable version={version} artifacts={data} />}
      {isOpen && mayWrite && <ArtifactUpload version={version} />}
    </Stack>
  );
}

interface ArtifactTableProps {
  readonly version: ModelVersion;
  readonly artifacts: readonly { readonly name: string; readonly size: number }[];
}

function ArtifactTable({ version: { modelId, id }, artifacts }: ArtifactTableProps) {
  const project = useProject();
  const download = useModelsChange(async (name: string) => {
    const link = await getAnalyticsModelsByModelIdVersionsByVersionIdArtifactsByName(
      project,
      modelId,
      id,
      name,
    );
    window.location.assign(link.data.downloadUrl);
  });
  return (
    <>
      <Table aria-label="Artifacts" fz="sm">
        <Table.Tbody>
          {artifacts.map(({ name, size }) => (
            <Table.Tr key={name}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{name}</Table.Td>
              <Table.Td ta="right">{bytesText(size)}</Table.Td>
              <Table.Td ta="right">
                <Button
                  size="compact-xs"
                  variant="default"
                  leftSection={<Download size={13} aria-hidden />}
                  aria-label={`Download ${name}`}
                  onClick={() => download.mutate(name)}
                >
                  Download
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Refusal problem={download.error} />
    </>
  );
}

function ArtifactUpload({ version: { modelId, id } }: { version: ModelVersion }) {
  const project = useProject();
  const { state, send, cancel } = useTransfer();
  const upload = useModelsChange(async (files: readonly File[]) => {
    for (const file of files) {
      const { data } = await postAnalyticsModelsByModelIdVersionsByVersionIdArtifactsUpload(
        project,
        modelId,
        id,
        {
          name: file.name,
        },
      );
      if (!(await send(data.uploadUrl, file))) return;
    }
  });
  return (
    <>
      <Group>
        <ChooseFiles multiple label="Artifacts to upload" onChoose={upload.mutate}>
          {(props) => (
            <Button
              {...props}
              size="xs"
              variant="default"
              leftSection={<FileUp size={14} aria-hidden />}
              loading={upload.isPending}
            >
              Upload artifacts
            </Button>
          )}
        </ChooseFiles>
      </Group>
      {state && <TransferProgress state={state} onCancel={cancel} />}
      <Refusal problem={upload.error} />
    </>
  );
}

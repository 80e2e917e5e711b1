// The progress of a file on its way to the server, and the button that cancels it.
import { Button, Group, Progress, Stack, Text } from "@mantine/core";
import { bytesText } from "../../lib/format.ts";
import type { TransferState } from "./use-transfer.ts";

interface TransferProgressProps {
  readonly state: TransferState;
  onCancel(): void;
}

export function TransferProgress({ state: { file, received, waiting }, onCancel }: TransferProgressProps) {
  const percent = file.size === 0 ? 100 : (100 * received) / file.size;
  return (
    <Stack gap={6}>
      <Progress value={percent} animated aria-label={`Progress of ${file.name}`} />
      <Group justify="space-between">
        <Text size="sm" role="status">
          {bytesText(received)} of {bytesText(file.size)}
          {waiting && `. ${waiting}`}
        </Text>
        <Button size="compact-sm" variant="default" onClick={onCancel}>
          Cancel the upload
        </Button>
      </Group>
    </Stack>
  );
}

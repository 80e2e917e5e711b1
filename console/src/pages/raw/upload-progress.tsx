// The progress of an upload: how much is written, cancel, continue, and the way to the table.
import { Alert, Button, Group, Progress, Stack, Text } from "@mantine/core";
import { sentenceOf } from "../../api/errors.ts";
import { UnreadableCsv } from "../../lib/csv-file.ts";
import { bytesText, countText } from "../../lib/format.ts";
import type { UploadPlan, useUpload } from "./use-upload.ts";

interface UploadProgressProps {
  readonly upload: ReturnType<typeof useUpload>;
  readonly plan: UploadPlan;
  onClose(): void;
  onOpen(): void;
}

export function UploadProgress({ upload, plan, onClose, onOpen }: UploadProgressProps) {
  const { status, bytesRead, recordsDone, withoutKey, waiting, problem } = upload.state;
  const { file } = plan;
  const isUnreadable = problem instanceof UnreadableCsv;
  const part = file.size === 0 ? 100 : (100 * bytesRead) / file.size;
  return (
    <Stack>
      <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
        {file.name} ({bytesText(file.size)})
      </Text>
      <Progress
        value={status === "done" ? 100 : part}
        aria-label="Uploaded"
        animated={status === "running"}
      />
      <Text size="sm" role="status">
        {status === "done" ? "All rows are written: " : ""}
        {countText(recordsDone - withoutKey)} rows written, {bytesText(bytesRead)} of {bytesText(file.size)}
      </Text>
      <Text size="sm" role="status">
        {waiting}
      </Text>
      {withoutKey > 0 && (
        <Alert color="orange" title={`${countText(withoutKey)} rows have no key`}>
          They are left out. Choose another key column to load them.
        </Alert>
      )}
      {status === "stopped" && <Stopped problem={problem} />}
      <Group justify="flex-end">
        {status === "running" && (
          <Button variant="default" onClick={upload.cancel}>
            Cancel
          </Button>
        )}
        {status !== "running" && (
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        )}
        {status === "stopped" &&
          (isUnreadable ? (
            <Button onClick={upload.reset}>Choose another encoding</Button>
          ) : (
            <Button onClick={() => upload.start(plan, recordsDone)}>Continue</Button>
          ))}
        {status === "done" && (
          <Button
            onClick={() => {
              onOpen();
              onClose();
            }}
          >
            Open the table
          </Button>
        )}
      </Group>
    </Stack>
  );
}

const continueText =
  "The rows written so far stay. Continue after the last of them now, or later by choosing the same file.";

function Stopped({ problem }: { readonly problem: unknown }) {
  return (
    <Alert color={problem ? "red" : "orange"} title="The upload has stopped" role="alert">
      {problem ? `${sentenceOf(problem)} ` : ""}
      {problem instanceof UnreadableCsv ? "This upload has written nothing." : continueText}
    </Alert>
  );
}

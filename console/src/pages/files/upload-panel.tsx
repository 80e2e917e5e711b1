// The uploads of this window below the list of files: progress, pause, continue, cancel.
import { ActionIcon, Button, Card, Group, Progress, Text, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { Link } from "@tanstack/react-router";
import { FileSearch, Pause, Play, Replace, X } from "lucide-react";
import { messageOf, sentenceOf } from "../../api/errors.ts";
import { bytesText, countText } from "../../lib/format.ts";
import { ChooseFiles } from "../../ui/choose-files.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import { waitingText } from "../../uploads/transfer.ts";
import { percentOf } from "../../uploads/upload-progress.ts";
import { isUnfinished, type Upload, type UploadQueue } from "../../uploads/upload-queue.ts";
import { useUploadQueue, useUploads } from "../../uploads/uploads-context.tsx";
import classes from "./files.module.css";

const rowHeight = 48;
const rowsInSight = 4;
const headerHeight = 48;

export function UploadPanel() {
  const uploads = useUploads();
  const queue = useUploadQueue();
  if (uploads.length === 0) return null;
  const done = uploads.filter(({ status }) => status === "done").length;
  const height = headerHeight + 2 + rowHeight * Math.min(rowsInSight, uploads.length);
  return (
    <Card component="section" aria-label="Uploads" p="xs" className={classes["uploads"]}>
      <Group justify="space-between" mb={6} gap="xs">
        <Text size="sm" fw={600} role="status">
          {countText(done)} of {countText(uploads.length)} uploaded, {percentOf(uploads)} %
        </Text>
        <PanelActions {...{ uploads, queue }} />
      </Group>
      <div style={{ height }}>
        <VirtualTable
          label="Uploads"
          columns={columnsOf(queue)}
          rows={uploads}
          rowKey={({ id }) => id}
          rowHeight={rowHeight}
          empty={null}
        />
      </div>
    </Card>
  );
}

function PanelActions({ uploads, queue }: { uploads: readonly Upload[]; queue: UploadQueue }) {
  const unfinished = uploads.filter(isUnfinished);
  const paused = uploads.filter(({ status }) => status === "paused");
  return (
    <Group gap="xs">
      {unfinished.length > 1 && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => eachId(unfinished, queue.pause.bind(queue))}
        >
          Pause all
        </Button>
      )}
      {paused.length > 1 && (
        <Button size="compact-sm" variant="default" onClick={() => eachId(paused, queue.resume.bind(queue))}>
          Continue all
        </Button>
      )}
      {uploads.some(({ status }) => status === "done") && (
        <Button size="compact-sm" variant="default" onClick={() => queue.clearDone()}>
          Clear the uploaded
        </Button>
      )}
    </Group>
  );
}

const eachId = (uploads: readonly Upload[], change: (id: string) => void) => {
  for (const { id } of uploads) change(id);
};

const columnsOf = (queue: UploadQueue): TableColumn<Upload>[] => [
  {
    key: "file",
    label: "File",
    width: "minmax(110px, 1.2fr)",
    cell: (upload) => <FileCell upload={upload} />,
  },
  {
    ...{ key: "progress", label: "Progress", width: "minmax(110px, 1.6fr)" },
    cell: (upload) => <ProgressCell upload={upload} />,
  },
  {
    ...{ key: "actions", label: "Actions", isLabelHidden: true, width: "66px" },
    cell: (upload) => <ActionsCell {...{ upload, queue }} />,
  },
];

function FileCell({ upload: { newFile, fileId, status } }: { upload: Upload }) {
  const { fileName, directory } = newFile;
  return (
    <div className={classes["name"]}>
      {status === "done" && fileId !== undefined ? (
        <Link to="/files/$id" params={{ id: fileId }}>
          {fileName}
        </Link>
      ) : (
        <b title={fileName}>{fileName}</b>
      )}
      <span title={directory}>{directory}</span>
    </div>
  );
}

function ProgressCell({ upload }: { upload: Upload }) {
  const text = statusText(upload);
  return (
    <div className={classes["progress"]}>
      <Progress
        value={percentOf([upload])}
        color={upload.status === "failed" ? "red" : undefined}
        aria-label={`Progress of ${upload.newFile.fileName}`}
      />
      <span title={text}>{text}</span>
    </div>
  );
}

function statusText(upload: Upload): string {
  const { status, received, size, problem } = upload;
  const part = `${bytesText(received)} of ${bytesText(size)}`;
  switch (status) {
    case "waiting":
      return `Waits for its turn, ${bytesText(size)}`;
    case "running":
      return part;
    case "offline":
      return `${waitingText(problem)}, ${part}`;
    case "paused":
      return `Paused, ${part}`;
    case "lost":
      return `${problem ? `${sentenceOf(problem)} ` : ""}Choose the file again to continue, ${part}`;
    case "failed":
      return messageOf(problem);
    case "done":
      return `Uploaded, ${bytesText(size)}`;
  }
}

function ActionsCell({ upload, queue }: { upload: Upload; queue: UploadQueue }) {
  const { id, status, taken } = upload;
  const { fileName } = upload.newFile;
  const cancel = () =>
    void queue
      .cancel(id)
      .catch((problem: unknown) => notifications.show({ color: "red", message: messageOf(problem) }));
  return (
    <div className={classes["actions"]}>
      {isUnfinished(upload) && (
        <Action label={`Pause ${fileName}`} icon={Pause} onClick={() => queue.pause(id)} />
      )}
      {(status === "paused" || (status === "failed" && !taken)) && (
        <Action label={`Continue ${fileName}`} icon={Play} onClick={() => queue.resume(id)} />
      )}
      {taken && <Action label={`Replace ${fileName}`} icon={Replace} onClick={() => queue.replace(id)} />}
      {status === "lost" && <ChooseAgain {...{ upload, queue }} />}
      {status === "done" ? <span /> : <Action label={`Cancel ${fileName}`} icon={X} onClick={cancel} />}
    </div>
  );
}

interface ActionProps {
  readonly label: string;
  readonly icon: typeof X;
  onClick(): void;
}

const Action = ({ label, icon: Icon, onClick }: ActionProps) => (
  <Tooltip label={label}>
    <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={onClick}>
      <Icon size={16} aria-hidden />
    </ActionIcon>
  </Tooltip>
);

function ChooseAgain({ upload: { id, newFile }, queue }: { upload: Upload; queue: UploadQueue }) {
  return (
    <ChooseFiles onChoose={([file]) => queue.giveFile(id, file!)}>
      {(props) => <Action {...props} label={`Choose ${newFile.fileName}`} icon={FileSearch} />}
    </ChooseFiles>
  );
}

// One file: its preview, its record, the download, and the ways to change it.
import { Badge, Button, Card, Stack } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { Download, Pencil, Trash2, Upload } from "lucide-react";
import { useState } from "react";
import { deleteFilesByFileId, type File as FileRecord } from "../../api/generated.ts";
import { bytesText, timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { ChooseFiles } from "../../ui/choose-files.tsx";
import { Confirm, Refusal } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Facts, MetadataCard } from "../../ui/facts.tsx";
import { Page } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { RecordMenu } from "../../ui/record-menu.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { readFile } from "../../uploads/file-records.ts";
import { useUploadQueue } from "../../uploads/uploads-context.tsx";
import { DrawingCard } from "./drawing-card.tsx";
import { download } from "./file-content.ts";
import { FileForm } from "./file-form.tsx";
import { FilePreview, useFileStart } from "./file-preview.tsx";
import classes from "./files.module.css";
import { UploadPanel } from "./upload-panel.tsx";

export function FilePage() {
  const { id } = useParams({ from: "/frame/files/$id" });
  const project = useProject();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["files", project, "record", id],
    queryFn: ({ signal }) => readFile(project, id, signal),
  });
  if (isPending) return <Loading what="the file" />;
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  return <FileView key={id} file={data} />;
}

function FileView({ file }: { file: FileRecord }) {
  const project = useProject();
  const { id, fileName, metadata, uploaded } = file;
  const saving = useMutation({ mutationFn: () => download(project, id) });
  const path = uploaded ? `/files/${id}/downloadlink` : `/files/${id}`;
  return (
    <Page
      title={fileName}
      actions={
        <>
          {uploaded && (
            <Button
              size="xs"
              leftSection={<Download size={14} aria-hidden />}
              loading={saving.isPending}
              onClick={() => saving.mutate()}
            >
              Download
            </Button>
          )}
          <CopyAs request={{ method: "GET", project, path, odata: `Files('${id}')` }} />
          <FileActions file={file} />
        </>
      }
    >
      <Stack gap="sm">
        <TextLink
          to="/files"
          search={file.directory === undefined ? {} : { folder: file.directory }}
          style={{ alignSelf: "flex-start" }}
        >
          {file.directory === undefined ? "All files" : `Files in ${file.directory}`}
        </TextLink>
        <Refusal problem={saving.error} />
        <UploadPanel />
        <div className={classes["record"]}>
          <FilePreview file={file} />
          <Stack gap="sm" miw={0}>
            <Card>
              <FileFacts file={file} />
            </Card>
            <DrawingCard file={file} />
            <MetadataCard metadata={metadata} />
          </Stack>
        </div>
      </Stack>
    </Page>
  );
}

function FileFacts({ file }: { file: FileRecord }) {
  const { id, directory, fileType, assetIds, tagIds, labels, source, sourceId, externalId } = file;
  const { uploadedAt, createdTime, lastUpdatedTime } = file;
  const { data: start } = useFileStart(file);
  const nameOf = useAssetNames(assetIds);
  const time = (timeMs: number | undefined) => timeMs !== undefined && timeText(timeMs);
  const assets = assetIds.length > 0 && (
    <Stack gap={2}>
      {assetIds.map((assetId) => (
        <TextLink key={assetId} to="/assets/$id" params={{ id: assetId }}>
          {nameOf(assetId)}
        </TextLink>
      ))}
    </Stack>
  );
  return (
    <Facts
      facts={[
        { label: "Folder", value: directory },
        { label: "Type", value: fileType },
        { label: "Content type", value: start?.contentType },
        { label: "Size", value: start && bytesText(start.size) },
        { label: "Assets", value: assets },
        { label: "Tags", value: tagIds?.join(", ") },
        { label: "Labels", value: labels?.map((label) => <Badge key={label}>{label}</Badge>) },
        { label: "Source", value: source },
        { label: "Id in the source", value: sourceId },
        { label: "External id", value: externalId },
        { label: "Id", value: String(id) },
        { label: "Uploaded", value: time(uploadedAt) },
        { label: "Created", value: time(createdTime) },
        { label: "Changed", value: time(lastUpdatedTime) },
      ]}
    />
  );
}

/** The ways to change the file; none for a person who may only read. */
function FileActions({ file }: { file: FileRecord }) {
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const client = useQueryClient();
  if (!mayDo(useSession(), "filesAcl", "WRITE")) return null;
  const close = () => setDialog(undefined);
  const saved = () => {
    void client.invalidateQueries({ queryKey: ["files"] });
    close();
  };
  return (
    <>
      <NewContent file={file} />
      <Button
        variant="default"
        size="xs"
        leftSection={<Pencil size={14} aria-hidden />}
        onClick={() => setDialog("edit")}
      >
        Edit
      </Button>
      <RecordMenu
        actions={[
          { label: "Delete the file…", icon: Trash2, isDanger: true, run: () => setDialog("delete") },
        ]}
      />
      {dialog === "edit" && <FileForm file={file} onSaved={saved} onClose={close} />}
      {dialog === "delete" && <DeleteFile file={file} onClose={close} />}
    </>
  );
}

/** Uploads bytes for this record; older ones stay until the new ones are complete. */
function NewContent({ file: { id, fileName, directory, uploaded } }: { file: FileRecord }) {
  const queue = useUploadQueue();
  const upload = ([file]: readonly File[]) =>
    queue.add([{ newFile: { fileName, directory }, file: file!, overwrite: true, ofFileId: id }]);
  return (
    <ChooseFiles onChoose={upload}>
      {(props) => (
        <Button {...props} variant="default" size="xs" leftSection={<Upload size={14} aria-hidden />}>
          {uploaded ? "Replace the content" : "Upload the content"}
        </Button>
      )}
    </ChooseFiles>
  );
}

function DeleteFile({ file: { id, fileName }, onClose }: { file: FileRecord; onClose(): void }) {
  const project = useProject();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteFilesByFileId(project, id),
    onSuccess: async () => {
      await navigate({ to: "/files" });
      void client.invalidateQueries({ queryKey: ["files"] });
    },
  });
  return (
    <Confirm
      title="Delete the file"
      action="Delete the file"
      isPending={isPending}
      problem={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      {fileName} is deleted with its content. This cannot be undone.
    </Confirm>
  );
}

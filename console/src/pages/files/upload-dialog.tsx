// Before files are uploaded: their folder, type and assets.
import { Autocomplete, Button, Group, Modal, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { NewFile } from "../../api/generated.ts";
import { bytesText, countText } from "../../lib/format.ts";
import { isForSomeRecords } from "../../session/rights.ts";
import { useSession } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { useUploadQueue } from "../../uploads/uploads-context.tsx";
import classes from "./files.module.css";
import { useFolders } from "./folder-tree.tsx";

interface UploadDialogProps {
  readonly files: readonly File[];
  readonly folder: string | undefined;
  onClose(): void;
}

/** The dialog names so many files. */
const namesMax = 50;

interface Target {
  readonly folder: string;
  /** Empty for the content type of each file. */
  readonly type: string;
  readonly assetIds: number[];
}

export function UploadDialog({ files, folder = "", onClose }: UploadDialogProps) {
  useReturnedFocus();
  const queue = useUploadQueue();
  const needsAsset = isForSomeRecords(useSession(), "filesAcl", "WRITE");
  const [target, setTarget] = useState<Target>({ folder, type: "", assetIds: [] });
  const change = (part: Partial<Target>) => setTarget({ ...target, ...part });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    queue.add(files.map((file) => ({ newFile: newFileOf(file, target), file, overwrite: false })));
    onClose();
  };
  const title = files.length === 1 ? "Upload a file" : `Upload ${countText(files.length)} files`;
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit}>
        <Stack>
          <ChosenFiles files={files} />
          <AssetSelect
            label="Assets"
            placeholder="Search by name"
            description={needsAsset && "You may add files to some assets only. Choose one of them."}
            value={target.assetIds}
            onChange={(assetIds) => change({ assetIds })}
          />
          <FolderAndType target={target} onChange={change} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={needsAsset && target.assetIds.length === 0} data-autofocus>
              Upload
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function newFileOf(file: File, { folder, type, assetIds }: Target): NewFile {
  const fileType = type || file.type;
  return {
    fileName: file.name,
    ...(folder !== "" && { directory: folder }),
    ...(fileType !== "" && { fileType }),
    ...(assetIds.length > 0 && { assetIds }),
  };
}

interface FolderAndTypeProps {
  readonly target: Target;
  onChange(part: Partial<Target>): void;
}

function FolderAndType({ target, onChange }: FolderAndTypeProps) {
  const { directories } = useFolders();
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      <Autocomplete
        label="Folder"
        placeholder="None"
        description="A new name makes a new folder"
        data={[...directories]}
        limit={50}
        value={target.folder}
        onChange={(folder) => onChange({ folder })}
      />
      <TextInput
        label="Type"
        placeholder="The content type of each file"
        description="The same for all of them"
        value={target.type}
        onChange={(event) => onChange({ type: event.currentTarget.value })}
      />
    </SimpleGrid>
  );
}

function ChosenFiles({ files }: { files: readonly File[] }) {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return (
    <div>
      <ul className={classes["chosen"]} aria-label="Chosen files">
        {files.slice(0, namesMax).map((file, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: files of different folders may have one name.
          <li key={at}>
            <span title={file.name}>{file.name}</span>
            <span className="numbers">{bytesText(file.size)}</span>
          </li>
        ))}
      </ul>
      {files.length > 1 && (
        <Text size="sm" c="var(--text-quiet)" mt={4}>
          {files.length > namesMax && `and ${countText(files.length - namesMax)} more, `}
          {bytesText(bytes)} in all
        </Text>
      )}
    </div>
  );
}

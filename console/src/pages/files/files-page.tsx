// All files of the project: folders, a table with filters, and uploads.
import { Button, Select } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Files, Search, Upload } from "lucide-react";
import { useMemo, useState } from "react";
import type { File as FileRecord } from "../../api/generated.ts";
import { countText, timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { ChooseFiles } from "../../ui/choose-files.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { DownloadCsv } from "../../ui/download-csv.tsx";
import { FilterText, FilterWord } from "../../ui/filter-inputs.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { VirtualTable } from "../../ui/virtual-table.tsx";
import { DropZone } from "./drop-zone.tsx";
import { fileColumns } from "./file-columns.tsx";
import { allFiles, requestOf, useFileList } from "./file-list.ts";
import classes from "./files.module.css";
import { FolderTree, useFolders } from "./folder-tree.tsx";
import { type FilesSearch, filesSearch } from "./search.ts";
import { UploadDialog } from "./upload-dialog.tsx";
import { UploadPanel } from "./upload-panel.tsx";

const rowHeight = 46;
/** The assets of so many rows get names at once. */
const namesMax = 200;

export function FilesPage() {
  const search = useSearch({ from: "/frame/files" });
  const project = useProject();
  const list = useFileList(search);
  const pages = list.data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ items }) => items) ?? [], [pages]);
  const more = list.hasNextPage || pages?.at(-1)?.isCut === true;
  const read = (signal: AbortSignal) => allFiles(project, search, signal);
  const mayWrite = mayDo(useSession(), "filesAcl", "WRITE");
  const [chosen, setChosen] = useState<readonly File[]>([]);
  return (
    <Page
      title="Files"
      fills
      note={list.isSuccess ? `${countText(rows.length)}${more ? " and more" : ""}` : undefined}
      actions={
        <>
          {mayWrite && <UploadButton onChoose={setChosen} />}
          <DownloadCsv name="files" header={csvHeader} read={read} cells={csvCells} />
          <CopyAs request={requestOf(project, search)} />
        </>
      }
      toolbar={<FilesFilter search={search} rows={rows} />}
    >
      <div className={classes["content"]}>
        <Folders chosen={search.folder} />
        <div className={classes["list"]}>
          {list.isPending && <Loading what="the files" />}
          {list.isError && <Failure problem={list.error} onRetry={() => void list.refetch()} />}
          {list.isSuccess && (
            <FilesTable
              rows={rows}
              loadMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
              isLoadingMore={list.isFetchingNextPage}
              empty={<NoFiles search={search} mayWrite={mayWrite} />}
            />
          )}
        </div>
        <UploadPanel />
      </div>
      {mayWrite && <DropZone onDrop={setChosen} />}
      {chosen.length > 0 && (
        <UploadDialog files={chosen} folder={search.folder} onClose={() => setChosen([])} />
      )}
    </Page>
  );
}

const csvHeader = ["id", "name", "folder", "type", "assetIds", "uploaded", "externalId"];
const csvCells = (file: FileRecord) => {
  const { id, fileName, directory = "", fileType = "", assetIds, uploadedAt, externalId = "" } = file;
  const uploaded = uploadedAt === undefined ? "" : timeText(uploadedAt);
  return [String(id), fileName, directory, fileType, assetIds.join(" "), uploaded, externalId];
};

function UploadButton({ onChoose }: { onChoose(files: readonly File[]): void }) {
  return (
    <ChooseFiles multiple onChoose={onChoose}>
      {(props) => (
        <Button {...props} size="xs" leftSection={<Upload size={14} aria-hidden />}>
          Upload files
        </Button>
      )}
    </ChooseFiles>
  );
}

/** Nothing in a project whose files have no folders. */
function Folders({ chosen }: { chosen: string | undefined }) {
  const { directories, isError } = useFolders();
  if (directories.length === 0 && chosen === undefined && !isError) return null;
  return <FolderTree chosen={chosen} />;
}

interface FilesTableProps {
  readonly rows: readonly FileRecord[];
  readonly loadMore: (() => void) | undefined;
  readonly isLoadingMore: boolean;
  readonly empty: React.ReactNode;
}

function FilesTable({ rows, loadMore, isLoadingMore, empty }: FilesTableProps) {
  const navigate = useNavigate();
  const [inView, setInView] = useState<readonly FileRecord[]>([]);
  const assetName = useAssetNames(inView.slice(0, namesMax).flatMap(({ assetIds }) => assetIds));
  const columns = useMemo(() => fileColumns(assetName), [assetName]);
  return (
    <VirtualTable
      label="Files"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      rowHeight={rowHeight}
      onOpen={({ id }) => void navigate({ to: "/files/$id", params: { id } })}
      onView={setInView}
      loadMore={loadMore}
      isLoadingMore={isLoadingMore}
      empty={empty}
    />
  );
}

function FilesFilter({ search, rows }: { search: FilesSearch; rows: readonly FileRecord[] }) {
  const navigate = useNavigate({ from: "/files" });
  const change = (part: Partial<FilesSearch>) =>
    void navigate({ search: (now) => filesSearch({ ...now, ...part }), replace: true });
  const types = [...new Set(rows.flatMap(({ fileType }) => fileType ?? []))].sort();
  return (
    <div className={classes["filters"]} role="search" aria-label="Filter of the files">
      <FilterText
        aria-label="Search files"
        placeholder="Search by name"
        leftSection={<Search size={15} aria-hidden />}
        value={search.query}
        onChange={(query) => change({ query })}
      />
      <FilterWord
        aria-label="Type"
        placeholder="Any type"
        data={types}
        value={search.type}
        onChange={(type) => change({ type })}
      />
      <Select
        aria-label="Content"
        placeholder="Any content"
        clearable
        data={[
          { value: "uploaded", label: "Uploaded" },
          { value: "missing", label: "No content yet" },
        ]}
        value={search.content ?? null}
        onChange={(content) => change({ content: (content ?? undefined) as FilesSearch["content"] })}
      />
      <AssetSelect
        aria-label="Assets"
        value={search.assets ?? []}
        onChange={(assets) => change({ assets: assets.length === 0 ? undefined : assets })}
      />
    </div>
  );
}

function NoFiles({ search, mayWrite }: { search: FilesSearch; mayWrite: boolean }) {
  const { folder, ...filters } = search;
  if (Object.keys(filters).length > 0)
    return (
      <Empty title="No files match">Search for another part of a name, or remove some of the filters.</Empty>
    );
  if (folder !== undefined)
    return (
      <Empty title="No files are in this folder">Open a folder inside of it, or choose all files.</Empty>
    );
  return (
    <Empty title="There are no files yet" icon={<Files size={28} aria-hidden />}>
      {mayWrite
        ? "Drop files onto this page, or choose them with the button above."
        : "When someone uploads files that your groups show, they appear here."}
    </Empty>
  );
}

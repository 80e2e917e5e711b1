// A raw table: a grid of its rows that starts at any key, and the actions on them.
import { Button, Group, Menu, Text } from "@mantine/core";
import { type InfiniteData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ChartColumn, Ellipsis, Network, Table2, Trash2, Upload } from "lucide-react";
import { Fragment, useMemo, useState } from "react";
import { countText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { JumpToRow } from "../../ui/jump-to-row.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { RowGrid } from "../../ui/row-grid.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { DeleteTable } from "./delete-dialogs.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { LinkAssets } from "./link-assets.tsx";
import { ProfileDrawer } from "./profile-drawer.tsx";
import {
  assetsOf,
  columnNamesOf,
  type RowsPage,
  rowCountQuery,
  rowsQuery,
  type TableName,
  tablesQuery,
} from "./raw-data.ts";
import { RowDrawer } from "./row-drawer.tsx";
import { UploadDialog } from "./upload-dialog.tsx";

type Dialog = "upload" | "delete" | "profile" | "assets";

export function TablePage() {
  const { database, table } = useParams({ from: "/frame/raw/$database/$table" });
  const project = useProject();
  const name = useMemo(() => ({ project, database, table }), [project, database, table]);
  const { from, row } = useSearch({ from: "/frame/raw/$database/$table" });
  const list = useInfiniteQuery(rowsQuery(name, from));
  const rows = useMemo(() => rowsOf(list.data), [list.data]);
  const names = useMemo(() => columnNamesOf(rows), [rows]);
  const navigate = useNavigate({ from: "/raw/$database/$table" });
  const [dialog, setDialog] = useState<Dialog>();
  const linked = assetsOf(useQuery(tablesQuery(project, database)).data, table);
  const jump = (wanted: string | undefined) => void navigate({ search: (now) => ({ ...now, from: wanted }) });
  const show = (key: string | undefined) => void navigate({ search: (now) => ({ ...now, row: key }) });
  return (
    <Page
      title={table}
      fills
      note={<TableNote {...{ name, linked }} />}
      actions={<TableActions name={name} onOpen={setDialog} />}
      toolbar={
        <JumpToRow
          key={from ?? ""}
          label="Jump to a key"
          placeholder="Jump to a key, or to its beginning"
          {...{ from }}
          onJump={jump}
        />
      }
    >
      {list.isPending && <Loading what="the rows" />}
      {list.isError && <Failure problem={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && rows.length === 0 && !list.hasPreviousPage && <NoRows />}
      {list.isSuccess && (rows.length > 0 || list.hasPreviousPage) && (
        <RowGrid
          key={from ?? ""}
          label={`Rows of ${table}`}
          {...{ rows, names }}
          keyHeading="key"
          startKey={from ?? ""}
          openKey={row}
          onOpen={show}
          loadMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
          loadBefore={list.hasPreviousPage ? () => void list.fetchPreviousPage() : undefined}
          isLoading={list.isFetching}
        />
      )}
      {row !== undefined && <RowDrawer name={name} rowKey={row} onClose={() => show(undefined)} />}
      {dialog === "profile" && <ProfileDrawer {...{ name, rows }} onClose={() => setDialog(undefined)} />}
      {dialog === "upload" && <UploadDialog {...{ database, table }} onClose={() => setDialog(undefined)} />}
      {dialog === "assets" && <LinkAssets name={name} onClose={() => setDialog(undefined)} />}
      {dialog === "delete" && <DeleteAndLeave name={name} onClose={() => setDialog(undefined)} />}
    </Page>
  );
}

const rowsOf = (data: InfiniteData<RowsPage> | undefined) => data?.pages.flatMap(({ items }) => items) ?? [];

interface TableNoteProps {
  readonly name: TableName;
  readonly linked: readonly number[];
}

function TableNote({ name, linked }: TableNoteProps) {
  const count = useQuery(rowCountQuery(name));
  return (
    <Group gap="xs" component="span">
      <Text span size="sm">
        in{" "}
        <TextLink to="/raw" search={{ database: name.database }} size="sm" underline="always">
          {name.database}
        </TextLink>
      </Text>
      {count.data !== undefined && (
        <Text span size="sm">
          {countText(count.data)} {count.data === 1 ? "row" : "rows"}
        </Text>
      )}
      {linked.length > 0 && <LinkedAssets ids={linked} />}
    </Group>
  );
}

const assetsShown = 3;

/** Links to the assets that the rows are about. */
function LinkedAssets({ ids }: { ids: readonly number[] }) {
  const shown = ids.slice(0, assetsShown);
  const nameOf = useAssetNames(shown);
  return (
    <Text span size="sm">
      about{" "}
      {shown.map((id, index) => (
        <Fragment key={id}>
          {index > 0 && ", "}
          <TextLink to="/assets/$id" params={{ id }} size="sm" underline="always">
            {nameOf(id)}
          </TextLink>
        </Fragment>
      ))}
      {ids.length > assetsShown && ` and ${ids.length - assetsShown} more`}
    </Text>
  );
}

function NoRows() {
  return (
    <Empty title="This table has no rows" icon={<Table2 size={28} aria-hidden />}>
      Upload a CSV file, or write rows through the API.
    </Empty>
  );
}

function TableActions({ name, onOpen }: { name: TableName; onOpen(dialog: Dialog): void }) {
  const mayWrite = mayDo(useSession(), "rawAcl", "WRITE");
  return (
    <>
      {mayWrite && (
        <Button size="xs" leftSection={<Upload size={14} aria-hidden />} onClick={() => onOpen("upload")}>
          Upload CSV
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        leftSection={<ChartColumn size={14} aria-hidden />}
        onClick={() => onOpen("profile")}
      >
        Columns
      </Button>
      <ExportMenu name={name} />
      <CopyAs request={requestOf(name)} />
      {mayWrite && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button size="xs" variant="default" px={8} aria-label="More actions">
              <Ellipsis size={15} aria-hidden />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<Network size={15} aria-hidden />} onClick={() => onOpen("assets")}>
              Link to assets
            </Menu.Item>
            <Menu.Item leftSection={<Trash2 size={15} aria-hidden />} onClick={() => onOpen("delete")}>
              Delete the table
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}

/** After the deletion, the page of the database is open. */
function DeleteAndLeave({ name: { database, table }, onClose }: { name: TableName; onClose(): void }) {
  const navigate = useNavigate();
  return (
    <DeleteTable
      {...{ database, table, onClose }}
      onDeleted={() => void navigate({ to: "/raw", search: { database } })}
    />
  );
}

const requestOf = ({ project, database, table }: TableName) => ({
  ...{ method: "GET" as const, project },
  path: `/raw/${encodeURIComponent(database)}/${encodeURIComponent(table)}?limit=100`,
});

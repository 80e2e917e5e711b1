// Databases of raw data and their tables.
import { ActionIcon, Badge, Button, Card, Group, Text, TextInput, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Database, Plus, Search, Table2, Trash2, Upload } from "lucide-react";
import { useState } from "react";
import { countText } from "../../lib/format.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import { DeleteDatabase, DeleteTable } from "./delete-dialogs.tsx";
import { NewDatabase, NewTable } from "./new-dialogs.tsx";
import classes from "./raw.module.css";
import { databasesQuery, tablesQuery } from "./raw-data.ts";
import { UploadDialog } from "./upload-dialog.tsx";

type Dialog =
  | { readonly kind: "new-database" | "new-table" | "delete-database" | "upload" }
  | { readonly kind: "delete-table"; readonly table: string };

export function RawPage() {
  const { database } = useSearch({ from: "/frame/raw" });
  const project = useProject();
  const databases = useQuery(databasesQuery(project));
  const mayWrite = mayDo(useSession(), "rawAcl", "WRITE");
  const [dialog, setDialog] = useState<Dialog>();
  const shown = database ?? databases.data?.[0];
  const close = () => setDialog(undefined);
  return (
    <Page
      title="Raw"
      fills
      note={
        databases.data &&
        `${countText(databases.data.length)} ${databases.data.length === 1 ? "database" : "databases"}`
      }
      actions={
        <>
          {mayWrite && <RawActions onOpen={setDialog} />}
          <CopyAs request={requestOf(project, database)} />
        </>
      }
    >
      {databases.isPending && <Loading what="the databases" />}
      {databases.isError && <Failure problem={databases.error} onRetry={() => void databases.refetch()} />}
      {databases.isSuccess &&
        (shown === undefined ? (
          <NoDatabases mayWrite={mayWrite} />
        ) : (
          <div className={classes["split"]}>
            <DatabaseList databases={databases.data} shown={shown} />
            <Tables key={shown} database={shown} mayWrite={mayWrite} onOpen={setDialog} />
          </div>
        ))}
      {dialog?.kind === "new-database" && <NewDatabase onClose={close} />}
      {dialog?.kind === "new-table" && <NewTable database={shown!} onClose={close} />}
      {dialog?.kind === "delete-database" && <DeleteDatabase database={shown!} onClose={close} />}
      {dialog?.kind === "delete-table" && (
        <DeleteTable database={shown!} table={dialog.table} onClose={close} />
      )}
      {dialog?.kind === "upload" && <UploadDialog database={shown} onClose={close} />}
    </Page>
  );
}

/** The tables of the database that was chosen, else the databases. */
const requestOf = (project: string, database: string | undefined): ApiRequest => ({
  method: "GET",
  project,
  path: database === undefined ? "/raw" : `/raw/${encodeURIComponent(database)}`,
});

function RawActions({ onOpen }: { onOpen(dialog: Dialog): void }) {
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<Plus size={14} aria-hidden />}
        onClick={() => onOpen({ kind: "new-database" })}
      >
        New database
      </Button>
      <Button
        size="xs"
        leftSection={<Upload size={14} aria-hidden />}
        onClick={() => onOpen({ kind: "upload" })}
      >
        Upload CSV
      </Button>
    </>
  );
}

function NoDatabases({ mayWrite }: { mayWrite: boolean }) {
  return (
    <Empty title="There are no databases yet" icon={<Database size={28} aria-hidden />}>
      {mayWrite
        ? "Raw data are rows exactly as another system wrote them. Upload a CSV file, or create a database."
        : "When another system writes rows, their databases and tables appear here."}
    </Empty>
  );
}

function DatabaseList({ databases, shown }: { databases: readonly string[]; shown: string }) {
  return (
    <nav aria-label="Databases" className={classes["databases"]}>
      {databases.map((name) => (
        <Link
          key={name}
          to="/raw"
          search={{ database: name }}
          aria-current={name === shown ? "page" : undefined}
        >
          <Database size={15} aria-hidden />
          <span title={name}>{name}</span>
        </Link>
      ))}
    </nav>
  );
}

interface TablesProps {
  readonly database: string;
  readonly mayWrite: boolean;
  onOpen(dialog: Dialog): void;
}

function Tables({ database, mayWrite, onOpen }: TablesProps) {
  const tables = useQuery(tablesQuery(useProject(), database));
  const navigate = useNavigate();
  const [wanted, setWanted] = useState("");
  const rows = (tables.data ?? [])
    .map(({ tableName }) => tableName)
    .filter((name) => name.toLowerCase().includes(wanted.trim().toLowerCase()));
  return (
    <section className={classes["tables"]} aria-label={`Tables of ${database}`}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs" wrap="nowrap" miw={0}>
          <Text fw={600} truncate title={database}>
            {database}
          </Text>
          {tables.data && <Badge variant="default">{countText(tables.data.length)}</Badge>}
        </Group>
        <Group gap="xs">
          <TextInput
            size="xs"
            aria-label="Filter tables"
            placeholder="Filter tables"
            leftSection={<Search size={13} aria-hidden />}
            value={wanted}
            onChange={(event) => setWanted(event.currentTarget.value)}
            w={150}
          />
          {mayWrite && (
            <>
              <Button size="xs" variant="default" onClick={() => onOpen({ kind: "new-table" })}>
                New table
              </Button>
              <Button size="xs" variant="default" onClick={() => onOpen({ kind: "delete-database" })}>
                Delete database
              </Button>
            </>
          )}
        </Group>
      </Group>
      {tables.isPending && <Loading what="the tables" />}
      {tables.isError && <Failure problem={tables.error} onRetry={() => void tables.refetch()} />}
      {tables.isSuccess && (
        <VirtualTable
          label={`Tables of ${database}`}
          columns={columnsOf(database, mayWrite, onOpen)}
          rows={rows}
          rowKey={(name) => name}
          onOpen={(table) => void navigate({ to: "/raw/$database/$table", params: { database, table } })}
          empty={<NoTables isFiltered={wanted.trim() !== ""} />}
        />
      )}
    </section>
  );
}

const NoTables = ({ isFiltered }: { isFiltered: boolean }) => (
  <Card p={0}>
    {isFiltered ? (
      <Empty title="No tables match">Filter by another part of the name.</Empty>
    ) : (
      <Empty title="This database has no tables" icon={<Table2 size={24} aria-hidden />}>
        Upload a CSV file, or create a table.
      </Empty>
    )}
  </Card>
);

function columnsOf(
  database: string,
  mayWrite: boolean,
  onOpen: TablesProps["onOpen"],
): TableColumn<string>[] {
  return [
    {
      ...{ key: "name", label: "Table", width: "minmax(120px, 1fr)" },
      cell: (table) => (
        <TextLink to="/raw/$database/$table" params={{ database, table }} title={table}>
          {table}
        </TextLink>
      ),
    },
    {
      ...{ key: "actions", label: "", width: "40px" },
      cell: (table) =>
        mayWrite && (
          <Tooltip label="Delete the table">
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Delete the table ${table}`}
              onClick={() => onOpen({ kind: "delete-table", table })}
            >
              <Trash2 size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
        ),
    },
  ];
}

// Dialogs before databases, tables and rows are deleted. They name how many rows there are.
// The names are in the body: browsers remove the segments `.` and `..` from a path.
import { Code, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import {
  postRawByDatabaseByTableDelete,
  postRawByDatabaseDelete,
  postRawDelete,
} from "../../api/generated.ts";
import { countText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { rowCountQuery, type TableName, tablesQuery, useRawChange } from "./raw-data.ts";

const rowsText = (count: number): string => `${countText(count)} ${count === 1 ? "row" : "rows"}`;

interface DatabaseProps {
  readonly database: string;
  onClose(): void;
}

export function DeleteDatabase({ database, onClose }: DatabaseProps) {
  const project = useProject();
  const tables = useQuery(tablesQuery(project, database));
  const rows = useQuery({
    queryKey: ["raw", project, "rows", database, "all tables"],
    enabled: tables.isSuccess,
    queryFn: async ({ client }) => {
      let count = 0;
      for (const { tableName: table } of tables.data ?? [])
        count += await client.fetchQuery(rowCountQuery({ project, database, table }));
      return count;
    },
  });
  const change = useRawChange(
    () => postRawDelete(project, { items: [{ dbName: database }] }, { recursive: true }),
    onClose,
  );
  const tableCount = tables.data?.length ?? 0;
  return (
    <Confirm
      title="Delete the database?"
      action="Delete the database"
      isPending={change.isPending}
      problem={change.error ?? tables.error ?? rows.error}
      onConfirm={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <Code>{database}</Code> has {countText(tableCount)} {tableCount === 1 ? "table" : "tables"} with{" "}
      <b>{rows.data === undefined ? "…" : rowsText(rows.data)}</b>. All of them are deleted. This cannot be
      undone.
    </Confirm>
  );
}

interface TableProps extends DatabaseProps {
  readonly table: string;
  onDeleted?(): void;
}

export function DeleteTable({ database, table, onClose, onDeleted = onClose }: TableProps) {
  const project = useProject();
  const count = useQuery(rowCountQuery({ project, database, table }));
  const change = useRawChange(
    () => postRawByDatabaseDelete(project, database, { items: [{ tableName: table }] }),
    onDeleted,
  );
  return (
    <Confirm
      title="Delete the table?"
      action="Delete the table"
      isPending={change.isPending}
      problem={change.error ?? count.error}
      onConfirm={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <Code>{table}</Code> in <Code>{database}</Code> has{" "}
      <b>{count.data === undefined ? "…" : rowsText(count.data)}</b>. They are deleted with the table. This
      cannot be undone.
    </Confirm>
  );
}

interface RowProps {
  readonly name: TableName;
  readonly rowKey: string;
  onClose(): void;
  onDeleted(): void;
}

export function DeleteRow({ name, rowKey, onClose, onDeleted }: RowProps) {
  const { project, database, table } = name;
  const change = useRawChange(
    () => postRawByDatabaseByTableDelete(project, database, table, { items: [{ key: rowKey }] }),
    onDeleted,
  );
  return (
    <Confirm
      title="Delete the row?"
      action="Delete the row"
      isPending={change.isPending}
      problem={change.error}
      onConfirm={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        One row with the key <Code>{rowKey}</Code> is deleted from <Code>{table}</Code>. This cannot be
        undone.
      </Text>
    </Confirm>
  );
}

// The columns of a table: types, empty values and different values, of the loaded rows or of all rows.
import { Button, Drawer, Group, Progress, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { countText } from "../../lib/format.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { useLongRead } from "./long-read.ts";
import { type ColumnProfile, distinctMax, Profile } from "./profile.ts";
import { type RawRow, rowCountQuery, type TableName } from "./raw-data.ts";

interface ProfileDrawerProps {
  readonly name: TableName;
  readonly rows: readonly RawRow[];
  onClose(): void;
}

export function ProfileDrawer({ name, rows, onClose }: ProfileDrawerProps) {
  useReturnedFocus();
  const ofLoaded = useMemo(() => new Profile().add(rows), [rows]);
  const [ofAll, setOfAll] = useState<Profile>();
  const count = useQuery(rowCountQuery(name));
  const read = useLongRead(name, () => {
    const profile = new Profile();
    return { onPage: ({ items }) => void profile.add(items), onEnd: () => setOfAll(profile) };
  });
  const shown = ofAll ?? ofLoaded;
  const isWhole = ofAll !== undefined || count.data === rows.length;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={`Columns of ${name.table}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack gap="sm">
        <Group justify="space-between">
          <Text size="sm" c="var(--text-quiet)">
            {isWhole ? "Of all" : "Of the loaded"} {countText(shown.rowCount)} rows
          </Text>
          {!isWhole && read.rowsRead === undefined && (
            <Button size="xs" variant="default" onClick={read.start}>
              Read the whole table
            </Button>
          )}
        </Group>
        {read.rowsRead !== undefined && (
          <Group wrap="nowrap">
            <Progress
              value={count.data ? (100 * read.rowsRead) / count.data : 0}
              aria-label="Rows read"
              flex={1}
              animated
            />
            <Text size="sm">{countText(read.rowsRead)} rows</Text>
            <Button size="xs" variant="default" onClick={read.cancel}>
              Cancel
            </Button>
          </Group>
        )}
        <Refusal problem={read.problem} />
        <ProfileTable columns={shown.columns()} rowCount={shown.rowCount} />
      </Stack>
    </Drawer>
  );
}

function ProfileTable({ columns, rowCount }: { columns: readonly ColumnProfile[]; rowCount: number }) {
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table aria-label="Columns" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Column</Table.Th>
            <Table.Th>Types</Table.Th>
            <Table.Th ta="right">Empty</Table.Th>
            <Table.Th ta="right">Different</Table.Th>
            <Table.Th>Examples</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {columns.map(({ name, types, emptyCount, distinctCount, example }) => (
            <Table.Tr key={name}>
              <Table.Td fw={600}>{name}</Table.Td>
              <Table.Td>{types.join(", ") || "empty"}</Table.Td>
              <Table.Td ta="right" className="numbers">
                {countText(emptyCount)} ({percentText(emptyCount, rowCount)})
              </Table.Td>
              <Table.Td ta="right" className="numbers">
                {countText(distinctCount)}
                {distinctCount === distinctMax ? " or more" : ""}
              </Table.Td>
              <Table.Td maw={180}>
                <Text size="sm" truncate title={example.slice(0, 300)}>
                  {example.slice(0, 100)}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const percentText = (part: number, whole: number): string =>
  whole === 0 ? "0 %" : `${Math.round((100 * part) / whole)} %`;

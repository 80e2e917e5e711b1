// The first rows of a CSV file as they will be in the table.
import { Table, Text } from "@mantine/core";
import type { Preview } from "../../lib/csv-file.ts";
import { cellText } from "../../lib/exact-json.ts";
import { type RowMapping, rowOf } from "./csv-file.ts";

export function UploadPreview({ preview, mapping }: { preview: Preview; mapping: RowMapping }) {
  const { names, keyIndex } = mapping;
  const shown = names.filter((_, index) => index !== keyIndex);
  const rows = preview.records.map((record, index) => rowOf(record, mapping, index + 1));
  return (
    <>
      <Text size="sm" c="var(--text-quiet)">
        The first {rows.length} rows, as they will be in the table
      </Text>
      <Table.ScrollContainer minWidth={0} maxHeight={280}>
        <Table aria-label="Preview" fz="xs" withTableBorder stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>key</Table.Th>
              {shown.map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ key, columns }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: keys may repeat.
              <Table.Tr key={index}>
                <Table.Td fw={600}>{key || <Text c="red">no key</Text>}</Table.Td>
                {shown.map((name) => (
                  <Table.Td key={name} style={{ whiteSpace: "nowrap" }}>
                    {cellText(columns[name]).slice(0, 80)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

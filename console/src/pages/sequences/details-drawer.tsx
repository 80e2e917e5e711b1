// The details of a sequence beside its rows: its record, its metadata and its columns.
import { Box, Drawer, Stack, Table, Title } from "@mantine/core";
import type { Sequence } from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import { Facts, MetadataCard } from "../../ui/facts.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { columnName, unitOf } from "./sequence-data.ts";

const typeTexts = { STRING: "text", DOUBLE: "number", LONG: "whole number" } as const;

interface DetailsDrawerProps {
  readonly sequence: Sequence;
  onClose(): void;
}

export function DetailsDrawer({ sequence, onClose }: DetailsDrawerProps) {
  useReturnedFocus();
  const { id, name, externalId, description, metadata, columns, createdTime, lastUpdatedTime } = sequence;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title="Details of the sequence"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        <Facts
          facts={[
            { label: "Name", value: name ?? undefined },
            { label: "Description", value: description ?? undefined },
            { label: "External id", value: externalId ?? undefined },
            { label: "Id", value: String(id) },
            { label: "Created", value: timeText(createdTime) },
            { label: "Changed", value: timeText(lastUpdatedTime) },
          ]}
        />
        <MetadataCard metadata={metadata} />
        <Title order={2} size="h5">
          Columns
        </Title>
        <Box tabIndex={0} role="region" aria-label="Columns, scrolls" style={{ overflow: "auto" }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                {["Name", "Unit", "Type", "External id", "Description"].map((heading) => (
                  <Table.Th key={heading}>{heading}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {columns.map((column) => (
                <Table.Tr key={column.id}>
                  <Table.Td>{columnName(column)}</Table.Td>
                  <Table.Td>{unitOf(column)}</Table.Td>
                  <Table.Td>{typeTexts[column.valueType]}</Table.Td>
                  <Table.Td>{column.externalId}</Table.Td>
                  <Table.Td>{column.description}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Box>
      </Stack>
    </Drawer>
  );
}

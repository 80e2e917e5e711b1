// The first rows of a query, with the names and types of its columns.
import { Table, Text } from "@mantine/core";
import type { TransformationPreview } from "../../api/generated.ts";
import { countOf } from "../../lib/format.ts";
import classes from "./transformations.module.css";

export function PreviewTable({ preview: { columns, rows, isCut } }: { preview: TransformationPreview }) {
  return (
    <section aria-label="Rows of the query">
      <Text size="sm" role="status" mb="xs">
        {isCut ? `The first ${countOf(rows.length, "row")}` : countOf(rows.length, "row")}
      </Text>
      <Table.ScrollContainer minWidth={columns.length * 130} mah={420} type="native" tabIndex={0}>
        <Table aria-label="Rows" fz="sm" stickyHeader>
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ name, type, types }) => (
                <Table.Th key={name}>
                  {name}
                  <Text span display="block" size="xs" c="var(--text-quiet)">
                    {types.join(", ") || type}
                  </Text>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of a query have no key.
              <Table.Tr key={index}>
                {row.map((value, column) => (
                  <Table.Td key={columns[column]!.name} className={classes["value"]}>
                    <Value value={value} />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}

/** A value as it is: a number without rounding, an object as JSON. */
export function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined)
    return (
      <Text span size="sm" c="var(--text-quiet)" fs="italic">
        null
      </Text>
    );
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// The names of series in the expression, each of points or of an aggregate.
import { ActionIcon, Select, Table, TextInput } from "@mantine/core";
import { Trash2 } from "lucide-react";
import type { Alias } from "./search.ts";

interface AliasTableProps {
  readonly aliases: readonly Alias[];
  /** The expression; a series that it names cannot be removed. */
  readonly text: string;
  onChange(aliases: readonly Alias[]): void;
}

const aggregates = ["average", "max", "min", "sum", "count", "interpolation", "stepInterpolation"];
const defaultGranularity = "10m";

export function AliasTable({ aliases, text, onChange }: AliasTableProps) {
  const change = (index: number, alias: Alias) => onChange(aliases.with(index, alias));
  return (
    <Table.ScrollContainer minWidth={420}>
      <Table aria-label="Series of the expression" withTableBorder fz="sm" bg="var(--surface)">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Series</Table.Th>
            <Table.Th>Values</Table.Th>
            <Table.Th>Granularity</Table.Th>
            <Table.Th w={40} aria-label="Remove" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {aliases.map((one, index) => (
            <Table.Tr key={one.alias}>
              <Table.Td fw={600}>{one.alias}</Table.Td>
              <Table.Td>
                <Select
                  size="xs"
                  aria-label={`Values of ${one.alias}`}
                  data={[{ value: "", label: "points" }, ...aggregates]}
                  value={one.aggregate ?? ""}
                  allowDeselect={false}
                  onChange={(aggregate) => change(index, withAggregate(one, aggregate ?? ""))}
                />
              </Table.Td>
              <Table.Td>
                <TextInput
                  size="xs"
                  aria-label={`Granularity of ${one.alias}`}
                  disabled={one.aggregate === undefined}
                  value={one.granularity ?? ""}
                  onChange={(event) => change(index, { ...one, granularity: event.currentTarget.value })}
                />
              </Table.Td>
              <Table.Td>
                {!text.includes(`[${one.alias}]`) && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`Remove ${one.alias}`}
                    onClick={() => onChange(aliases.toSpliced(index, 1))}
                  >
                    <Trash2 size={15} aria-hidden />
                  </ActionIcon>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const withAggregate = ({ alias, id, granularity = defaultGranularity }: Alias, aggregate: string): Alias =>
  aggregate === "" ? { alias, id } : { alias, id, aggregate, granularity };

// The names of series in the expression, each of points or of an aggregate.
import { ActionIcon, Select, Table, TextInput } from "@mantine/core";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { type Alias, isGranularity } from "./search.ts";

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
                <GranularityInput
                  alias={one}
                  onChange={(granularity) => change(index, { ...one, granularity })}
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

interface GranularityInputProps {
  readonly alias: Alias;
  onChange(granularity: string): void;
}

/** The address holds the granularity, and can hold no empty one: such a text stays in the input. */
function GranularityInput({ alias: one, onChange }: GranularityInputProps) {
  const { alias, aggregate, granularity = "" } = one;
  const [typed, setTyped] = useState<string>();
  const change = (text: string) => {
    setTyped(isGranularity(text) ? undefined : text);
    if (isGranularity(text)) onChange(text);
  };
  return (
    <TextInput
      size="xs"
      aria-label={`Granularity of ${alias}`}
      disabled={aggregate === undefined}
      value={typed ?? granularity}
      error={typed !== undefined}
      onChange={(event) => change(event.currentTarget.value)}
      onBlur={() => setTyped(undefined)}
    />
  );
}

const withAggregate = ({ alias, id, granularity = defaultGranularity }: Alias, aggregate: string): Alias =>
  aggregate === "" ? { alias, id } : { alias, id, aggregate, granularity };

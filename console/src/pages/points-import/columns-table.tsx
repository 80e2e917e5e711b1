// The series of each column: one that exists, or one that the import creates. An empty name leaves it out.
import { Select, Table, Text, TextInput } from "@mantine/core";
import { kindOf } from "../series/series-list.ts";
import type { ColumnChoice, FoundSeries } from "./points-plan.ts";
import type { Opening } from "./points-settings.ts";

interface ColumnsTableProps {
  readonly choices: readonly ColumnChoice[];
  readonly timeIndex: number;
  readonly opening: Opening;
  readonly found: FoundSeries;
  onChange(choice: ColumnChoice): void;
}

export const ColumnsTable = ({ choices, timeIndex, opening, found, onChange }: ColumnsTableProps) => (
  <Table.ScrollContainer minWidth={560} maxHeight={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table aria-label="Columns" fz="sm" stickyHeader>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Column</Table.Th>
          <Table.Th>First cell</Table.Th>
          <Table.Th>Series</Table.Th>
          <Table.Th w={170}>Kind</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {choices
          .filter(({ index }) => index !== timeIndex)
          .map((choice) => (
            <ColumnRow
              key={choice.index}
              choice={choice}
              cell={firstCell(opening, choice.index)}
              found={found}
              onChange={onChange}
            />
          ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

const firstCell = ({ rows }: Opening, index: number): string =>
  rows.find(({ cells }) => cells[index])?.cells[index] ?? "";

interface ColumnRowProps {
  readonly choice: ColumnChoice;
  readonly cell: string;
  readonly found: FoundSeries;
  onChange(choice: ColumnChoice): void;
}

function ColumnRow({ choice, cell, found, onChange }: ColumnRowProps) {
  const { index, header, series } = choice;
  const name = header || `column ${index + 1}`;
  return (
    <Table.Tr>
      <Table.Td>{name}</Table.Td>
      <Table.Td>
        <Text inherit truncate maw={160} title={cell}>
          {cell}
        </Text>
      </Table.Td>
      <Table.Td>
        <TextInput
          size="xs"
          aria-label={`Series of ${name}`}
          placeholder="Left out"
          value={series}
          onChange={(event) => onChange({ ...choice, series: event.currentTarget.value })}
        />
      </Table.Td>
      <Table.Td>
        <KindOfSeries {...{ choice, name, found, onChange }} />
      </Table.Td>
    </Table.Tr>
  );
}

interface KindOfSeriesProps extends Omit<ColumnRowProps, "cell"> {
  readonly name: string;
}

function KindOfSeries({ choice, name, found, onChange }: KindOfSeriesProps) {
  const series = found.get(choice.series.trim());
  if (choice.series.trim() === "" || series === undefined) return null;
  if (series !== null) {
    const unit = series.unit === undefined ? "" : `, ${series.unit}`;
    return <Text inherit c="var(--text-quiet)">{`Exists: ${kindOf(series)}${unit}`}</Text>;
  }
  return (
    <Select
      size="xs"
      aria-label={`Kind of ${name}`}
      data={["New: numbers", "New: text"]}
      value={choice.isText ? "New: text" : "New: numbers"}
      onChange={(kind) => onChange({ ...choice, isText: kind === "New: text" })}
      allowDeselect={false}
    />
  );
}

// The series that a schedule reads and writes, each with the alias by which the code knows it.
import { ActionIcon, Button, Fieldset, Group, NumberInput, Select, Stack, TextInput } from "@mantine/core";
import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import { SeriesSelect } from "../../ui/series-select.tsx";
import { type InputRow, newInput, newOutput, type OutputRow } from "./schedule-fields.ts";

const aggregates = ["average", "max", "min", "sum", "count", "interpolation", "stepInterpolation"];

interface Row {
  readonly row: number;
  readonly alias: string;
  readonly id: number | undefined;
}

interface RowsProps<One extends Row> {
  readonly rows: readonly One[];
  onChange(rows: readonly One[]): void;
}

export const InputRows = ({ rows, onChange }: RowsProps<InputRow>) => (
  <SeriesRows
    legend="Inputs"
    kind="input"
    {...{ rows, onChange, newRow: newInput }}
    more={(one, change, number) => (
      <>
        <Select
          aria-label={`Values of input ${number}`}
          data={[{ value: "", label: "points" }, ...aggregates]}
          value={one.aggregate}
          allowDeselect={false}
          onChange={(aggregate) => change({ aggregate: aggregate ?? "" })}
          w={150}
        />
        <TextInput
          aria-label={`Granularity of input ${number}`}
          disabled={one.aggregate === ""}
          value={one.granularity}
          onChange={(event) => change({ granularity: event.currentTarget.value })}
          w={70}
        />
      </>
    )}
  />
);

export const OutputRows = ({ rows, onChange }: RowsProps<OutputRow>) => (
  <SeriesRows
    legend="Outputs"
    kind="output"
    {...{ rows, onChange, newRow: newOutput }}
    more={(one, change, number) => (
      <NumberInput
        aria-label={`Offset of output ${number} in ms`}
        suffix=" ms offset"
        value={one.offset}
        onChange={(offset) => change({ offset })}
        w={150}
      />
    )}
  />
);

interface SeriesRowsProps<One extends Row> extends RowsProps<One> {
  readonly legend: string;
  readonly kind: string;
  newRow(row: number): One;
  more(one: One, change: (part: Partial<One>) => void, number: number): ReactNode;
}

function SeriesRows<One extends Row>(props: SeriesRowsProps<One>) {
  const { legend, kind, rows, onChange, newRow, more } = props;
  const replace = (row: number, part: Partial<One>) =>
    onChange(rows.map((one) => (one.row === row ? { ...one, ...part } : one)));
  const add = () => onChange([...rows, newRow(Math.max(-1, ...rows.map(({ row }) => row)) + 1)]);
  return (
    <Fieldset legend={legend}>
      <Stack gap={6}>
        {rows.map((one, index) => (
          <Group key={one.row} gap={6}>
            <TextInput
              aria-label={`Alias of ${kind} ${index + 1}`}
              placeholder="Alias"
              value={one.alias}
              onChange={(event) => replace(one.row, { alias: event.currentTarget.value } as Partial<One>)}
              w={110}
            />
            <SeriesSelect
              aria-label={`Series of ${kind} ${index + 1}`}
              value={one.id}
              onChange={(id) => replace(one.row, { id } as Partial<One>)}
              flex="1 1 160px"
            />
            {more(one, (part) => replace(one.row, part), index + 1)}
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove ${kind} ${index + 1}`}
              onClick={() => onChange(rows.filter(({ row }) => row !== one.row))}
            >
              <X size={15} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={add}
          style={{ alignSelf: "flex-start" }}
        >
          Add an {kind}
        </Button>
      </Stack>
    </Fieldset>
  );
}

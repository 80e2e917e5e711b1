// The series that a schedule reads and writes, each with the alias by which the code knows it.
import { NumberInput, Select, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { FieldRows } from "../../ui/field-rows.tsx";
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

const SeriesRows = <One extends Row>({ more, kind, ...rest }: SeriesRowsProps<One>) => (
  <FieldRows<One>
    {...{ kind, ...rest }}
    wrap
    addLabel={`Add an ${kind}`}
    renderFields={(one, change, number) => (
      <>
        <TextInput
          aria-label={`Alias of ${kind} ${number}`}
          placeholder="Alias"
          value={one.alias}
          onChange={(event) => change({ alias: event.currentTarget.value } as Partial<One>)}
          w={110}
        />
        <SeriesSelect
          aria-label={`Series of ${kind} ${number}`}
          value={one.id}
          onChange={(id) => change({ id } as Partial<One>)}
          flex="1 1 160px"
        />
        {more(one, change, number)}
      </>
    )}
  />
);

// Chooses one series by a search for words of its name.
import { Select, type SelectProps } from "@mantine/core";
import { useState } from "react";
import { useSeriesHits, useSeriesNames } from "./series-hits.ts";

interface SeriesSelectProps extends Omit<SelectProps, "value" | "onChange" | "data"> {
  readonly value: number | undefined;
  onChange(id: number | undefined): void;
}

export function SeriesSelect({ value, onChange, ...rest }: SeriesSelectProps) {
  const [typed, setTyped] = useState("");
  const chosen = value === undefined ? [] : [value];
  const nameOf = useSeriesNames(chosen);
  const { data: hits = [], isFetching } = useSeriesHits(typed);
  const others = hits.filter(({ id }) => id !== value);
  return (
    <Select
      searchable
      placeholder="Search a series"
      nothingFoundMessage={isFetching ? "Searching…" : "No series has these words"}
      {...rest}
      data={[
        ...chosen.map((id) => ({ value: String(id), label: nameOf(id) })),
        ...others.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      value={value === undefined ? null : String(value)}
      onChange={(id) => onChange(id === null ? undefined : Number(id))}
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options}
    />
  );
}

// Chooses assets by a search for words of their names.
import { MultiSelect, type MultiSelectProps } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Asset, getAssetsSearch } from "../api/generated.ts";
import { useProject } from "../session/session.ts";
import { useAssetNames } from "./use-asset-names.ts";

const hitsMax = 30;
const typingPauseMs = 200;

interface AssetSelectProps extends Omit<MultiSelectProps, "value" | "onChange" | "data"> {
  readonly value: readonly number[];
  onChange(ids: number[]): void;
}

/** With `maxValues` assets chosen it offers no more, so that its list does not cover the rest of a form. */
export function AssetSelect({
  value,
  onChange,
  maxValues = Number.POSITIVE_INFINITY,
  ...rest
}: AssetSelectProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const [query] = useDebouncedValue(typed.trim(), typingPauseMs);
  const nameOf = useAssetNames(value);
  const { data: hits = [], isFetching } = useAssetSearch(query);
  const options = hits.filter(({ id }) => !value.includes(id)).map(({ id, name }) => ({ id, name }));
  const chosen = value.map((id) => ({ id, name: nameOf(id) }));
  return (
    <MultiSelect
      searchable
      clearable
      hidePickedOptions
      placeholder={value.length === 0 ? "Any asset" : undefined}
      nothingFoundMessage={isFetching ? "Searching…" : "No asset has these words"}
      clearButtonProps={{ "aria-label": "Clear the assets" }}
      {...rest}
      maxValues={maxValues}
      dropdownOpened={isOpen && value.length < maxValues}
      onDropdownOpen={() => setIsOpen(true)}
      onDropdownClose={() => setIsOpen(false)}
      data={[...chosen, ...options].map(({ id, name }) => ({ value: String(id), label: name }))}
      value={value.map(String)}
      onChange={(ids) => onChange(ids.map(Number))}
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options: all }) => all}
    />
  );
}

function useAssetSearch(query: string) {
  const project = useProject();
  return useQuery({
    queryKey: ["assets", project, "search", query],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly Asset[]> => {
      const words = query === "" ? {} : { query };
      return (await getAssetsSearch(project, { ...words, limit: hitsMax }, { signal })).data.items;
    },
  });
}

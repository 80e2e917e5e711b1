// Picks one asset or time series by a search for its name.
import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  getAssets,
  getAssetsSearch,
  getTimeseries,
  getTimeseriesSearch,
  postAssetsByids,
  postTimeseriesByids,
} from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";

const hitsMax = 20;
const typingPauseMs = 200;

interface RecordSelectProps {
  readonly resource: "assets" | "timeseries";
  readonly value: number | undefined;
  onChange(id: number | undefined): void;
}

interface NamedRecord {
  readonly id: number;
  readonly name: string;
}

export function RecordSelect({ resource, value, onChange }: RecordSelectProps) {
  const [text, setText] = useState("");
  const [query] = useDebouncedValue(text.trim(), typingPauseMs);
  const picked = usePicked(resource, value);
  const { data = [] } = useHits(resource, picked?.name === query ? "" : query);
  const isHit = (value: string) => data.some(({ id }) => String(id) === value);
  const records = picked && !isHit(String(picked.id)) ? [picked, ...data] : data;
  return (
    <Select
      label="with the name"
      placeholder="Type a part of the name"
      data={records.map(({ id, name }) => ({ value: String(id), label: name }))}
      value={value === undefined ? null : String(value)}
      onChange={(id) => onChange(id === null ? undefined : Number(id))}
      searchable
      onSearchChange={setText}
      // The picked record is among the options for its name, and is no hit of another search.
      filter={({ options }) => options.filter((one) => "value" in one && isHit(one.value))}
      allowDeselect={false}
      nothingFoundMessage="Nothing is called that"
    />
  );
}

function useHits(resource: "assets" | "timeseries", query: string) {
  const project = useProject();
  return useQuery({
    queryKey: ["access", project, "records", resource, query],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly NamedRecord[]> => {
      const limit = hitsMax;
      if (query === "")
        return resource === "assets"
          ? (await getAssets(project, { limit }, { signal })).data.items
          : (await getTimeseries(project, { limit }, { signal })).data.items;
      return resource === "assets"
        ? (await getAssetsSearch(project, { query, limit }, { signal })).data.items
        : (await getTimeseriesSearch(project, { query, limit }, { signal })).data.items;
    },
  });
}

function usePicked(resource: "assets" | "timeseries", id: number | undefined): NamedRecord | undefined {
  const project = useProject();
  const { data } = useQuery({
    queryKey: ["access", project, "record", resource, id],
    enabled: id !== undefined,
    queryFn: async ({ signal }): Promise<readonly NamedRecord[]> => {
      const items = [id!];
      return resource === "assets"
        ? (await postAssetsByids(project, { items }, { signal })).data.items
        : (await postTimeseriesByids(project, { items }, {}, { signal })).data.items;
    },
  });
  return data?.[0];
}

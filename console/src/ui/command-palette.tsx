// The command palette: finds pages, assets, series, events and files by name.

import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useState } from "react";
import { getTimeseriesSearch } from "../api/generated.ts";
import { useProject, useSession } from "../session/session.ts";
import { navigation } from "./navigation.ts";

const hitsMax = 6;
const typingPauseMs = 150;

export function CommandPalette() {
  const [query, setQuery] = useState("");
  const [searched] = useDebouncedValue(query.trim(), typingPauseMs);
  const groups = [usePages(query), ...useRecords(searched)].filter(({ actions }) => actions.length > 0);
  return (
    <Spotlight
      actions={groups}
      query={query}
      onQueryChange={setQuery}
      filter={(_, actions) => actions}
      shortcut={null}
      nothingFound={query.trim() === "" ? "Type a name" : "Nothing is called that"}
      scrollable
      maxHeight="60vh"
      searchProps={{
        leftSection: <Search size={18} aria-hidden />,
        placeholder: "Find pages, assets, series…",
        "aria-label": "Find pages, assets and series",
      }}
    />
  );
}

function usePages(query: string): SpotlightActionGroupData {
  const navigate = useNavigate();
  const { isAdministrator } = useSession();
  const wanted = query.trim().toLowerCase();
  const found = navigation.filter(
    ({ label, keywords, onlyForAdministrators }) =>
      (isAdministrator || !onlyForAdministrators) && `${label} ${keywords}`.toLowerCase().includes(wanted),
  );
  const actions = found.map(({ to, label, icon: Icon }) => ({
    id: `page ${to}`,
    label,
    leftSection: <Icon size={18} aria-hidden />,
    onClick: () => void navigate({ to }),
  }));
  return { group: "Pages", actions };
}

function useRecords(name: string): SpotlightActionGroupData[] {
  const project = useProject();
  const navigate = useNavigate();
  const { data } = useQuery({
    queryKey: ["palette", project, name],
    enabled: name !== "",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const series = await getTimeseriesSearch(project, { query: name, limit: hitsMax }, { signal });
      return { series: series.data.items };
    },
  });
  const openSeries = (id: number) => () => void navigate({ to: "/series/$id", params: { id } });
  return [
    {
      group: "Series",
      actions: (name === "" ? [] : (data?.series ?? [])).map(({ id, name: label, description = "" }) => ({
        ...{ id: `series ${id}`, label, description, onClick: openSeries(id) },
      })),
    },
  ];
}

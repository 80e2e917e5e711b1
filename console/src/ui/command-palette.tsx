// The command palette: finds pages, assets, series, events, files, sequences and transformations by name.

import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useState } from "react";
import { statusOf } from "../api/errors.ts";
import {
  getAssetsSearch,
  getEventsSearch,
  getFilesSearch,
  getSequencesSearch,
  getTimeseriesSearch,
} from "../api/generated.ts";
import { timeText } from "../lib/format.ts";
import { mayDo } from "../session/rights.ts";
import { useProject, useSession } from "../session/session.ts";
import { isFor, palettePages } from "./navigation.ts";
import { type PaletteQuery, paletteInputId, usePaletteText } from "./palette-query.ts";
import { isCalled, transformationsQuery } from "./transformation-list.ts";

const hitsMax = 6;
const typingPauseMs = 150;

export function CommandPalette({ query }: { query: PaletteQuery }) {
  const text = usePaletteText(query);
  const [searched] = useDebouncedValue(text.trim(), typingPauseMs);
  const records = useRecords(searched);
  const found = [usePages(text), ...records.groups, useTransformations(searched)];
  const groups = found.filter(({ actions }) => actions.length > 0);
  const openOnEnter = useOpenOnEnter(groups, records.areFound && searched === text.trim());
  return (
    <Spotlight
      actions={groups}
      query={text}
      onQueryChange={query.set}
      filter={(_, actions) => actions}
      shortcut={null}
      nothingFound={text.trim() === "" ? "Type a name" : "Nothing is called that"}
      scrollable
      maxHeight="60vh"
      searchProps={{
        id: paletteInputId,
        leftSection: <Search size={18} aria-hidden />,
        placeholder: "Find pages, assets, series, events, files…",
        "aria-label": "Find pages, assets, series, events and files",
        onKeyDownCapture: openOnEnter,
      }}
    />
  );
}

/**
 * The hit that Enter opens. The palette marks it in the page only, and other hits lose the mark.
 */
function selectedHit(): HTMLElement | null | undefined {
  const palette = document.getElementById(paletteInputId)?.closest("[role=dialog]");
  const hit = (mark: string) => palette?.querySelector<HTMLElement>(`[${mark}]`);
  return hit("data-selected") ?? hit("data-action");
}

/**
 * Enter opens the selected hit, which is the first one until the person moves. The hits of a text come later
 * than its letters, so Enter waits for them: it never opens a hit of an earlier text.
 */
function useOpenOnEnter(groups: readonly SpotlightActionGroupData[], areFound: boolean) {
  const [isEntered, setEntered] = useState(false);
  const shown = groups.flatMap(({ actions }) => actions.map(({ id }) => id)).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: other hits have no mark yet
  useLayoutEffect(() => selectedHit()?.setAttribute("data-selected", "true"), [shown]);
  useEffect(() => {
    if (!(isEntered && areFound)) return;
    setEntered(false);
    selectedHit()?.click();
  }, [isEntered, areFound]);
  return (event: KeyboardEvent) => {
    const isEnter = event.key === "Enter" && !event.nativeEvent.isComposing;
    if (isEnter) event.stopPropagation();
    setEntered(isEnter);
  };
}

function usePages(query: string): SpotlightActionGroupData {
  const navigate = useNavigate();
  const isForMe = isFor(useSession());
  const wanted = query.trim().toLowerCase();
  const found = palettePages.filter(
    (page) => isForMe(page) && `${page.label} ${page.keywords}`.toLowerCase().includes(wanted),
  );
  const actions = found.map(({ to, label, icon: Icon }) => ({
    id: `page ${to}`,
    label,
    leftSection: <Icon size={18} aria-hidden />,
    onClick: () => void navigate({ to }),
  }));
  return { group: "Pages", actions };
}

function useRecords(name: string): { groups: SpotlightActionGroupData[]; areFound: boolean } {
  const project = useProject();
  const navigate = useNavigate();
  const { data, isFetching } = useQuery({
    queryKey: ["palette", project, name],
    enabled: name !== "",
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => findRecords(project, name, signal),
  });
  const areFound = !isFetching;
  if (name === "" || data === undefined) return { groups: [], areFound };
  const openAsset = (id: number) => () => void navigate({ to: "/assets/$id", params: { id } });
  const openSeries = (id: number) => () => void navigate({ to: "/series/$id", params: { id } });
  const openEvent = (id: number) => () => void navigate({ to: "/events/$id", params: { id } });
  const openFile = (id: number) => () => void navigate({ to: "/files/$id", params: { id } });
  const openSequence = (id: number) => () => void navigate({ to: "/sequences/$id", params: { id } });
  const groups = [
    {
      group: "Assets",
      actions: data.assets.map(({ id, name: label, description = "" }) => ({
        ...{ id: `asset ${id}`, label, description, onClick: openAsset(id) },
      })),
    },
    {
      group: "Series",
      actions: data.series.map(({ id, name: label, description = "" }) => ({
        ...{ id: `series ${id}`, label, description, onClick: openSeries(id) },
      })),
    },
    {
      group: "Events",
      actions: data.events.map((event) => ({
        ...{ id: `event ${event.id}`, label: event.description ?? "Event", onClick: openEvent(event.id) },
        description: [event.type, event.startTime && timeText(event.startTime)].filter(Boolean).join(" · "),
      })),
    },
    {
      group: "Files",
      actions: data.files.map(({ id, fileName: label, directory: description = "" }) => ({
        ...{ id: `file ${id}`, label, description, onClick: openFile(id) },
      })),
    },
    {
      group: "Sequences",
      actions: data.sequences.map(({ id, name: label, externalId, description }) => ({
        ...{ id: `sequence ${id}`, label: label ?? externalId ?? `Sequence ${id}` },
        ...{ description: description ?? "", onClick: openSequence(id) },
      })),
    },
  ];
  return { groups, areFound };
}

/** There are few transformations: the console finds them by itself, also by a part of a word. */
function useTransformations(name: string): SpotlightActionGroupData {
  const project = useProject();
  const navigate = useNavigate();
  const mayRead = mayDo(useSession(), "transformationsAcl", "READ");
  const isWanted = name !== "" && mayRead;
  const { data = [] } = useQuery({ ...transformationsQuery(project), enabled: isWanted });
  const found = isWanted ? data.filter((one) => isCalled(one, name)).slice(0, hitsMax) : [];
  return {
    group: "Transformations",
    actions: found.map(({ id, name: label, externalId: description }) => ({
      ...{ id: `transformation ${id}`, label, description },
      onClick: () => void navigate({ to: "/transformations/$id", params: { id } }),
    })),
  };
}

async function findRecords(project: string, name: string, signal: AbortSignal) {
  const query = { query: name, limit: hitsMax };
  const [assets, series, events, files, sequences] = await Promise.all([
    getAssetsSearch(project, query, { signal }).catch(noneWithoutRight),
    getTimeseriesSearch(project, query, { signal }).catch(noneWithoutRight),
    getEventsSearch(project, { description: name, limit: hitsMax }, { signal }).catch(noneWithoutRight),
    getFilesSearch(project, { name, limit: hitsMax }, { signal }).catch(noneWithoutRight),
    getSequencesSearch(project, query, { signal }).catch(noneWithoutRight),
  ]);
  return {
    ...{ assets: assets.data.items, series: series.data.items },
    ...{ events: events.data.items, files: files.data.items, sequences: sequences.data.items },
  };
}

/** The palette shows the records that the person may read, also if that is one kind of records only. */
function noneWithoutRight(problem: unknown): { data: { items: never[] } } {
  if (statusOf(problem) === 403) return { data: { items: [] } };
  throw problem;
}

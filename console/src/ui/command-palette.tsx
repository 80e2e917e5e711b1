// The command palette: finds pages, assets, series, events, files, sequences and transformations by name.

import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from "react";
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
import { type PaletteQuery, paletteInputId, useIsEntered, usePaletteText } from "./palette-query.ts";
import { isCalled, transformationsQuery } from "./transformation-list.ts";

const hitsMax = 6;
const typingPauseMs = 150;

export function CommandPalette({ query }: { query: PaletteQuery }) {
  const text = usePaletteText(query);
  const [searched] = useDebouncedValue(text.trim(), typingPauseMs);
  const records = useRecords(searched);
  const transformations = useTransformations(searched);
  const found = [usePages(text), ...records.groups, transformations.group];
  const groups = found.filter(({ actions }) => actions.length > 0);
  const areFound = records.areFound && transformations.areFound && searched === text.trim();
  const onKeyDownCapture = useOpenOnEnter(query, { groups, areFound });
  const { hasFailed } = records;
  return (
    <Spotlight
      actions={groups}
      query={text}
      onQueryChange={query.set}
      filter={(_, actions) => actions}
      shortcut={null}
      onSpotlightClose={() => query.enter(false)}
      nothingFound={text.trim() === "" ? "Type a name" : noHitsText({ areFound, hasFailed })}
      scrollable
      maxHeight="60vh"
      searchProps={{
        id: paletteInputId,
        leftSection: <Search size={18} aria-hidden />,
        placeholder: "Find pages, assets, series, events, files…",
        "aria-label": "Find pages, assets, series, events and files",
        onKeyDownCapture,
      }}
    />
  );
}

/** Says why the palette shows no hits of a text. */
function noHitsText({ areFound, hasFailed }: { readonly areFound: boolean; readonly hasFailed: boolean }) {
  if (hasFailed) return "The search failed";
  return areFound ? "Nothing is called that" : "Searching…";
}

/** A hit with this mark. The palette marks the selected hit in the page only. */
const hitWith = (mark: "data-selected" | "data-action") =>
  document.getElementById(paletteInputId)?.closest("[role=dialog]")?.querySelector<HTMLElement>(`[${mark}]`);

/** The hit that Enter opens. */
const selectedHit = () => hitWith("data-selected") ?? hitWith("data-action");

interface ShownHits {
  readonly groups: readonly SpotlightActionGroupData[];
  /** Whether these are all hits of the text. */
  readonly areFound: boolean;
}

/**
 * Enter opens the selected hit, which is the first one until the person moves. The hits of a text come later
 * than its letters, so Enter waits for them: it never opens a hit of an earlier text. Another key, another
 * text or the end of the palette cancels it.
 */
function useOpenOnEnter(query: PaletteQuery, { groups, areFound }: ShownHits) {
  const isEntered = useIsEntered(query);
  const hasMoved = useRef(false);
  const shown = groups.flatMap(({ actions }) => actions.map(({ id }) => id)).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a hit of the earlier ones may keep the mark
  useLayoutEffect(() => {
    if (!hasMoved.current) hitWith("data-selected")?.removeAttribute("data-selected");
    selectedHit()?.setAttribute("data-selected", "true");
  }, [shown]);
  useEffect(() => {
    if (!(isEntered && areFound)) return;
    query.enter(false);
    selectedHit()?.click();
  }, [query, isEntered, areFound]);
  return (event: KeyboardEvent) => {
    const isEnter = event.key === "Enter" && !isOfInputMethod(event.nativeEvent);
    if (isEnter) event.stopPropagation();
    else hasMoved.current = event.key === "ArrowDown" || event.key === "ArrowUp";
    query.enter(isEnter);
  };
}

/**
 * The Enter that ends a composition is not for the palette. Safari sends it after the end, with this code.
 */
const isOfInputMethod = ({ isComposing, keyCode }: globalThis.KeyboardEvent): boolean =>
  isComposing || keyCode === 229;

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

interface FoundRecords {
  readonly groups: SpotlightActionGroupData[];
  readonly areFound: boolean;
  readonly hasFailed: boolean;
}

function useRecords(name: string): FoundRecords {
  const project = useProject();
  const navigate = useNavigate();
  const search = useQuery({
    queryKey: ["palette", project, name],
    enabled: name !== "",
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => findRecords(project, name, signal),
  });
  const { isPlaceholderData: isOfEarlierText, isPaused, isFetching, isError } = search;
  // Without a connection, hits of an earlier text would stay. Enter does not wait for the connection.
  const data = isOfEarlierText && isPaused ? undefined : search.data;
  const areFound = !isFetching || (data !== undefined && !isOfEarlierText);
  const hasFailed = isPaused || isError;
  if (name === "" || data === undefined) return { groups: [], areFound, hasFailed };
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
  return { groups, areFound, hasFailed };
}

/** There are few transformations: the console finds them by itself, also by a part of a word. */
function useTransformations(name: string): { group: SpotlightActionGroupData; areFound: boolean } {
  const project = useProject();
  const navigate = useNavigate();
  const mayRead = mayDo(useSession(), "transformationsAcl", "READ");
  const isWanted = name !== "" && mayRead;
  const { data = [], isLoading } = useQuery({ ...transformationsQuery(project), enabled: isWanted });
  const found = isWanted ? data.filter((one) => isCalled(one, name)).slice(0, hitsMax) : [];
  const group = {
    group: "Transformations",
    actions: found.map(({ id, name: label, externalId: description }) => ({
      ...{ id: `transformation ${id}`, label, description },
      onClick: () => void navigate({ to: "/transformations/$id", params: { id } }),
    })),
  };
  return { group, areFound: !isLoading };
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

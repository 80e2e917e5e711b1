// "Find similar": searches the history for windows that look like this one, and opens them in the trend.
import { Button, Checkbox, Drawer, Group, NavLink, Progress, Select, Stack, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { measureOf, measureSearch } from "./measure.ts";
import {
  type SimilarQuery,
  type SimilarWindow,
  searchSimilar,
  seriesMax,
  shortestMs,
} from "./similar-search.ts";
import type { StoredSeries } from "./trend-series.ts";
import { type TrendShown, useTrendActions } from "./trend-state.tsx";
import { fixedWindow, lengthText } from "./window.ts";

/** As in trend.module.css. */
const panelWidth = 360;
const dayMs = 86_400_000;
const ranges = [
  { value: "7", label: "the last 7 days" },
  { value: "30", label: "the last 30 days" },
  { value: "90", label: "the last 90 days" },
  { value: "365", label: "the last year" },
  { value: "all", label: "all time" },
];

/** A part of some series that is searched elsewhere. It stays while the trend shows the matches. */
export interface Pattern {
  readonly series: readonly StoredSeries[];
  readonly window: TimeWindow;
  /** The trend around the pattern, so that a match is shown in the same way. */
  readonly view: TimeWindow;
  readonly isMeasured: boolean;
  readonly timeZone: string | undefined;
}

/** The part between the measuring cursors, or without them all that is shown. */
export function patternOf(series: readonly StoredSeries[], { search, window }: TrendShown): Pattern {
  const measure = measureOf(search);
  const inside = measure && { startMs: Math.min(...measure), endMs: Math.max(...measure) };
  return {
    series: series.filter(({ isString, isHidden }) => !isString && !isHidden),
    ...{ window: inside ?? window, view: window, isMeasured: inside !== undefined, timeZone: search.zone },
  };
}

interface SimilarPanelProps {
  readonly pattern: Pattern;
  onClose(): void;
}

export function SimilarPanel({ pattern, onClose }: SimilarPanelProps) {
  useReturnedFocus();
  const isNarrow = useMediaQuery("(max-width: 62em)", undefined, { getInitialValueInEffect: false });
  return (
    <Drawer
      opened
      onClose={onClose}
      // The chart stays in view: beside the panel, or above it on a narrow screen.
      position={isNarrow ? "bottom" : "right"}
      size={isNarrow ? "45%" : panelWidth}
      data-similar-panel
      withOverlay={false}
      lockScroll={false}
      trapFocus={false}
      title="Find similar windows"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <SimilarWindows pattern={pattern} />
    </Drawer>
  );
}

function SimilarWindows({ pattern }: { readonly pattern: Pattern }) {
  const { window, isMeasured, timeZone } = pattern;
  const { run, start, cancel } = useSimilarSearch();
  const part = isMeasured ? ", between the cursors" : "";
  const panel = useRef<HTMLDivElement>(null);
  // The panel does not keep the focus: one moves the trend while it is open.
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  return (
    <Stack gap="sm" ref={panel} tabIndex={-1}>
      <Text size="sm">{`From ${timeText(window.startMs, timeZone)}, ${lengthText(window)}${part}`}</Text>
      {!isMeasured && (
        <Text size="xs" c="var(--text-quiet)">
          The search compares the whole picture. To search for a part of it, close this, place the two cursors
          around the part with “Measure”, and open this again.
        </Text>
      )}
      <SimilarForm pattern={pattern} isRunning={run.state === "running"} onSearch={start} />
      {run.state === "running" && (
        <Group wrap="nowrap">
          <Progress value={100 * run.progress} flex={1} animated aria-label="Progress of the search" />
          <Text size="sm">{Math.round(100 * run.progress)} %</Text>
          <Button size="compact-xs" variant="default" onClick={cancel}>
            Cancel
          </Button>
        </Group>
      )}
      {run.state === "failed" && (
        <>
          <Refusal problem={run.problem} />
          <Text size="xs">A series needs points at the start and at the end of the window.</Text>
        </>
      )}
      {run.state === "done" && <Matches pattern={pattern} matches={run.matches} />}
    </Stack>
  );
}

interface SimilarFormProps {
  readonly pattern: Pattern;
  readonly isRunning: boolean;
  onSearch(query: SimilarQuery): void;
}

/** Steps are not chosen at first: they have few points, often none at the start of the window. */
function SimilarForm({ pattern: { series, window }, isRunning, onSearch }: SimilarFormProps) {
  const [range, setRange] = useState("90");
  const [names, setNames] = useState(() => series.filter(({ isStep }) => !isStep).map(({ name }) => name));
  const chosen = series.filter(({ name }) => names.includes(name));
  const obstacle = obstacleOf(chosen, window);
  const fromMs = range === "all" ? undefined : Date.now() - Number(range) * dayMs;
  return (
    <>
      <Checkbox.Group label="Series to compare" size="xs" value={names} onChange={setNames}>
        <Stack gap={6} mt={6}>
          {series.map(({ name, description }) => (
            <Checkbox key={name} size="xs" value={name} label={[name, description].join(" ").trim()} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group align="end" wrap="nowrap">
        <Select
          size="xs"
          flex={1}
          label="Search in"
          data={ranges}
          value={range}
          onChange={(value) => setRange(value ?? "90")}
          allowDeselect={false}
        />
        <Button
          size="xs"
          disabled={obstacle !== undefined}
          loading={isRunning}
          onClick={() => onSearch({ series: chosen, window, fromMs })}
        >
          Search
        </Button>
      </Group>
      {obstacle !== undefined && <Text size="xs">{obstacle}</Text>}
    </>
  );
}

function obstacleOf(chosen: readonly StoredSeries[], window: TimeWindow): string | undefined {
  if (chosen.length === 0) return "Choose a series of numbers.";
  if (chosen.length > seriesMax) return `At most ${seriesMax} series are compared together.`;
  if (window.endMs - window.startMs < shortestMs) return "Choose a window of two seconds or more.";
  return undefined;
}

interface MatchesProps {
  readonly pattern: Pattern;
  readonly matches: readonly SimilarWindow[];
}

function Matches({ pattern, matches }: MatchesProps) {
  const { change } = useTrendActions();
  const [shown, setShown] = useState<SimilarWindow>();
  const { window, view, isMeasured, timeZone } = pattern;
  const show = (match: SimilarWindow | undefined) => {
    setShown(match);
    const byMs = (match?.startMs ?? window.startMs) - window.startMs;
    const moved = { startMs: view.startMs + byMs, endMs: view.endMs + byMs };
    const cursors = isMeasured ? measureSearch([window.startMs + byMs, window.endMs + byMs]) : {};
    change({ ...fixedWindow(moved), ...cursors });
  };
  if (matches.length === 0)
    return <Text size="sm">There is no other window with data in this time. Search in a longer time.</Text>;
  return (
    <nav aria-label="Similar windows">
      <NavLink
        component="button"
        active={shown === undefined}
        label="The window itself"
        description={timeText(window.startMs, timeZone)}
        onClick={() => show(undefined)}
      />
      {matches.map((match) => (
        <NavLink
          key={match.startMs}
          component="button"
          active={shown === match}
          label={timeText(match.startMs, timeZone)}
          rightSection={<Text size="sm">{(100 * match.likeness).toFixed(1)} % alike</Text>}
          onClick={() => show(match)}
        />
      ))}
      <Text size="xs" c="var(--text-quiet)" mt="sm">
        100 % is the same shape. Level and size do not count.
      </Text>
    </nav>
  );
}

type Run =
  | { readonly state: "none" }
  | { readonly state: "running"; readonly progress: number }
  | { readonly state: "done"; readonly matches: readonly SimilarWindow[] }
  | { readonly state: "failed"; readonly problem: unknown };

/** Runs one search at a time. The search ends with the page. */
function useSimilarSearch() {
  const project = useProject();
  const [run, setRun] = useState<Run>({ state: "none" });
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  const start = async (query: SimilarQuery) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setRun({ state: "running", progress: 0 });
    const onProgress = (progress: number) => setRun({ state: "running", progress });
    try {
      setRun({ state: "done", matches: await searchSimilar(project, query, { signal, onProgress }) });
    } catch (problem) {
      setRun(signal.aborted ? { state: "none" } : { state: "failed", problem });
    }
  };
  return { run, start, cancel: () => controller.current?.abort() };
}

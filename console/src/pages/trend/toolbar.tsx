// The controls above the trend. They do not render again with each window: a menu takes 2 ms.
import { ActionIcon, Button, CheckIcon, Group, Menu, Switch, Tooltip } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import {
  CalendarClock,
  Ellipsis,
  type LucideIcon,
  Radar,
  RefreshCw,
  Ruler,
  Sigma,
  ZoomOut,
} from "lucide-react";
import { useState } from "react";
import { mayDo } from "../../session/rights.ts";
import { useSession } from "../../session/session.ts";
import { zoomed } from "../../ui/chart/gestures.ts";
import { type Pattern, patternOf, SimilarPanel } from "./find-similar.tsx";
import { measureIn, measureSearch } from "./measure.ts";
import { RangeControl } from "./range-control.tsx";
import { SeriesPicker } from "./series-picker.tsx";
import { isStored, type TrendSeries } from "./trend-series.ts";
import { type TrendActions, useTrendActions, useTrendSearch } from "./trend-state.tsx";
import { fixedWindow, isLive } from "./window.ts";

interface ToolbarProps {
  readonly series: readonly TrendSeries[];
  /** Starts a new formula. */
  onFormula(): void;
}

/** A narrow screen has a menu for most of the controls. */
export function Toolbar({ series, onFormula }: ToolbarProps) {
  const isNarrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const [pattern, setPattern] = useState<Pattern>();
  const similar = useSimilarCommand(series, { pattern, setPattern });
  const view = useViewCommands();
  const formula: Command = { label: "Add formula", icon: Sigma, run: onFormula };
  const others = [...view, ...similar];
  return (
    <Group gap="xs">
      <SeriesPicker />
      {isNarrow ? (
        <>
          <CommandMenu commands={[formula, ...others]} />
          <LiveSwitch />
          <RangeControl />
        </>
      ) : (
        <>
          <CommandButton {...formula} />
          <RangeControl icon={<CalendarClock size={15} aria-hidden />} />
          {others.map((command) => (
            <CommandButton key={command.label} {...command} />
          ))}
          <LiveSwitch />
        </>
      )}
      {pattern && <SimilarPanel pattern={pattern} onClose={() => setPattern(undefined)} />}
    </Group>
  );
}

interface Command {
  readonly label: string;
  readonly icon: LucideIcon;
  /** The tooltip of a button with an icon alone. */
  readonly hint?: string;
  /** Whether a switch is on; absent for a command. */
  readonly isOn?: boolean;
  readonly run: () => void;
}

/** The commands that change the window or read it again, and the switch of the cursors. */
function useViewCommands(): readonly Command[] {
  const { shown, change, refresh } = useTrendActions();
  const isMeasured = useTrendSearch(({ cursors }) => cursors !== undefined);
  return [
    { label: "Zoom out", icon: ZoomOut, hint: "Zoom out", run: () => change(zoomedOut(shown())) },
    { label: "Refresh", icon: RefreshCw, hint: "Read again", run: refresh },
    {
      ...{ label: "Measure", icon: Ruler, isOn: isMeasured },
      run: () => change(isMeasured ? { cursors: undefined } : measureSearch(measureIn(shown().window))),
    },
  ];
}

const zoomedOut = ({ window }: ReturnType<TrendActions["shown"]>) =>
  fixedWindow(zoomed(window, 2, (window.startMs + window.endMs) / 2));

interface PatternState {
  readonly pattern: Pattern | undefined;
  setPattern(pattern: Pattern): void;
}

/** "Find similar", for people who may run it. */
function useSimilarCommand(all: readonly TrendSeries[], { pattern, setPattern }: PatternState): Command[] {
  const { shown } = useTrendActions();
  const series = all.filter(isStored);
  if (!mayDo(useSession(), "analyticsAcl", "EXECUTE") || series.length === 0) return [];
  return [
    {
      ...{ label: "Find similar", icon: Radar, isOn: pattern !== undefined },
      run: () => setPattern(patternOf(series, shown())),
    },
  ];
}

function CommandButton({ label, icon: Icon, hint, isOn, run }: Command) {
  if (hint !== undefined)
    return (
      <Tooltip label={hint}>
        <ActionIcon variant="default" size={30} aria-label={label} onClick={run}>
          <Icon size={15} aria-hidden />
        </ActionIcon>
      </Tooltip>
    );
  return (
    <Button
      size="xs"
      variant={isOn ? "light" : "default"}
      aria-pressed={isOn}
      leftSection={<Icon size={15} aria-hidden />}
      onClick={run}
    >
      {label}
    </Button>
  );
}

const CommandMenu = ({ commands }: { readonly commands: readonly Command[] }) => (
  <Menu position="bottom-start">
    <Menu.Target>
      <ActionIcon variant="default" size={30} aria-label="More controls">
        <Ellipsis size={15} aria-hidden />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      {commands.map(({ label, icon: Icon, isOn, run }) => (
        <Menu.Item
          key={label}
          leftSection={<Icon size={15} aria-hidden />}
          rightSection={isOn && <CheckIcon size={11} aria-label="on" />}
          onClick={run}
        >
          {label}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);

function LiveSwitch() {
  const { shown, change } = useTrendActions();
  const follow = (live: boolean) =>
    change(
      live
        ? { live, ...(shown().search.end !== undefined && { start: undefined, end: undefined }) }
        : { live: undefined },
    );
  return (
    <Switch
      size="sm"
      label="Live"
      checked={useTrendSearch(isLive)}
      onChange={(event) => follow(event.currentTarget.checked)}
    />
  );
}

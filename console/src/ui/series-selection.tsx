// The series that are selected in a list, and the ways that start from them.
import { Button, Checkbox } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ChartSpline } from "lucide-react";
import { useState } from "react";
import { countText } from "../lib/format.ts";
import { linkToTrend } from "../lib/trend-link.ts";
import classes from "./series-selection.module.css";

export interface SeriesSelection {
  readonly names: ReadonlySet<string>;
  toggle(name: string): void;
  clear(): void;
}

export function useSeriesSelection(): SeriesSelection {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  const toggle = (name: string) => {
    const next = new Set(names);
    if (!next.delete(name)) next.add(name);
    setNames(next);
  };
  return { names, toggle, clear: () => setNames(new Set()) };
}

interface SelectBoxProps {
  readonly name: string;
  readonly selection: SeriesSelection;
}

export const SelectBox = ({ name, selection }: SelectBoxProps) => (
  <Checkbox
    size="xs"
    aria-label={`Select ${name}`}
    checked={selection.names.has(name)}
    onChange={() => selection.toggle(name)}
  />
);

interface SelectionBarProps {
  readonly selection: SeriesSelection;
  /** Over the lower edge of a table that scrolls itself, or below a list in a page that scrolls. */
  readonly place: "table" | "list";
}

/** Nothing while nothing is selected. */
export function SelectionBar({ selection: { names, clear }, place }: SelectionBarProps) {
  if (names.size === 0) return null;
  return (
    <div className={classes["bar"]} data-place={place} role="region" aria-label="Selection">
      <span role="status">{countText(names.size)} selected</span>
      <Button
        size="xs"
        leftSection={<ChartSpline size={14} aria-hidden />}
        renderRoot={(props) => <Link {...props} {...linkToTrend([...names])} />}
      >
        Open in the trend
      </Button>
      <Button size="xs" variant="default" onClick={clear}>
        Clear
      </Button>
    </div>
  );
}

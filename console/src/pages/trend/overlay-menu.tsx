// Chooses what is drawn beside the series: events by type, and the same window some days before.
import { Button, Checkbox, Popover, Select, Stack, Text } from "@mantine/core";
import { Layers } from "lucide-react";
import { unreadText } from "../../api/errors.ts";
import { eventColorStyle } from "../../lib/event-color.ts";
import type { TrendSearch } from "./search.ts";
import classes from "./trend.module.css";
import { allTypes, type TrendEvents } from "./use-events.ts";

interface OverlayMenuProps {
  readonly search: TrendSearch;
  /** Those in the window. */
  readonly events: Pick<TrendEvents, "types" | "problem">;
  onChange(change: Partial<TrendSearch>): void;
}

const compareDays = [1, 2, 7, 14, 28, 30, 90, 364, 365];

export function OverlayMenu({ search, events: found, onChange }: OverlayMenuProps) {
  const { events, compare } = search;
  const parts = [events && "events", compare !== undefined && `${compare} d before`].filter(Boolean);
  return (
    <Popover position="bottom-start" trapFocus withRoles>
      <Popover.Target>
        <Button
          size="compact-xs"
          variant={parts.length > 0 ? "light" : "default"}
          leftSection={<Layers size={14} aria-hidden />}
        >
          {parts.length > 0 ? `With ${parts.join(", ")}` : "Events and comparison"}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm">
          <Select
            size="xs"
            label="Compare with"
            placeholder="Nothing"
            clearable
            comboboxProps={{ withinPortal: false }}
            data={compareDays.map((days) => ({
              value: String(days),
              label: days === 1 ? "1 day before" : `${days} days before`,
            }))}
            value={compare === undefined ? null : String(compare)}
            onChange={(days) => onChange({ compare: days === null ? undefined : Number(days) })}
          />
          <Checkbox
            size="xs"
            label="Events"
            checked={events !== undefined}
            onChange={(event) => onChange({ events: event.currentTarget.checked ? [allTypes] : undefined })}
          />
          {events && <TypeFilter events={events} found={found} onChange={onChange} />}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

interface TypeFilterProps {
  readonly events: readonly string[];
  readonly found: OverlayMenuProps["events"];
  onChange(change: Partial<TrendSearch>): void;
}

function TypeFilter({ events, found: { types, problem }, onChange }: TypeFilterProps) {
  if (problem !== null) return <Text size="xs">{unreadText("events", problem)}</Text>;
  if (types.length === 0) return <Text size="xs">There are no events in this window.</Text>;
  const chosen = events.includes(allTypes) ? types : events;
  const toggle = (type: string) => {
    const next = chosen.includes(type) ? chosen.filter((one) => one !== type) : [...chosen, type];
    onChange({
      events: types.every((one) => next.includes(one)) ? [allTypes] : next.length > 0 ? next : undefined,
    });
  };
  return (
    <Stack gap={6} pl="md" mah={220} style={{ overflowY: "auto" }}>
      {types.map((type) => (
        <Checkbox
          key={type}
          size="xs"
          label={
            <span className={classes["eventType"]}>
              <span className={classes["eventSwatch"]} style={{ background: eventColorStyle(type) }} />
              {type === "" ? "no type" : type}
            </span>
          }
          checked={chosen.includes(type)}
          onChange={() => toggle(type)}
        />
      ))}
    </Stack>
  );
}

// Chooses what is drawn beside the series: events by type, and the same window some days before.
import { Button, Checkbox, Popover, Select, Stack, Text } from "@mantine/core";
import { Layers } from "lucide-react";
import { unreadText } from "../../api/errors.ts";
import { eventColorStyle } from "../../lib/event-color.ts";
import classes from "./trend.module.css";
import { useTrendActions, useTrendSearch } from "./trend-state.tsx";
import { allTypes, noType, type TrendEvents } from "./use-events.ts";

interface OverlayMenuProps {
  /** Those in the window. */
  readonly found: TrendEvents;
}

const compareDays = [1, 2, 7, 14, 28, 30, 90, 364, 365];

export function OverlayMenu({ found }: OverlayMenuProps) {
  const { change } = useTrendActions();
  const events = useTrendSearch((search) => search.events);
  const compare = useTrendSearch((search) => search.compare);
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
            onChange={(days) => change({ compare: days === null ? undefined : Number(days) })}
          />
          <Checkbox
            size="xs"
            label="Events"
            checked={events !== undefined}
            onChange={(event) => change({ events: event.currentTarget.checked ? [allTypes] : undefined })}
          />
          {events && <TypeFilter events={events} found={found} />}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

interface TypeFilterProps extends OverlayMenuProps {
  readonly events: readonly string[];
}

function TypeFilter({ events, found: { types, problem } }: TypeFilterProps) {
  const { change } = useTrendActions();
  if (problem !== null) return <Text size="xs">{unreadText("events", problem)}</Text>;
  if (types.length === 0) return <Text size="xs">There are no events in this window.</Text>;
  const chosen = events.includes(allTypes) ? types : events;
  const toggle = (type: string) => {
    const next = chosen.includes(type) ? chosen.filter((one) => one !== type) : [...chosen, type];
    change({
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
              <span className={classes["eventSwatch"]} style={{ background: swatchOf(type) }} />
              {type === noType ? "no type" : type}
            </span>
          }
          checked={chosen.includes(type)}
          onChange={() => toggle(type)}
        />
      ))}
    </Stack>
  );
}

const swatchOf = (type: string): string => eventColorStyle(type === noType ? "" : type);

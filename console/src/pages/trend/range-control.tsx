// Chooses the window of time: a length that ends now, or two times, in a time zone.
import {
  Button,
  Group,
  Popover,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  VisuallyHidden,
} from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { timeText } from "../../lib/format.ts";
import { browserZone, fromZoned, toZoned } from "../../lib/zoned-time.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import type { TrendSearch } from "./search.ts";
import { useTrendActions, useTrendShown } from "./trend-state.tsx";
import { defaultStart, fixedWindow, isRelative, lengthText } from "./window.ts";

const presets = [
  { start: "15m-ago", label: "15 min" },
  { start: "1h-ago", label: "1 hour" },
  { start: "6h-ago", label: "6 hours" },
  { start: "24h-ago", label: "24 hours" },
  { start: "7d-ago", label: "7 days" },
  { start: "30d-ago", label: "30 days" },
  { start: "90d-ago", label: "90 days" },
  { start: "365d-ago", label: "1 year" },
] as const;

export function RangeControl({ icon }: { readonly icon?: ReactNode }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-start" trapFocus withRoles>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={icon} onClick={() => setIsOpen(!isOpen)}>
          <RangeText />
        </Button>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 24px)">
        <RangeForm onDone={() => setIsOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

const presetOf = (search: TrendSearch) =>
  presets.find(({ start }) => isRelative(search) && start === (search.start ?? defaultStart));

/** Follows the window, and not the button around it, which takes longer to render. */
function RangeText() {
  const { search, window } = useTrendShown();
  const [start, end] = [window.startMs, window.endMs].map((timeMs) => timeText(timeMs, zoneOf(search)));
  const length = presetOf(search)?.label ?? lengthText(window);
  return (
    <>
      <VisuallyHidden>Time range: </VisuallyHidden>
      {isRelative(search) ? `Last ${length}` : `${start} – ${end}`}
    </>
  );
}

const zoneOf = ({ zone = browserZone() }: TrendSearch): string => zone;

function RangeForm({ onDone }: { onDone(): void }) {
  const { search, window } = useTrendShown();
  const { change } = useTrendActions();
  // A live window moves each second, also while a person types.
  const [windowAtStart] = useState(window);
  const preset = presetOf(search);
  const zone = zoneOf(search);
  return (
    <Stack gap="sm">
      <SimpleGrid cols={4} spacing={6}>
        {presets.map(({ start, label }) => (
          <Button
            key={start}
            size="compact-sm"
            variant={preset?.start === start ? "filled" : "default"}
            aria-label={`Last ${label}`}
            onClick={() => {
              change({ start, end: undefined });
              onDone();
            }}
          >
            {label}
          </Button>
        ))}
      </SimpleGrid>
      <FixedTimes
        key={zone}
        {...{ window: windowAtStart, zone }}
        onSet={(fixed) => {
          change(fixedWindow(fixed));
          onDone();
        }}
      />
      <ZoneSelect zone={search.zone} onChange={(chosen) => change({ zone: chosen })} />
    </Stack>
  );
}

interface FixedTimesProps {
  readonly window: TimeWindow;
  readonly zone: string;
  onSet(window: TimeWindow): void;
}

function FixedTimes({ window, zone, onSet }: FixedTimesProps) {
  const [start, setStart] = useState(() => toZoned(window.startMs, zone));
  const [end, setEnd] = useState(() => toZoned(window.endMs, zone));
  const startMs = fromZoned(start, zone);
  const endMs = fromZoned(end, zone);
  const isGood = startMs !== undefined && endMs !== undefined && startMs < endMs;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isGood) onSet({ startMs, endMs });
  };
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end">
        <TextInput
          {...{ type: "datetime-local", step: 1, size: "xs", label: "From", value: start }}
          onChange={(event) => setStart(event.currentTarget.value)}
        />
        <TextInput
          {...{ type: "datetime-local", step: 1, size: "xs", label: "To", value: end }}
          onChange={(event) => setEnd(event.currentTarget.value)}
        />
        <Button type="submit" size="xs" disabled={!isGood}>
          Show
        </Button>
      </Group>
      {!isGood && (
        <Text size="xs" c="red" role="alert" mt={4}>
          The first time must be before the second one.
        </Text>
      )}
    </form>
  );
}

interface ZoneSelectProps {
  readonly zone: string | undefined;
  onChange(zone: string | undefined): void;
}

function ZoneSelect({ zone, onChange }: ZoneSelectProps) {
  const own = browserZone();
  const others = ["UTC", ...Intl.supportedValuesOf("timeZone")].filter((one) => one !== own);
  return (
    <Select
      size="xs"
      label="Time zone"
      searchable
      limit={100}
      comboboxProps={{ withinPortal: false }}
      data={[{ value: own, label: `${own} (this browser)` }, ...new Set(others)]}
      value={zone ?? own}
      allowDeselect={false}
      onChange={(chosen) => onChange(chosen === own || chosen === null ? undefined : chosen)}
    />
  );
}

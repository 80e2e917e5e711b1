// Adds series to the trend by a search for their names and descriptions, or from the tree of assets.
import { Button, CheckIcon, Combobox, FocusTrap, Group, Loader, Text, useCombobox } from "@mantine/core";
import { Network, Plus } from "lucide-react";
import { useRef, useState } from "react";
import { messageOf } from "../../api/errors.ts";
import type { TimeSeries } from "../../api/generated.ts";
import { useSeriesHits } from "../../ui/series-hits.ts";
import { SeriesTree } from "./series-tree.tsx";
import { useTrendActions, useTrendSearch } from "./trend-state.tsx";

const none: readonly string[] = [];

export function SeriesPicker() {
  const { change } = useTrendActions();
  const names = useTrendSearch(({ series }) => series) ?? none;
  const onToggle = (name: string) =>
    change({ series: names.includes(name) ? names.filter((one) => one !== name) : [...names, name] });
  const [query, setQuery] = useState("");
  const [isTreeOpen, setIsTreeOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const combobox = useCombobox({
    onDropdownOpen: () => combobox.focusSearchInput(),
    onDropdownClose: () => setQuery(""),
  });
  const close = () => {
    combobox.closeDropdown();
    button.current?.focus();
  };
  const openTree = () => {
    // The drawer gives the focus back to the element that has it now; the menu takes its own away.
    close();
    setIsTreeOpen(true);
  };
  return (
    <Combobox store={combobox} width={360} position="bottom-start" onOptionSubmit={onToggle} withinPortal>
      <Combobox.Target withAriaAttributes={false}>
        <Button
          ref={button}
          size="xs"
          leftSection={<Plus size={15} aria-hidden />}
          onClick={() => combobox.toggleDropdown()}
        >
          Add series
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown maw="calc(100vw - 24px)" onKeyDown={(event) => event.key === "Escape" && close()}>
        <FocusTrap active={combobox.dropdownOpened}>
          <div>
            <Combobox.Search
              value={query}
              onChange={(event) => setQuery(event.currentTarget.value)}
              placeholder="Search by name or description"
              aria-label="Search series to add"
            />
            {combobox.dropdownOpened && <Hits query={query} names={names} />}
            <TreeButton onClick={openTree} />
          </div>
        </FocusTrap>
      </Combobox.Dropdown>
      <SeriesTree isOpen={isTreeOpen} onClose={() => setIsTreeOpen(false)} {...{ names, onToggle }} />
    </Combobox>
  );
}

const TreeButton = ({ onClick }: { onClick(): void }) => (
  <Combobox.Footer>
    <Button
      fullWidth
      size="xs"
      variant="subtle"
      leftSection={<Network size={15} aria-hidden />}
      onClick={onClick}
    >
      Choose in the tree of assets
    </Button>
  </Combobox.Footer>
);

function Hits({ query, names }: { query: string; names: readonly string[] }) {
  const { data, error, isFetching } = useSeriesHits(query);
  return (
    <Combobox.Options mah={340} style={{ overflowY: "auto" }} aria-label="Series">
      {error && <Combobox.Empty>{messageOf(error)}</Combobox.Empty>}
      {data?.map((series) => (
        <Hit key={series.id} series={series} isChosen={names.includes(series.name)} />
      ))}
      {data?.length === 0 && <Combobox.Empty>No series match</Combobox.Empty>}
      {!data && isFetching && (
        <Combobox.Empty>
          <Loader size="xs" aria-label="Searching" />
        </Combobox.Empty>
      )}
    </Combobox.Options>
  );
}

function Hit({ series: { name, description, unit }, isChosen }: { series: TimeSeries; isChosen: boolean }) {
  return (
    <Combobox.Option value={name} active={isChosen} aria-label={isChosen ? `${name}, in the trend` : name}>
      <Group gap="xs" wrap="nowrap" justify="space-between">
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={550} truncate>
            {name}
          </Text>
          <Text size="xs" c="var(--text-quiet)" truncate>
            {description}
          </Text>
        </div>
        <Group gap={6} wrap="nowrap">
          <Text size="xs" c="var(--text-quiet)">
            {unit}
          </Text>
          {isChosen && <CheckIcon size={11} />}
        </Group>
      </Group>
    </Combobox.Option>
  );
}

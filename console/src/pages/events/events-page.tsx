// Events over one filter, as a time line and as a table.
import { Button, Select } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarClock, FileUp, Plus, Search } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import type { Event } from "../../api/generated.ts";
import { countText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { DownloadCsv } from "../../ui/download-csv.tsx";
import { FilterText, FilterWord } from "../../ui/filter-inputs.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { useNow } from "../../ui/use-now.ts";
import { VirtualTable } from "../../ui/virtual-table.tsx";
import { eventColumns } from "./event-columns.tsx";
import { csvCells, csvHeader } from "./event-csv.ts";
import { EventForm } from "./event-form.tsx";
import { allEvents, type EventList, requestOf, useEventList } from "./event-list.ts";
import classes from "./events.module.css";
import { type EventRange, type EventsSearch, eventRanges, rangeOf, type TimeRange } from "./search.ts";
import { Timeline } from "./timeline.tsx";

const minuteMs = 60_000;
const rowHeight = 46;
/** The time line shows so many events; the table loads all that one scrolls to. */
const timelineMax = 2_000;
/** The assets of so many rows get names at once. */
const namesMax = 200;

export function EventsPage() {
  const search = useSearch({ from: "/frame/events" });
  const navigate = useNavigate({ from: "/events" });
  const project = useProject();
  const nowMs = useNow(minuteMs);
  const range = rangeOf(search, Math.floor(nowMs / minuteMs) * minuteMs);
  const list = useEventList(search);
  const read = (signal: AbortSignal) => allEvents(project, { ...search, ...range }, signal);
  const onRange = ({ startMs: start, endMs: end }: TimeRange) =>
    void navigate({ search: (now) => ({ ...now, last: undefined, start, end }), replace: true });
  return (
    <Page
      title="Events"
      fills
      note={list.isPending ? undefined : `${countText(list.rows.length)}${list.hasMore ? " and more" : ""}`}
      actions={
        <>
          <WriteActions />
          <DownloadCsv name="events" header={csvHeader} read={read} cells={csvCells} />
          <CopyAs request={requestOf(project, search, range)} />
        </>
      }
      toolbar={<EventFilter search={search} events={list.rows} />}
    >
      {list.isPending && <Loading what="the events" />}
      {list.error !== null && <Failure problem={list.error} onRetry={list.refetch} />}
      {!list.isPending && list.error === null && (
        <EventViews list={list} range={range} nowMs={nowMs} onRange={onRange} search={search} />
      )}
    </Page>
  );
}

/** Creates events; absent for a person who may only read. */
function WriteActions() {
  const [isCreating, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const client = useQueryClient();
  if (!mayDo(useSession(), "eventsAcl", "WRITE")) return null;
  const created = async ({ id }: Event) => {
    await client.invalidateQueries({ queryKey: ["events"] });
    await navigate({ to: "/events/$id", params: { id } });
  };
  return (
    <>
      <Button size="xs" leftSection={<Plus size={14} aria-hidden />} onClick={open}>
        New event
      </Button>
      <Button
        variant="default"
        size="xs"
        leftSection={<FileUp size={14} aria-hidden />}
        renderRoot={(props) => <Link {...props} to="/events/import" />}
      >
        Import
      </Button>
      {isCreating && <EventForm onSaved={(event) => void created(event)} onClose={close} />}
    </>
  );
}

interface EventViewsProps {
  readonly list: EventList;
  readonly range: TimeRange;
  readonly nowMs: number;
  readonly search: EventsSearch;
  onRange(range: TimeRange): void;
}

function EventViews({ list, range, nowMs, onRange, search }: EventViewsProps) {
  const navigate = useNavigate();
  const { rows, loadMore, isLoadingMore } = list;
  const [inView, setInView] = useState<readonly Event[]>([]);
  const assetName = useAssetNames(inView.slice(0, namesMax).flatMap(({ assetIds }) => assetIds));
  const columns = useMemo(() => eventColumns(assetName), [assetName]);
  const onOpen = ({ id }: Event) => void navigate({ to: "/events/$id", params: { id } });
  useEffect(() => {
    if (loadMore && !isLoadingMore && rows.length < timelineMax) loadMore();
  }, [loadMore, isLoadingMore, rows.length]);
  return (
    <div className={classes["content"]}>
      <Timeline {...{ range, nowMs, onRange, onOpen }} events={rows} />
      <VirtualTable
        label="Events"
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        rowHeight={rowHeight}
        onOpen={onOpen}
        onView={setInView}
        loadMore={loadMore}
        isLoadingMore={isLoadingMore}
        empty={<NoEvents search={search} />}
      />
    </div>
  );
}

const rangeLabels: Readonly<Record<EventRange, string>> = {
  "1d": "Last day",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "90d": "Last 90 days",
  "365d": "Last year",
  "3650d": "Last 10 years",
};
const fixedRange = "fixed";

function EventFilter({ search, events }: { search: EventsSearch; events: readonly Event[] }) {
  const navigate = useNavigate({ from: "/events" });
  const change = (part: Partial<EventsSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true });
  const known = (field: "type" | "subtype") =>
    [...new Set(events.flatMap((event) => event[field] ?? []))].sort();
  const isFixed = search.start !== undefined;
  const ranges = eventRanges.map((value) => ({ value: value as string, label: rangeLabels[value] }));
  return (
    <div className={classes["filters"]} role="search" aria-label="Filter of the events">
      <FilterText
        aria-label="Search events"
        placeholder="Search by description"
        leftSection={<Search size={15} aria-hidden />}
        value={search.text}
        onChange={(text) => change({ text })}
      />
      {(["type", "subtype"] as const).map((field) => (
        <FilterWord
          key={field}
          aria-label={field === "type" ? "Type" : "Subtype"}
          placeholder={field === "type" ? "Any type" : "Any subtype"}
          data={known(field)}
          value={search[field]}
          onChange={(value) => change({ [field]: value })}
        />
      ))}
      <AssetSelect
        aria-label="Assets"
        value={search.assets ?? []}
        onChange={(assets) => change({ assets: assets.length === 0 ? undefined : assets })}
      />
      <Select
        aria-label="Time range"
        allowDeselect={false}
        data={isFixed ? [{ value: fixedRange, label: "Chosen range" }, ...ranges] : ranges}
        value={isFixed ? fixedRange : (search.last ?? "30d")}
        onChange={(last) =>
          last !== fixedRange && change({ last: last as EventRange, start: undefined, end: undefined })
        }
      />
    </div>
  );
}

function NoEvents({ search }: { search: EventsSearch }) {
  const { text, type, subtype, assets } = search;
  if ([text, type, subtype, assets].some((part) => part !== undefined))
    return <Empty title="No events match">Choose a longer time range, or remove some of the filters.</Empty>;
  return (
    <Empty title="No events in this time range" icon={<CalendarClock size={28} aria-hidden />}>
      Choose a longer range, create an event, or import events from a CSV file.
    </Empty>
  );
}

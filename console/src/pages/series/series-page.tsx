// All series of the project in a table with filters, latest values and the last day.
import { Button, Select } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ChartLine, FileUp, Search } from "lucide-react";
import { useMemo, useState } from "react";
import type { TimeSeries } from "../../api/generated.ts";
import { countText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { DownloadCsv } from "../../ui/download-csv.tsx";
import { FilterText } from "../../ui/filter-inputs.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { SelectionBar, useSeriesSelection } from "../../ui/series-selection.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useNow } from "../../ui/use-now.ts";
import { VirtualTable } from "../../ui/virtual-table.tsx";
import { NewSeriesButton } from "./new-series.tsx";
import { type SeriesSearch, seriesKinds } from "./search.ts";
import classes from "./series.module.css";
import { seriesColumns } from "./series-columns.tsx";
import { allSeries, kindOf, requestOf, useSeriesList } from "./series-list.ts";
import { useCountsInView, useValuesInView } from "./values-in-view.ts";

const rowHeight = 46;

export function SeriesPage() {
  const search = useSearch({ from: "/frame/series" });
  const project = useProject();
  const list = useSeriesList(search);
  const pages = list.data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ items }) => items) ?? [], [pages]);
  const more = list.hasNextPage || pages?.at(-1)?.isCut === true;
  const read = (signal: AbortSignal) => allSeries(project, search, signal);
  return (
    <Page
      title="Series"
      fills
      note={list.isSuccess ? `${countText(rows.length)}${more ? " and more" : ""}` : undefined}
      actions={
        <>
          <NewSeriesButton />
          <ImportButton />
          <DownloadCsv name="series" header={csvHeader} read={read} cells={csvCells} />
          <CopyAs request={requestOf(project, search)} />
        </>
      }
      toolbar={<SeriesFilter search={search} />}
    >
      {list.isPending && <Loading what="the series" />}
      {list.isError && <Failure problem={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && (
        <SeriesTable
          rows={rows}
          loadMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
          isLoadingMore={list.isFetchingNextPage}
          search={search}
        />
      )}
    </Page>
  );
}

/** For those who may write points. */
function ImportButton() {
  if (!mayDo(useSession(), "timeSeriesAcl", "WRITE")) return null;
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<FileUp size={14} aria-hidden />}
      renderRoot={(props) => <Link {...props} to="/series/import" />}
    >
      Import CSV
    </Button>
  );
}

const csvHeader = ["id", "name", "description", "unit", "kind", "assetId", "externalId"];
const csvCells = (series: TimeSeries) => {
  const { id, name, description = "", unit = "", assetId = "", externalId = "" } = series;
  return [String(id), name, description, unit, kindOf(series), String(assetId), externalId];
};

interface SeriesTableProps {
  readonly rows: readonly TimeSeries[];
  readonly loadMore: (() => void) | undefined;
  readonly isLoadingMore: boolean;
  readonly search: SeriesSearch;
}

function SeriesTable({ rows, loadMore, isLoadingMore, search }: SeriesTableProps) {
  const navigate = useNavigate();
  const [inView, setInView] = useState<readonly TimeSeries[]>([]);
  const selection = useSeriesSelection();
  const values = useValuesInView(inView);
  const counts = useCountsInView(inView);
  const nowMs = useNow(1_000);
  return (
    <>
      <VirtualTable
        label="Series"
        columns={seriesColumns(values, counts, nowMs, selection)}
        rows={rows}
        rowKey={({ id }) => id}
        rowHeight={rowHeight}
        onOpen={({ id }) => void navigate({ to: "/series/$id", params: { id } })}
        onView={setInView}
        loadMore={loadMore}
        isLoadingMore={isLoadingMore}
        empty={<NoSeries search={search} />}
      />
      <SelectionBar selection={selection} place="table" />
    </>
  );
}

function SeriesFilter({ search }: { search: SeriesSearch }) {
  const navigate = useNavigate({ from: "/series" });
  const change = (part: Partial<SeriesSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true });
  return (
    <div className={classes["filters"]} role="search" aria-label="Filter of the series">
      <FilterText
        aria-label="Search series"
        placeholder="Search by name or description"
        leftSection={<Search size={15} aria-hidden />}
        value={search.query}
        onChange={(query) => change({ query })}
      />
      <FilterText
        aria-label="Unit"
        placeholder="Unit"
        value={search.unit}
        onChange={(unit) => change({ unit })}
      />
      <Select
        aria-label="Kind"
        placeholder="Any kind"
        clearable
        data={seriesKinds}
        value={search.kind ?? null}
        onChange={(kind) => change({ kind: kind ?? undefined })}
      />
      <AssetSelect
        aria-label="Assets"
        value={search.assets ?? []}
        onChange={(assets) => change({ assets: assets.length === 0 ? undefined : assets })}
      />
    </div>
  );
}

function NoSeries({ search }: { search: SeriesSearch }) {
  if (Object.keys(search).length > 0)
    return (
      <Empty title="No series match">Search for another part of a name, or remove some of the filters.</Empty>
    );
  return (
    <Empty title="There are no series yet" icon={<ChartLine size={28} aria-hidden />}>
      “New series” creates one, and “Import CSV” those of a file. Programs create theirs themselves:{" "}
      <TextLink to="/connect" search={{ tool: "csv" }} underline="always">
        Connect
      </TextLink>{" "}
      shows how.
    </Empty>
  );
}

// A small chart of one series: its average with the band from minimum to maximum, and statistics.
import { Card, Group, SegmentedControl, Text, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type AggregateDatapoint, getTimeseriesByIdData, type TimeSeries } from "../../api/generated.ts";
import { countText, numberText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { ChartPicture } from "./chart-picture.tsx";
import { type ChartRange, chartRanges } from "./search.ts";
import classes from "./series-record.module.css";
import { TextPoints } from "./text-points.tsx";

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Each range has about 250 to 400 buckets. */
const ranges: Readonly<
  Record<ChartRange, { label: string; ms: number; granularity: string; bucketMs: number }>
> = {
  "1h": { label: "1 h", ms: 60 * minuteMs, granularity: "10s", bucketMs: 10_000 },
  "1d": { label: "1 d", ms: dayMs, granularity: "5m", bucketMs: 5 * minuteMs },
  "7d": { label: "7 d", ms: 7 * dayMs, granularity: "30m", bucketMs: 30 * minuteMs },
  "30d": { label: "30 d", ms: 30 * dayMs, granularity: "2h", bucketMs: 120 * minuteMs },
  "365d": { label: "1 y", ms: 365 * dayMs, granularity: "1d", bucketMs: dayMs },
};
const refreshMs = 15_000;

export function SeriesChart({ series }: { series: TimeSeries }) {
  const { range = "1d" } = useSearch({ from: "/frame/series/$id" });
  const navigate = useNavigate({ from: "/series/$id" });
  return (
    <Card>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5">
          {series.isString ? "Points" : "Values"}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="Time range"
          data={chartRanges.map((value) => ({ value, label: ranges[value].label }))}
          value={range}
          onChange={(value) => void navigate({ search: { range: value as ChartRange }, replace: true })}
        />
      </Group>
      {series.isString ? (
        <TextPoints series={series} lengthMs={ranges[range].ms} />
      ) : (
        <NumberChart series={series} range={range} />
      )}
    </Card>
  );
}

function NumberChart({ series, range }: { series: TimeSeries; range: ChartRange }) {
  const project = useProject();
  const { ms, granularity, bucketMs } = ranges[range];
  const { data, error, refetch } = useQuery({
    queryKey: ["series values", project, "chart of", series.id, range],
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) => {
      const endMs = Math.ceil(Date.now() / bucketMs) * bucketMs;
      const window = { startMs: endMs - ms, endMs };
      const times = { start: String(window.startMs), end: String(endMs) };
      const query = { ...times, aggregates: "average,min,max,count", granularity, limit: 1_000 };
      const { data } = await getTimeseriesByIdData(project, series.id, query, { signal });
      const buckets = (data.items[0]?.datapoints ?? []) as readonly AggregateDatapoint[];
      return { ...window, bucketMs, buckets };
    },
  });
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the values" />;
  const filled = data.buckets.filter(({ count = 0 }) => count > 0);
  if (filled.length === 0) return <Text c="var(--text-quiet)">There are no points in this time.</Text>;
  return (
    <>
      <ChartPicture {...data} isStep={series.isStep} label={`${series.name}, ${ranges[range].label}`} />
      <Statistics buckets={filled} unit={series.unit} />
    </>
  );
}

interface StatisticsProps {
  readonly buckets: readonly AggregateDatapoint[];
  readonly unit: string | undefined;
}

function Statistics({ buckets, unit }: StatisticsProps) {
  const counts = buckets.map(({ count = 0 }) => count);
  const averages = buckets.flatMap(({ average }) => average ?? []);
  const mean = averages.reduce((sum, average) => sum + average, 0) / averages.length;
  const withUnit = (value: number) => `${numberText(value)}${unit === undefined ? "" : ` ${unit}`}`;
  const entries = [
    ["Minimum", withUnit(Math.min(...buckets.flatMap(({ min }) => min ?? [])))],
    ["Mean", withUnit(mean)],
    ["Maximum", withUnit(Math.max(...buckets.flatMap(({ max }) => max ?? [])))],
    ["Points", countText(counts.reduce((sum, count) => sum + count, 0))],
  ];
  return (
    <dl className={classes["statistics"]} aria-label="Statistics">
      {entries.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

// The series of an asset with their latest values and their last day.
import { Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getTimeseries, type TimeSeries } from "../../api/generated.ts";
import { ageText, valueText } from "../../lib/format.ts";
import { linkToTrend } from "../../lib/trend-link.ts";
import { useProject } from "../../session/session.ts";
import {
  SelectBox,
  SelectionBar,
  type SeriesSelection,
  useSeriesSelection,
} from "../../ui/series-selection.tsx";
import { Sparkline } from "../../ui/sparkline.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useNow } from "../../ui/use-now.ts";
import { useValuesInView, type ValuesInView } from "../series/values-in-view.ts";
import classes from "./assets.module.css";
import { RecordSection, recordsOf } from "./section.tsx";

const pageSize = 25;
/** A trend of more lines cannot be read. */
const trendSeriesMax = 12;

export interface LinkedTo {
  readonly assetId: number;
  /** Whether the records of the assets below count too. */
  readonly isBelow: boolean;
}

/** The filter of a list for the records of an asset. */
export const linkedTo = ({ assetId, isBelow }: LinkedTo) =>
  isBelow ? { path: JSON.stringify([assetId]) } : { assetId };

export function AssetSeries(linked: LinkedTo) {
  const project = useProject();
  const series = useInfiniteQuery({
    queryKey: ["timeseries", project, "of asset", linked],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) =>
      (await getTimeseries(project, { ...linkedTo(linked), limit: pageSize, cursor: pageParam }, { signal }))
        .data,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const rows = recordsOf(series);
  const values = useValuesInView(rows);
  const nowMs = useNow(1_000);
  const selection = useSeriesSelection();
  const names = rows.filter(({ isString }) => !isString).map(({ name }) => name);
  return (
    <>
      <RecordSection
        title="Series"
        records={series}
        empty="No series is linked to this asset."
        actions={
          <TextLink {...linkToTrend(names.slice(0, trendSeriesMax))}>
            {names.length > trendSeriesMax ? `First ${trendSeriesMax} in the trend` : "All in the trend"}
          </TextLink>
        }
      >
        {(items) => (
          <ul className={classes["list"]}>
            {items.map((one) => (
              <SeriesItem key={one.id} series={one} {...{ values, nowMs, selection }} />
            ))}
          </ul>
        )}
      </RecordSection>
      <SelectionBar selection={selection} place="list" />
    </>
  );
}

interface SeriesItemProps {
  readonly series: TimeSeries;
  readonly values: ValuesInView;
  readonly nowMs: number;
  readonly selection: SeriesSelection;
}

function SeriesItem({ series, values, nowMs, selection }: SeriesItemProps) {
  const { id, name, description, unit, isStep } = series;
  const latest = values.latest.get(id);
  const day = values.day.get(id);
  return (
    <li>
      <SelectBox {...{ name, selection }} />
      <div className={classes["grow"]}>
        <TextLink {...linkToTrend([name])} title="Open in the trend">
          {name}
        </TextLink>
        {description !== undefined && <small title={description}>{description}</small>}
      </div>
      {day !== undefined && day.points.length > 0 && (
        <span className={classes["spark"]}>
          <Sparkline
            {...{ points: day.points, startMs: day.startMs, endMs: day.endMs, isStep }}
            gapMs={2 * day.bucketMs}
            label={`${name} over the last day`}
          />
        </span>
      )}
      <div className={classes["value"]}>
        {latest === null && (
          <Text size="sm" c="var(--text-quiet)">
            no points
          </Text>
        )}
        {latest && (
          <>
            {valueText(latest.value)} {unit}
            <small>{ageText(latest.timestamp, nowMs)}</small>
          </>
        )}
      </div>
    </li>
  );
}

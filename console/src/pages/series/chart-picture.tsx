// The picture of a chart as SVG: axes, the band of minimum and maximum, and the line of the average.
import { useElementSize } from "@mantine/hooks";
import type { AggregateDatapoint } from "../../api/generated.ts";
import { numberText } from "../../lib/format.ts";
import { timeTicks, valueTicks } from "../../lib/ticks.ts";
import classes from "./series-record.module.css";

interface ChartPictureProps {
  readonly buckets: readonly AggregateDatapoint[];
  readonly startMs: number;
  readonly endMs: number;
  readonly bucketMs: number;
  readonly isStep: boolean;
  readonly label: string;
}

const height = 260;
const margin = { left: 52, right: 8, top: 8, bottom: 24 };
const ticksPerWidth = 110;
/** At least that of digits in the font of the ticks. */
const tickCharacterWidth = 7;

export function ChartPicture({ buckets, startMs, endMs, bucketMs, isStep, label }: ChartPictureProps) {
  const { ref, width } = useElementSize();
  const [low, high] = boundsOf(buckets);
  const x = (timeMs: number) =>
    margin.left + ((timeMs - startMs) / (endMs - startMs)) * Math.max(0, width - margin.left - margin.right);
  const y = (value: number) =>
    height - margin.bottom - ((value - low) / (high - low)) * (height - margin.top - margin.bottom);
  const runs = runsOf(buckets, bucketMs);
  const times = timeTicks({ startMs, endMs }, Math.max(2, Math.floor(width / ticksPerWidth)));
  const inside = (left: number, { length }: string) =>
    Math.min(left, width - (length * tickCharacterWidth) / 2);
  return (
    <div ref={ref}>
      <svg
        className={classes["chart"]}
        viewBox={`0 0 ${Math.max(1, width)} ${height}`}
        role="img"
        aria-label={label}
      >
        {valueTicks(low, high).map((value) => (
          <g key={value}>
            <line
              className={classes["grid"]}
              x1={margin.left}
              x2={width - margin.right}
              y1={y(value)}
              y2={y(value)}
            />
            <text className={classes["tick"]} x={margin.left - 8} y={y(value) + 4} textAnchor="end">
              {numberText(value)}
            </text>
          </g>
        ))}
        {times.map(({ timeMs, text }) => (
          <text
            key={timeMs}
            className={classes["tick"]}
            x={inside(x(timeMs), text)}
            y={height - 6}
            textAnchor="middle"
          >
            {text}
          </text>
        ))}
        {runs.map((run) => (
          <g key={run[0]!.timestamp}>
            <path className={classes["band"]} d={bandPath(run, x, y)} />
            <path className={classes["line"]} d={linePath(run, { x, y, isStep })} />
          </g>
        ))}
      </svg>
    </div>
  );
}

type Scale = (value: number) => number;
type Bucket = AggregateDatapoint & { readonly average: number };

/** Parts without a gap: a missing bucket ends a part. */
function runsOf(buckets: readonly AggregateDatapoint[], bucketMs: number): Bucket[][] {
  const runs: Bucket[][] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const bucket of buckets) {
    if (bucket.average === undefined || !bucket.count) continue;
    if (bucket.timestamp - lastMs > 2 * bucketMs) runs.push([]);
    runs.at(-1)!.push({ ...bucket, average: bucket.average });
    lastMs = bucket.timestamp;
  }
  return runs;
}

/** A little more than the values, so that no line is on the edge. */
function boundsOf(buckets: readonly AggregateDatapoint[]): [number, number] {
  const low = Math.min(...buckets.flatMap(({ min }) => min ?? []));
  const high = Math.max(...buckets.flatMap(({ max }) => max ?? []));
  const space = high > low ? (high - low) * 0.06 : Math.max(1, Math.abs(high) * 0.1);
  return [low - space, high + space];
}

const coordinate = (value: number) => value.toFixed(1);

function bandPath(run: readonly Bucket[], x: Scale, y: Scale): string {
  const upper = run.map(({ timestamp, max, average }) => [x(timestamp), y(max ?? average)] as const);
  const lower = run.map(({ timestamp, min, average }) => [x(timestamp), y(min ?? average)] as const);
  const points = [...upper, ...lower.reverse()];
  return `M${points.map(([left, top]) => `${coordinate(left)} ${coordinate(top)}`).join("L")}Z`;
}

function linePath(run: readonly Bucket[], { x, y, isStep }: { x: Scale; y: Scale; isStep: boolean }): string {
  return run
    .map(({ timestamp, average }, i) => {
      const [left, top] = [coordinate(x(timestamp)), coordinate(y(average))];
      if (i === 0) return `M${left} ${top}h.1`;
      return isStep ? `H${left}V${top}` : `L${left} ${top}`;
    })
    .join("");
}

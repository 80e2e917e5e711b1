// The picture of a time line as SVG: lanes, events, times and the present time.
import { useMemo } from "react";
import type { Event } from "../../api/generated.ts";
import { eventColorStyle } from "../../lib/event-color.ts";
import { durationText, timeText } from "../../lib/format.ts";
import { timeTicks } from "../../lib/ticks.ts";
import { pageScale } from "../../ui/page-scale.ts";
import type { TimeRange } from "./search.ts";
import classes from "./timeline.module.css";
import { type Lane, lanesOf, type PlacedEvent, typeOf } from "./timeline-layout.ts";

interface TimelinePictureProps {
  readonly events: readonly Event[];
  readonly range: TimeRange;
  readonly nowMs: number;
  readonly width: number;
  onOpen(event: Event): void;
}

const rowHeight = 12 * pageScale;
const barHeight = 9 * pageScale;
const lanePadding = 6 * pageScale;
const axisHeight = 24 * pageScale;
/** A time line without events still shows its times. */
const heightMin = 60;
const tickWidth = 110 * pageScale;
const barWidthMin = 3;

/** The space for the names of the lanes; on narrow windows the names are inside of the lanes. */
export const labelWidth = (width: number): number => (width < 560 ? 0 : 130 * pageScale);

export function TimelinePicture({ events, range, nowMs, width, onOpen }: TimelinePictureProps) {
  const lanes = useMemo(() => lanesOf(events, range, nowMs), [events, range, nowMs]);
  const labels = labelWidth(width);
  const x = (timeMs: number) =>
    labels + ((timeMs - range.startMs) / (range.endMs - range.startMs)) * Math.max(1, width - labels);
  const isNarrow = labels === 0;
  const heights = lanes.map(({ rows }) => rows * rowHeight + 2 * lanePadding + (isNarrow ? 14 : 0));
  const tops = heights.map(
    (_, i) => axisHeight + heights.slice(0, i).reduce((sum, height) => sum + height, 0),
  );
  const height = Math.max(heightMin, axisHeight + heights.reduce((sum, one) => sum + one, 0));
  const ticks = timeTicks(range, Math.max(2, Math.floor((width - labels) / tickWidth)));
  const [from, to] = [timeText(range.startMs), timeText(range.endMs)];
  const label = `${events.length} events from ${from} to ${to}; the table has them too`;
  return (
    <svg className={classes["picture"]} width={width} height={height} role="img" aria-label={label}>
      {ticks.map(({ timeMs, text }) => (
        <g key={timeMs}>
          <line className={classes["tick"]} x1={x(timeMs)} x2={x(timeMs)} y1={axisHeight - 5} y2={height} />
          <text className={classes["time"]} x={x(timeMs)} y={14 * pageScale} textAnchor="middle">
            {text}
          </text>
        </g>
      ))}
      {lanes.map((lane, i) => (
        <LanePicture
          key={lane.type}
          {...{ lane, x, isNarrow, onOpen, width, range }}
          top={tops[i]!}
          height={heights[i]!}
        />
      ))}
      {nowMs > range.startMs && nowMs < range.endMs && (
        <line className={classes["now"]} x1={x(nowMs)} x2={x(nowMs)} y1={axisHeight - 5} y2={height} />
      )}
      {labels > 0 && <rect className={classes["cover"]} width={labels - 6} height={axisHeight - 4} />}
    </svg>
  );
}

interface LanePictureProps {
  readonly lane: Lane;
  readonly top: number;
  readonly height: number;
  readonly width: number;
  readonly range: TimeRange;
  readonly isNarrow: boolean;
  x(timeMs: number): number;
  onOpen(event: Event): void;
}

function LanePicture({ lane, top, height, width, range, isNarrow, x, onOpen }: LanePictureProps) {
  const first = top + lanePadding + (isNarrow ? 14 : 0);
  return (
    <g>
      <line className={classes["edge"]} x1={0} x2={width} y1={top} y2={top} />
      {lane.events
        .filter(({ startMs, endMs }) => startMs <= range.endMs && endMs >= range.startMs)
        .map((placed) => (
          <Bar key={placed.event.id} {...{ placed, x, width, onOpen }} y={first + placed.row * rowHeight} />
        ))}
      {!isNarrow && (
        <rect className={classes["cover"]} y={top + 1} width={labelWidth(width) - 6} height={height - 1} />
      )}
      <text className={classes["lane"]} x={isNarrow ? 4 : 12} y={isNarrow ? top + 14 : top + height / 2 + 4}>
        {lane.type.length > 18 ? `${lane.type.slice(0, 17)}…` : lane.type}
      </text>
    </g>
  );
}

interface BarProps {
  readonly placed: PlacedEvent;
  readonly y: number;
  readonly width: number;
  x(timeMs: number): number;
  onOpen(event: Event): void;
}

/** The table has the same events for people who use the keyboard. */
function Bar({ placed: { event, startMs, endMs, isOpen }, y, width, x, onOpen }: BarProps) {
  const left = Math.max(x(startMs), -10);
  const right = Math.min(Math.max(x(endMs), left + barWidthMin), width + 10);
  const times = `${timeText(startMs)}, ${isOpen ? "no end" : durationText(endMs - startMs)}`;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the rows of the table are the accessible way.
    <rect
      className={classes["bar"]}
      style={{ fill: eventColorStyle(typeOf(event)) }}
      data-open={isOpen}
      x={left}
      y={y}
      width={right - left}
      height={barHeight}
      rx={2}
      onClick={() => onOpen(event)}
    >
      <title>{[event.description ?? event.type, event.subtype, times].filter(Boolean).join("\n")}</title>
    </rect>
  );
}

// The columns of the table of events, and the parts of an event as text.
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Event } from "../../api/generated.ts";
import { eventColorStyle } from "../../lib/event-color.ts";
import { durationText, timeText } from "../../lib/format.ts";
import type { TableColumn } from "../../ui/virtual-table.tsx";
import classes from "./events.module.css";
import timelineClasses from "./timeline.module.css";
import { typeOf } from "./timeline-layout.ts";

export const eventColumns = (assetName: (id: number) => string): readonly TableColumn<Event>[] => [
  {
    ...{ key: "start", label: "Start", width: "160px", isOptional: true },
    cell: startOf,
  },
  { key: "event", label: "Event", width: "minmax(120px, 3fr)", cell: (event) => <EventCell event={event} /> },
  { ...{ key: "duration", label: "Duration", width: "100px", isOptional: true }, cell: durationOf },
  {
    ...{ key: "assets", label: "Assets", width: "minmax(100px, 1fr)", isOptional: true },
    cell: ({ assetIds }) => assetIds.map(assetName).join(", "),
  },
];

function EventCell({ event }: { event: Event }) {
  const { id, description, subtype } = event;
  const type = typeOf(event);
  return (
    <div className={classes["event"]}>
      <span>
        <i className={timelineClasses["dot"]} style={{ background: eventColorStyle(type) }} />
        <Text span inherit c="var(--text-quiet)" fz="xs">
          {subtype === undefined ? type : `${type} · ${subtype}`}
        </Text>
        <Text span inherit c="var(--text-quiet)" fz="xs" className={classes["startInside"]}>
          {startOf(event)}
        </Text>
      </span>
      <Link to="/events/$id" params={{ id }} title={description}>
        {description ?? type}
      </Link>
    </div>
  );
}

const startOf = ({ startTime }: Event): string => (startTime === undefined ? "" : timeText(startTime));

/** How long an event took; an event without an end is open. */
export function durationOf({ startTime, endTime }: Event): string {
  if (startTime === undefined) return "";
  return endTime === undefined ? "open" : durationText(endTime - startTime);
}

/** An event in a few words. */
export const titleOf = ({ description, type }: Event): string => description ?? type ?? "Event";

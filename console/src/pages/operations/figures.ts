// The figures that the page shows: how each is read from a reading, written, and when it needs attention.
import { bytesText, countText, numberText } from "../../lib/format.ts";
import type { Reading } from "./snapshot.ts";

export interface Figure {
  readonly label: string;
  /** Undefined when there is none at this time. */
  value(reading: Reading): number | undefined;
  text(value: number): string;
  /** Shown in place of an absent value. */
  readonly withoutValue?: string;
  note(reading: Reading): string;
  /** The problem and its remedy; undefined without a problem. */
  warning?(reading: Reading): string | undefined;
}

const rounded = (value: number): string => numberText(value, 3);
const perSecond = (value: number): string => `${rounded(value)}/s`;
const busyLagSeconds = 0.5;

const rateFigures: readonly Figure[] = [
  {
    label: "Requests",
    value: ({ rates }) => rates?.requests,
    text: perSecond,
    note: ({ snapshot }) => `${countText(snapshot.requests)} since the start`,
  },
  {
    label: "Latency, 95 of 100 requests",
    value: ({ rates }) => rates?.latencySeconds,
    text: (seconds) => (Number.isFinite(seconds) ? `within ${rounded(seconds * 1_000)} ms` : "over 2 min"),
    withoutValue: "no requests",
    note: () => "in the last two seconds",
  },
  {
    label: "Server errors",
    value: ({ rates }) => rates?.serverErrors,
    text: perSecond,
    note: ({ snapshot }) => `${countText(snapshot.serverErrors)} since the start`,
    warning: ({ rates }) =>
      rates && rates.serverErrors > 0 ? "The log of the server has the reason for each." : undefined,
  },
  {
    label: "Points written",
    value: ({ rates }) => rates?.points,
    text: perSecond,
    note: ({ snapshot }) => `${countText(snapshot.pointsStored)} stored`,
  },
  {
    label: "Processor",
    value: ({ rates }) => rates?.processor,
    text: (cores) => `${Math.round(cores * 100)} %`,
    note: () => "100 % is one core",
  },
];

const stateFigures: readonly Figure[] = [
  {
    label: "Memory",
    value: ({ snapshot }) => snapshot.memoryBytes,
    text: bytesText,
    note: () => "of the process",
  },
  {
    label: "Memory free for responses",
    value: ({ snapshot }) => snapshot.responseMemoryFreeBytes,
    text: bytesText,
    note: () => "large responses wait without it",
    warning: ({ snapshot }) =>
      snapshot.responseMemoryFreeBytes <= 0
        ? "Clients read large pages slowly. Let them request smaller pages."
        : undefined,
  },
  {
    label: "Delay of the event loop",
    value: ({ snapshot }) => snapshot.eventLoopLagSeconds,
    text: (seconds) => `${rounded(seconds * 1_000)} ms`,
    note: () => "99 of 100 requests wait less",
    warning: ({ snapshot }) =>
      snapshot.eventLoopLagSeconds > busyLagSeconds
        ? "The server is busy. Give it more processor time, or send less."
        : undefined,
  },
  {
    label: "Store",
    value: ({ snapshot }) => snapshot.storeBytes,
    text: bytesText,
    note: () => "datapoints on disk",
  },
  {
    label: "Journal",
    value: ({ snapshot }) => snapshot.journalBytes,
    text: bytesText,
    note: () => "on disk, not yet in blocks",
  },
  {
    label: "Quarantined pieces",
    value: ({ snapshot }) => snapshot.quarantined,
    text: countText,
    note: () => "damaged parts of the store",
    warning: ({ snapshot }) =>
      snapshot.quarantined > 0 ? "Stop the server and run “millrace doctor”." : undefined,
  },
  {
    label: "Running jobs",
    value: ({ snapshot }) => snapshot.computationsRunning,
    text: countText,
    note: ({ snapshot }) => `${countText(snapshot.computationsWaiting)} long computations wait`,
  },
];

export const figures: readonly Figure[] = [...rateFigures, ...stateFigures];

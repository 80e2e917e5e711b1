// The state of the server at one time, read from its metrics, and the rates between two times.
import type { Sample } from "../../lib/prometheus.ts";

export interface Snapshot {
  readonly timeMs: number;
  readonly version: string;
  readonly requests: number;
  readonly serverErrors: number;
  /** The number of requests up to each duration in seconds. */
  readonly durations: ReadonlyMap<number, number>;
  readonly pointsWritten: number;
  readonly pointsStored: number;
  readonly storeBytes: number;
  readonly journalBytes: number;
  readonly quarantined: number;
  readonly memoryBytes: number;
  readonly processorSeconds: number;
  readonly eventLoopLagSeconds: number;
  readonly responseMemoryFreeBytes: number;
  readonly computationsRunning: number;
  readonly computationsWaiting: number;
  readonly startTimeMs: number;
}

const requestMetric = "millrace_http_request_seconds";
/** The requests of this page itself would hide a server without other requests. */
const ownRoutes: ReadonlySet<string | undefined> = new Set(["/metrics", "/health"]);

export function snapshotOf(samples: readonly Sample[], timeMs: number): Snapshot {
  const value = (name: string): number => samples.find((one) => one.name === name)?.value ?? 0;
  const counts = samples.filter(
    ({ name, labels }) => name === `${requestMetric}_count` && !ownRoutes.has(labels["route"]),
  );
  return {
    timeMs,
    version: samples.find(({ name }) => name === "millrace_build_info")?.labels["version"] ?? "",
    requests: sumOf(counts),
    serverErrors: sumOf(counts.filter(({ labels }) => isServerError(labels["status"]!))),
    durations: durationsIn(samples),
    pointsWritten: value("millrace_points_written_total"),
    pointsStored: value("millrace_points_stored"),
    storeBytes: value("millrace_points_bytes"),
    journalBytes: value("millrace_points_journal_bytes"),
    quarantined: value("millrace_points_quarantined"),
    memoryBytes: value("process_resident_memory_bytes"),
    processorSeconds: value("process_cpu_seconds_total"),
    eventLoopLagSeconds: value("nodejs_eventloop_lag_p99_seconds"),
    responseMemoryFreeBytes: value("millrace_response_memory_free_bytes"),
    computationsRunning: value("millrace_computations_running"),
    computationsWaiting: value("millrace_computations_waiting"),
    startTimeMs: value("process_start_time_seconds") * 1_000,
  };
}

/** 501 is for a part of OData that the tool computes: Power Query sends such requests to learn that. */
const isServerError = (status: string): boolean => status.startsWith("5") && status !== "501";

const sumOf = (samples: readonly Sample[]): number => samples.reduce((sum, { value }) => sum + value, 0);

function durationsIn(samples: readonly Sample[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { name, labels, value } of samples) {
    if (name !== `${requestMetric}_bucket` || ownRoutes.has(labels["route"])) continue;
    const upTo = labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels["le"]);
    counts.set(upTo, (counts.get(upTo) ?? 0) + value);
  }
  return counts;
}

/** Values per second between two snapshots. */
interface Rates {
  readonly requests: number;
  readonly serverErrors: number;
  readonly points: number;
  /** Processor time, 1 for one core. */
  readonly processor: number;
  /** The time that 95 of 100 requests did not exceed; undefined without requests. */
  readonly latencySeconds: number | undefined;
}

export interface Reading {
  readonly timeMs: number;
  readonly snapshot: Snapshot;
  /** Since the reading before; undefined for the first one. */
  readonly rates: Rates | undefined;
}

/** Undefined when the server started again in between, because its counters did too. */
export function ratesBetween(from: Snapshot, to: Snapshot): Rates | undefined {
  const seconds = (to.timeMs - from.timeMs) / 1_000;
  if (seconds <= 0 || to.requests < from.requests || to.startTimeMs !== from.startTimeMs) return undefined;
  return {
    requests: (to.requests - from.requests) / seconds,
    serverErrors: (to.serverErrors - from.serverErrors) / seconds,
    points: (to.pointsWritten - from.pointsWritten) / seconds,
    processor: (to.processorSeconds - from.processorSeconds) / seconds,
    latencySeconds: latencyBetween(from, to),
  };
}

const latencyShare = 0.95;

/** The smallest bound of the histogram that 95 of 100 requests are within. */
function latencyBetween(from: Snapshot, to: Snapshot): number | undefined {
  const count = to.requests - from.requests;
  if (count === 0) return undefined;
  const bounds = [...to.durations].sort(([a], [b]) => a - b);
  const found = bounds.find(
    ([upTo, requests]) => requests - (from.durations.get(upTo) ?? 0) >= latencyShare * count,
  );
  return found?.[0];
}

// The metrics of requests, points, stores and the process, in the text format of Prometheus.
import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, type Histogram, Registry } from "prom-client";
import type { ComputingLoad } from "../compute/computing.ts";
import type { TurnCounts } from "../lib/fair-turns.ts";
import { version } from "../lib/version.ts";
import { countedPoints } from "../storage/counted-points.ts";
import type { DiskSpace } from "../storage/disk-space.ts";
import type { PointsStats, PointsStore } from "../storage/points.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import { type Durations, RequestDurations } from "./request-durations.ts";
import { brokenOffStatus } from "./request-lifetime.ts";

/** What one thread has counted. */
export interface ThreadCounts {
  readonly durations: readonly Durations[];
  readonly plans: PlanCounts;
  readonly turns: TurnCounts;
}

/** Inserts that used a cached write plan, and plans made. */
export interface PlanCounts {
  readonly used: number;
  readonly made: number;
}

export interface Metrics {
  readonly registry: Registry;
  readonly durations: RequestDurations;
  /** Shows the counts of other threads together with those of this one. */
  showOthers(others: readonly ThreadCounts[]): void;
  /** The last ones of `showOthers`. */
  readonly others: readonly ThreadCounts[];
  /** Returns the store with a counter of its writes. */
  counted(points: PointsStore): PointsStore;
  /** Adds a gauge of the free memory for responses. */
  showResponses(budget: MemoryBudget): void;
  /** The current values of all metrics. */
  text(stores: StoresNow): Promise<string>;
}

const healthStatuses = ["ok", "degraded", "failing"] as const;
/** The status of `/health`. */
export type HealthStatus = (typeof healthStatuses)[number];

/** The stores at the time of a scrape. */
interface StoresNow {
  readonly status: HealthStatus;
  /** Undefined while the datapoint store does not respond. */
  readonly stats: PointsStats | undefined;
  readonly disk: Pick<DiskSpace, "freeBytes" | "isFull">;
}

/** Each server has its own registry, so that several can run in one process; a front thread has one, too. */
export function createMetrics({ ofProcess = true } = {}): Metrics {
  const registry = new Registry();
  if (ofProcess) collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "millrace_build_info",
    help: "Always 1; the label is the running version",
    labelNames: ["version"],
    registers: [registry],
  }).set({ version }, 1);
  const written = new Counter({
    name: "millrace_points_written_total",
    help: "Datapoints accepted and on disk",
    registers: [registry],
  });
  const showStores = storeGauges(registry);
  const durations = new RequestDurations();
  registry.registerMetric(durations as unknown as Histogram);
  let others: readonly ThreadCounts[] = [];
  return {
    registry,
    durations,
    get others() {
      return others;
    },
    showOthers(all) {
      others = all;
      durations.showOthers(all.flatMap((one) => one.durations));
    },
    counted: (points) => countedPoints(points, { written: (count) => written.inc(count) }),
    showResponses: (budget) => {
      new Gauge({
        name: "millrace_response_memory_free_bytes",
        help: "Free memory for large responses; further responses wait when there is none",
        registers: [registry],
        collect() {
          this.set(budget.free);
        },
      });
    },
    text(stores) {
      showStores(stores);
      return registry.metrics();
    },
  };
}

/**
 * Measures every request until its response was sent or broken off, labelled with the pattern of its route
 * and never with its path. A request without a route, such as one with a method that its path does not serve,
 * is labelled "none". Call it when the request begins. A listener costs less than Fastify's hook for sent
 * responses, and also runs for those that were broken off.
 */
export function measureRequest(
  durations: RequestDurations,
  request: FastifyRequest,
  { raw }: FastifyReply,
  isCounted: () => boolean,
): void {
  const startMs = performance.now();
  raw.on("close", () => {
    if (!isCounted()) return;
    const status = raw.writableFinished ? raw.statusCode : brokenOffStatus;
    const route = request.routeOptions.url ?? "none";
    durations.add({ method: request.method, route, status }, performance.now() - startMs);
  });
}

/** Adds gauges of running and waiting computations, and of the computed amount. */
export function measureComputing(registry: Registry, load: () => ComputingLoad): void {
  const shown = {
    millrace_computations_running: ["Long computations that run", "running"],
    millrace_computations_waiting: ["Long computations that wait to run", "waiting"],
    millrace_computations_compared_characters: ["Characters compared in the compute thread", "compared"],
    millrace_computations_main_seconds: ["Time of computations on the main thread", "mainThreadSeconds"],
  } as const;
  for (const [name, [help, member]] of Object.entries(shown))
    new Gauge({
      ...{ name, help, registers: [registry] },
      collect() {
        this.set(load()[member]);
      },
    });
}

/** Counts inserts by whether they used a cached write plan. */
export function measureWritePlans(
  metrics: Pick<Metrics, "registry" | "others">,
  own: () => PlanCounts,
): void {
  new Counter({
    name: "millrace_write_plans_total",
    help: "Inserts that used a cached plan for their list of series (used), and new plans (made)",
    labelNames: ["result"],
    registers: [metrics.registry],
    collect() {
      this.reset();
      for (const plans of [own(), ...metrics.others.map((one) => one.plans)])
        for (const [result, count] of Object.entries(plans)) this.inc({ result }, count);
    },
  });
}

function storeGauges(registry: Registry): (stores: StoresNow) => void {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const stored = gauge("millrace_points_stored", "Datapoints in the store");
  const blocks = gauge("millrace_points_blocks", "Compressed blocks in the store");
  const bytes = gauge("millrace_points_bytes", "Bytes of datapoints on disk");
  const journal = gauge("millrace_points_journal_bytes", "Bytes of the journal on disk");
  const damaged = gauge("millrace_points_quarantined", "Damaged parts of the store that are not served");
  const free = gauge("millrace_disk_free_bytes", "Free bytes on the disk of the data folder");
  const full = gauge("millrace_disk_full", "1 while the disk is too full for writes, else 0");
  const health = new Gauge({
    name: "millrace_health",
    help: "1 for the status that /health has now, 0 for the others",
    labelNames: ["status"],
    registers: [registry],
  });
  return ({ stats, status, disk }) => {
    for (const one of healthStatuses) health.set({ status: one }, one === status ? 1 : 0);
    free.set(disk.freeBytes);
    full.set(disk.isFull ? 1 : 0);
    stored.set(stats?.points ?? Number.NaN);
    blocks.set(stats?.blocks ?? Number.NaN);
    bytes.set(stats?.bytesOnDisk ?? Number.NaN);
    journal.set(stats?.journalBytes ?? Number.NaN);
    damaged.set(stats?.quarantined.length ?? Number.NaN);
  };
}

// The metrics of retention rules.
import { Counter, type Registry } from "prom-client";

/** Adds the counters; returns the functions that count. */
export function measureRetention(registry: Registry) {
  const counter = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
  const points = counter(
    "millrace_retention_points_removed_total",
    "Old datapoints removed by retention rules",
  );
  const failures = counter("millrace_retention_failures_total", "Runs of retention rules that failed");
  return { removed: (count: number) => points.inc(count), failed: () => failures.inc() };
}

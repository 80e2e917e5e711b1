// Health and metrics of the server, read again and again while the page is open.
import { HttpError } from "@oazapfts/runtime";
import { useQuery } from "@tanstack/react-query";
import { use, useEffect, useState } from "react";
import { baseUrl } from "../../api/base.ts";
import { ConnectionContext } from "../../api/connection.ts";
import { parsePrometheus } from "../../lib/prometheus.ts";
import { readHealth } from "./health.ts";
import { type Reading, ratesBetween, type Snapshot, snapshotOf } from "./snapshot.ts";

const everyMs = 2_000;
/** Ten minutes. */
const readingsMax = 300;

export function useHealth() {
  const { fetch: send } = use(ConnectionContext)!;
  return useQuery({
    queryKey: ["operations", "health"],
    refetchInterval: everyMs,
    queryFn: ({ signal }) => readHealth(send, signal),
  });
}

export function useMetrics() {
  const { fetch: send } = use(ConnectionContext)!;
  const [readings, setReadings] = useState<readonly Reading[]>([]);
  const query = useQuery({
    queryKey: ["operations", "metrics"],
    refetchInterval: everyMs,
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const response = await send(`${baseUrl()}/metrics`, { signal });
      const text = await response.text();
      if (!response.ok) throw new HttpError(response.status, text, response.headers);
      return snapshotOf(parsePrometheus(text), Date.now());
    },
  });
  useEffect(() => {
    if (query.data) setReadings((now) => extended(now, query.data));
  }, [query.data]);
  return { query, readings };
}

function extended(readings: readonly Reading[], snapshot: Snapshot): readonly Reading[] {
  const last = readings.at(-1);
  if (last?.timeMs === snapshot.timeMs) return readings;
  const rates = last && ratesBetween(last.snapshot, snapshot);
  return [...readings, { timeMs: snapshot.timeMs, snapshot, rates }].slice(-readingsMax);
}

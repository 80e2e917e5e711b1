// Requests the data of the next window as soon as the address has it. The page then takes 30 ms to render the
// window, and the response arrives meanwhile.
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useProject } from "../../session/session.ts";
import { BucketReader } from "./bucket-reader.ts";
import { type TrendSearch, trendSearch } from "./search.ts";
import type { TrendSeries } from "./trend-series.ts";
import { loadEarly } from "./use-columns.ts";
import type { TrendState } from "./use-trend.ts";
import { isRelative, windowOf } from "./window.ts";

export function useEarlyData(
  { search, version }: TrendState,
  series: readonly TrendSeries[],
  widthPx: number,
): void {
  const router = useRouter();
  const client = useQueryClient();
  const project = useProject();
  const [reader] = useState(() => new BucketReader());
  useEffect(
    () =>
      router.subscribe("onBeforeLoad", ({ toLocation, pathChanged }) => {
        const next = trendSearch(toLocation.search as Record<string, unknown>);
        const isSameWindow = next.start === search.start && next.end === search.end;
        if (pathChanged || isSameWindow || isRelative(next) || !haveSameSeries(search, next)) return;
        const window = windowOf(next, Date.now());
        loadEarly({ client, project, reader }, { series, window, widthPx, isLive: false, version });
      }),
    [router, client, project, reader, search, version, series, widthPx],
  );
}

/** Whether two addresses have the same stored and calculated series. */
const haveSameSeries = (one: TrendSearch, other: TrendSearch): boolean =>
  String(one.series) === String(other.series) && String(one.calc) === String(other.calc);

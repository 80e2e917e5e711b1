// Requests data of a window before the page renders it. The response arrives meanwhile: the page takes 30 ms
// to render another window, and 100 ms to render its chart for the first time.
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type RefObject, useEffect, useEffectEvent, useState } from "react";
import { useProject } from "../../session/session.ts";
import { seriesByNameQuery } from "../../ui/series-hits.ts";
import { BucketReader } from "./bucket-reader.ts";
import { type TrendSearch, trendSearch } from "./search.ts";
import type { TrendSeries } from "./trend-series.ts";
import { useTrendActions } from "./trend-state.tsx";
import { isReadable, loadEarly } from "./use-columns.ts";
import { isLive, isRelative, windowOf } from "./window.ts";

/** Requests the data of the next window as soon as the address has it. */
export function useEarlyData(series: readonly TrendSeries[], widthPx: number): void {
  const { shown } = useTrendActions();
  const router = useRouter();
  const client = useQueryClient();
  const project = useProject();
  const [reader] = useState(() => new BucketReader());
  useEffect(
    () =>
      router.subscribe("onBeforeLoad", ({ toLocation, pathChanged }) => {
        const next = trendSearch(toLocation.search as Record<string, unknown>);
        const { search, version } = shown();
        const isSameWindow = next.start === search.start && next.end === search.end;
        if (pathChanged || isSameWindow || isRelative(next) || !haveSameSeries(search, next)) return;
        const window = windowOf(next, Date.now());
        loadEarly(
          { client, project, reader },
          { series: series.filter(isReadable), window, widthPx, version },
        );
      }),
    [router, client, project, reader, shown, series, widthPx],
  );
}

/** Requests the data of stored series as soon as their records are there; `place` is as wide as the chart. */
export function useFirstData(names: readonly string[], place: RefObject<HTMLElement | null>): void {
  const { shown } = useTrendActions();
  const client = useQueryClient();
  const project = useProject();
  const [reader] = useState(() => new BucketReader());
  const load = useEffectEvent((series: Parameters<typeof loadEarly>[1]["series"]) => {
    const widthPx = place.current?.clientWidth ?? 0;
    const { search, window, version } = shown();
    if (!isLive(search)) loadEarly({ client, project, reader }, { series, window, widthPx, version });
  });
  useEffect(() => {
    let isWanted = true;
    const loadAll = async () => {
      const records = await Promise.all(
        names.map((name) => client.fetchQuery(seriesByNameQuery(project, name))),
      );
      const found = records.filter((record) => record !== null);
      const series = found.map(({ id, name: key, isString }) => ({
        kind: "stored" as const,
        ...{ id, key, isString },
      }));
      if (isWanted) load(series);
    };
    // The page reports what could not be read.
    loadAll().catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [client, project, names]);
}

/** Whether two addresses have the same stored and calculated series. */
const haveSameSeries = (one: TrendSearch, other: TrendSearch): boolean =>
  String(one.series) === String(other.series) && String(one.calc) === String(other.calc);

// Opens a saved trend by its id.
import type { QueryClient } from "@tanstack/react-query";
import { getTrendsByTrendId } from "../../api/generated.ts";
import { sessionQuery } from "../../session/session.ts";
import { type TrendSearch, trendSearch } from "./search.ts";

/** The search parameters of a saved trend, without its id. */
export async function savedTrend(client: QueryClient, id: number): Promise<TrendSearch> {
  const session = await client.ensureQueryData(sessionQuery);
  const { data } = await getTrendsByTrendId(session!.project, id);
  const { trend: _, ...search } = trendSearch(data.items[0]!.definition ?? {});
  return search;
}

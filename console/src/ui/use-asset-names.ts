// The names of assets by their ids.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { statusOf } from "../api/errors.ts";
import { postAssetsByids } from "../api/generated.ts";
import { useProject } from "../session/session.ts";

/**
 * The names of assets; the id as text for one that is not yet read. `unknown` is the text for an asset that
 * was deleted or is hidden.
 */
export function useAssetNames(
  ids: readonly number[],
  unknown: (id: number) => string = String,
): (id: number) => string {
  const project = useProject();
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  const { data } = useQuery({
    queryKey: ["assets", project, "names", sorted],
    enabled: sorted.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 300_000,
    queryFn: ({ signal }) => readNames(project, sorted, signal),
  });
  return (id) => data?.get(id) ?? (data ? unknown(id) : String(id));
}

/** The server refuses ids together when one of them is hidden; then each is read alone. */
async function readNames(project: string, ids: readonly number[], signal: AbortSignal) {
  const read = async (items: number[]) =>
    (await postAssetsByids(project, { items }, { signal })).data.items.map(
      ({ id, name }) => [id, name] as const,
    );
  const isRefusal = (problem: unknown) => [400, 403].includes(statusOf(problem) ?? 0);
  try {
    return new Map(await read([...ids]));
  } catch (problem) {
    if (!isRefusal(problem)) throw problem;
    const alone = await Promise.all(ids.map((id) => read([id]).catch(() => [])));
    return new Map(alone.flat());
  }
}

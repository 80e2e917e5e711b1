// The numbers of assets below an asset, and of the records of all of these.
import { useQuery } from "@tanstack/react-query";
import { getAssetsByAssetIdContents } from "../../api/generated.ts";
import { countText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";

export function useAssetContents(id: number) {
  const project = useProject();
  return useQuery({
    queryKey: ["assets", project, "contents", id],
    queryFn: async ({ signal }) => (await getAssetsByAssetIdContents(project, id, { signal })).data,
  });
}

/** The assets below an asset, after "the"; without a number while they are not counted. */
export function belowText(count: number | undefined): string {
  if (count === undefined) return "assets";
  return count === 1 ? "asset" : `${countText(count)} assets`;
}

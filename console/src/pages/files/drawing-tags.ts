// The tags found in a drawing, and the request that finds them.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type File, getSuggestions, postSuggestionsDrawings, type Suggestion } from "../../api/generated.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";

/** More cannot be told apart on a page. */
const tagsMax = 1_000;

/** Open and accepted suggestions for the file; none for a person who may not read suggestions. */
export function useDrawingTags({ id }: Pick<File, "id">): readonly Suggestion[] {
  const project = useProject();
  const { data } = useQuery({
    queryKey: ["suggestions", project, "of file", id],
    enabled: mayDo(useSession(), "suggestionsAcl", "READ"),
    queryFn: async ({ signal }) =>
      (await getSuggestions(project, { fileId: id, limit: tagsMax }, { signal })).data.items,
  });
  return data?.filter(({ state }) => state !== "REJECTED") ?? [];
}

export function useFindTags({ id: fileId }: Pick<File, "id">) {
  const project = useProject();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => (await postSuggestionsDrawings(project, { fileId })).data,
    onSettled: () => client.invalidateQueries({ queryKey: ["suggestions"] }),
  });
}

export const isDrawing = ({ fileName, uploaded }: File): boolean =>
  uploaded && /\.(svg|pdf)$/i.test(fileName);

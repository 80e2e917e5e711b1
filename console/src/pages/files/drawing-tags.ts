// The tags found in a drawing, and the request that finds them.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type File, getSuggestions, postSuggestionsDrawings, type Suggestion } from "../../api/generated.ts";
import { allItems } from "../../api/list-pages.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";

const pageSize = 1_000;
const shown = ["OPEN", "ACCEPTED"] as const;

/** Open and accepted suggestions for the file; none for a person who may not read suggestions. */
export function useDrawingTags({ id }: Pick<File, "id">): readonly Suggestion[] {
  const project = useProject();
  const { data } = useQuery({
    queryKey: ["suggestions", project, "of file", id],
    enabled: mayDo(useSession(), "suggestionsAcl", "READ"),
    queryFn: async ({ signal }) => {
      const inState = (state: (typeof shown)[number]) =>
        allItems(async (cursor) => {
          const query = { fileId: id, state, cursor, limit: pageSize };
          return (await getSuggestions(project, query, { signal })).data;
        });
      return (await Promise.all(shown.map(inState))).flat();
    },
  });
  return data ?? [];
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

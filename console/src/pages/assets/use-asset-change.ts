// A change of assets; afterwards the tree and the pages show it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useAssetTree } from "./tree-context.ts";

export function useAssetChange<Input>(change: (input: Input) => Promise<void>) {
  const queryClient = useQueryClient();
  const tree = useAssetTree();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await Promise.all([queryClient.invalidateQueries({ queryKey: ["assets"] }), tree.reload()]);
    },
  });
}

export type AssetMutation<Input> = ReturnType<typeof useAssetChange<Input>>;

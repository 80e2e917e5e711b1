// Moves an asset with everything below it to another parent, or makes it a root.
import { Radio, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useState } from "react";
import { type Asset, getAssetsSearch, patchAssetsByAssetId } from "../../api/generated.ts";
import { countText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { Failure } from "../../ui/page-states.tsx";
import { belowText, useAssetContents } from "./asset-contents.ts";
import { useAssetChange } from "./use-asset-change.ts";

const typingPauseMs = 200;
const hitsMax = 20;
const root = "root";

interface MoveAssetProps {
  readonly asset: Asset;
  onClose(): void;
}

export function MoveAsset({ asset, onClose }: MoveAssetProps) {
  const project = useProject();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<string>();
  const { hits, problem: searchProblem, retry } = useTargets(asset, text);
  // A hit of an earlier search is not in sight, so it is not chosen either.
  const target = chosen === root || hits.some(({ id }) => String(id) === chosen) ? chosen : undefined;
  const move = useAssetChange(async (to: string) => {
    const parentId = to === root ? { setNull: true } : { set: Number(to) };
    await patchAssetsByAssetId(project, asset.id, { parentId });
    onClose();
  });
  const below = useAssetContents(asset.id).data?.assets;
  return (
    <EditDialog
      title={`Move ${asset.name}`}
      action={moveLabel(below)}
      isComplete={target !== undefined}
      {...{ isPending: move.isPending, problem: move.error, onClose }}
      onSave={() => move.mutate(target!)}
    >
      {below !== 0 && (
        <Text size="sm">
          The {belowText(below)} below it will move with it. Groups that are limited to subtrees may see more
          or less of them afterwards.
        </Text>
      )}
      <TextInput
        label="New parent"
        placeholder="Words of its name or description"
        leftSection={<Search size={15} aria-hidden />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setChosen(undefined);
        }}
        data-autofocus
      />
      {searchProblem && <Failure problem={searchProblem} onRetry={retry} />}
      <Radio.Group aria-label="New parent" value={target ?? null} onChange={setChosen}>
        <Stack gap={8}>
          {hits.map(({ id, name, description }) => (
            <Radio key={id} value={String(id)} label={name} description={description} size="sm" />
          ))}
          {asset.parentId !== undefined && (
            <Radio value={root} label="No parent: the asset becomes a root" size="sm" />
          )}
        </Stack>
      </Radio.Group>
    </EditDialog>
  );
}

function moveLabel(below: number | undefined): string {
  if (below === undefined) return "Move";
  return below === 0 ? "Move the asset" : `Move ${countText(below + 1)} assets`;
}

/** The assets that match, without the asset itself, its subtree and its present parent. */
function useTargets(asset: Asset, text: string) {
  const project = useProject();
  const [query] = useDebouncedValue(text.trim(), typingPauseMs);
  const { data, error, refetch } = useQuery({
    queryKey: ["assets", project, "targets", query],
    enabled: query !== "",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await getAssetsSearch(project, { query, limit: hitsMax }, { signal })).data.items,
  });
  const found = query !== "" && data ? data : [];
  return {
    hits: found.filter(({ id, path }) => !path.includes(asset.id) && id !== asset.parentId),
    problem: error,
    retry: () => void refetch(),
  };
}

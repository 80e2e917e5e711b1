// The tree of assets for dialogs: branches open on demand, and a search finds assets by name.
import { Box, Button, Group, Loader, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronRight, Search } from "lucide-react";
import { type ReactNode, useState } from "react";
import { messageOf } from "../api/errors.ts";
import { type Asset, getAssets, getAssetsByAssetIdSubtree, getAssetsSearch } from "../api/generated.ts";
import { useProject } from "../session/session.ts";
import classes from "./asset-tree.module.css";

const childrenMax = 500;
const hitsMax = 50;
const typingPauseMs = 200;

type TreeAsset = Pick<Asset, "id" | "name" | "description">;

interface AssetTreeProps {
  readonly renderAsset: (asset: TreeAsset) => ReactNode;
  /** Other records of an open asset, before the assets below it. The name then opens the asset as well. */
  readonly renderRecords?: (asset: TreeAsset) => ReactNode;
}

export function AssetTree(parts: AssetTreeProps) {
  const [text, setText] = useState("");
  const [query] = useDebouncedValue(text.trim(), typingPauseMs);
  return (
    <Stack gap="xs">
      <TextInput
        data-autofocus
        label="Find an asset"
        placeholder="Words of its name or description"
        leftSection={<Search size={15} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Box className={classes["tree"]}>
        {query === "" ? <Branch {...parts} /> : <Hits {...parts} query={query} />}
      </Box>
    </Stack>
  );
}

function Branch({ parent, ...parts }: AssetTreeProps & { readonly parent?: TreeAsset }) {
  const project = useProject();
  const id = parent?.id;
  const { data, error, isPending } = useQuery({
    queryKey: ["assets", project, "children", id],
    queryFn: async ({ signal }) => {
      const response =
        id === undefined
          ? await getAssets(project, { depth: 0, limit: childrenMax }, { signal })
          : await getAssetsByAssetIdSubtree(project, id, { depth: 1, limit: childrenMax + 1 }, { signal });
      const { items, nextCursor } = response.data;
      return { assets: items.filter((asset) => asset.id !== id), isCut: nextCursor !== undefined };
    },
  });
  const records = parent && parts.renderRecords?.(parent);
  if (isPending) return <Loader size="xs" m="xs" aria-label="Loading assets" />;
  if (error) return <Text size="sm">{messageOf(error)}</Text>;
  if (data.assets.length === 0 && !records)
    return (
      <Text size="sm" c="var(--text-quiet)" p={4}>
        {parent ? "Nothing is below this asset." : "The project has no assets."}
      </Text>
    );
  return (
    <ul className={classes["branch"]}>
      {records && <li className={classes["records"]}>{records}</li>}
      {data.assets.map((asset) => (
        <Node key={asset.id} asset={asset} {...parts} />
      ))}
      {data.isCut && (
        <Text component="li" size="sm" c="var(--text-quiet)" p={4}>
          These are the first {childrenMax}. Find others by name.
        </Text>
      )}
    </ul>
  );
}

function Node({ asset, ...parts }: AssetTreeProps & { readonly asset: TreeAsset }) {
  const [isOpen, setIsOpen] = useState(false);
  const Icon = isOpen ? ChevronDown : ChevronRight;
  const button = { "aria-expanded": isOpen, onClick: () => setIsOpen(!isOpen) };
  return (
    <li>
      {parts.renderRecords ? (
        <UnstyledButton className={classes["row"]} {...button}>
          <Icon size={15} aria-hidden />
          {parts.renderAsset(asset)}
        </UnstyledButton>
      ) : (
        <Group gap={4} wrap="nowrap" className={classes["node"]}>
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            px={4}
            aria-label={`Below ${asset.name}`}
            {...button}
          >
            <Icon size={15} aria-hidden />
          </Button>
          {parts.renderAsset(asset)}
        </Group>
      )}
      {isOpen && <Branch parent={asset} {...parts} />}
    </li>
  );
}

function Hits({ query, ...parts }: AssetTreeProps & { readonly query: string }) {
  const project = useProject();
  const { data, error } = useQuery({
    queryKey: ["assets", project, "picker", query],
    queryFn: async ({ signal }) =>
      (await getAssetsSearch(project, { query, limit: hitsMax }, { signal })).data.items,
  });
  if (error) return <Text size="sm">{messageOf(error)}</Text>;
  if (!data) return <Loader size="xs" m="xs" aria-label="Searching assets" />;
  if (data.length === 0) return <Text size="sm">No asset has these words.</Text>;
  return (
    <ul className={classes["branch"]}>
      {data.map((asset) => (
        <Node key={asset.id} asset={asset} {...parts} />
      ))}
    </ul>
  );
}

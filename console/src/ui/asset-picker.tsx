// Picks assets in the tree: branches open on demand, and a search finds assets by name.
import { Badge, Box, Button, Checkbox, Group, Loader, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronRight, Search, X } from "lucide-react";
import { useState } from "react";
import { messageOf } from "../api/errors.ts";
import {
  type Asset,
  getAssets,
  getAssetsByAssetIdSubtree,
  getAssetsSearch,
  postAssetsByids,
} from "../api/generated.ts";
import { useProject } from "../session/session.ts";
import classes from "./asset-picker.module.css";

const childrenMax = 500;
const hitsMax = 50;
const typingPauseMs = 200;

interface AssetPickerProps {
  readonly picked: readonly string[];
  onChange(picked: string[]): void;
}

export function AssetPicker({ picked, onChange }: AssetPickerProps) {
  const [text, setText] = useState("");
  const [query] = useDebouncedValue(text.trim(), typingPauseMs);
  const toggle = (id: string) =>
    onChange(picked.includes(id) ? picked.filter((other) => other !== id) : [...picked, id]);
  return (
    <Stack gap="xs">
      <PickedAssets picked={picked} onRemove={toggle} />
      <TextInput
        label="Find an asset"
        placeholder="Words of its name or description"
        leftSection={<Search size={15} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Box className={classes["tree"]}>
        {query === "" ? (
          <Branch parent={undefined} picked={picked} onToggle={toggle} />
        ) : (
          <Hits query={query} picked={picked} onToggle={toggle} />
        )}
      </Box>
    </Stack>
  );
}

/** The names of assets with these ids; an id without an asset has no name. */
export function useAssetNames(ids: readonly string[]) {
  const project = useProject();
  const { data } = useQuery({
    queryKey: ["assets", project, "names", ids],
    enabled: ids.length > 0,
    queryFn: async ({ signal }) => {
      const read = async (id: string) => {
        const items = [Number(id)];
        const found = await postAssetsByids(project, { items }, { signal }).catch(() => undefined);
        return [id, found?.data.items[0]?.name] as const;
      };
      return new Map(await Promise.all(ids.map(read)));
    },
  });
  return (id: string): string => data?.get(id) ?? (data ? `${id} (no such asset)` : id);
}

function PickedAssets({ picked, onRemove }: { picked: readonly string[]; onRemove(id: string): void }) {
  const nameOf = useAssetNames(picked);
  if (picked.length === 0)
    return (
      <Text size="sm" c="var(--text-quiet)">
        Nothing is picked yet. A picked asset includes everything below it.
      </Text>
    );
  return (
    <Group gap={6} role="list" aria-label="Picked assets">
      {picked.map((id) => (
        <Badge
          key={id}
          role="listitem"
          variant="default"
          tt="none"
          size="lg"
          rightSection={
            <button
              type="button"
              className={classes["remove"]}
              aria-label={`Remove ${nameOf(id)}`}
              onClick={() => onRemove(id)}
            >
              <X size={13} aria-hidden />
            </button>
          }
        >
          {nameOf(id)}
        </Badge>
      ))}
    </Group>
  );
}

interface BranchProps {
  readonly parent: number | undefined;
  readonly picked: readonly string[];
  onToggle(id: string): void;
}

function Branch({ parent, picked, onToggle }: BranchProps) {
  const project = useProject();
  const { data, error, isPending } = useQuery({
    queryKey: ["assets", project, "children", parent],
    queryFn: async ({ signal }) => {
      const response =
        parent === undefined
          ? await getAssets(project, { depth: 0, limit: childrenMax }, { signal })
          : await getAssetsByAssetIdSubtree(
              project,
              parent,
              { depth: 1, limit: childrenMax + 1 },
              { signal },
            );
      const { items, nextCursor } = response.data;
      const assets = items.filter(({ id }) => id !== parent);
      return { assets, isCut: nextCursor !== undefined };
    },
  });
  if (isPending) return <Loader size="xs" m="xs" aria-label="Loading assets" />;
  if (error) return <Text size="sm">{messageOf(error)}</Text>;
  if (data.assets.length === 0)
    return (
      <Text size="sm" c="var(--text-quiet)" p={4}>
        {parent === undefined ? "The project has no assets." : "Nothing is below this asset."}
      </Text>
    );
  return (
    <ul className={classes["branch"]}>
      {data.assets.map(({ id, name }) => (
        <Node key={id} {...{ id, name, picked, onToggle }} />
      ))}
      {data.isCut && (
        <Text component="li" size="sm" c="var(--text-quiet)" p={4}>
          These are the first {childrenMax}. Find others by name.
        </Text>
      )}
    </ul>
  );
}

interface NodeProps extends Omit<BranchProps, "parent"> {
  readonly id: number;
  readonly name: string;
}

function Node({ id, name, picked, onToggle }: NodeProps) {
  const [isOpen, setIsOpen] = useState(false);
  const Icon = isOpen ? ChevronDown : ChevronRight;
  return (
    <li>
      <Group gap={4} wrap="nowrap" className={classes["node"]}>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          px={4}
          aria-expanded={isOpen}
          aria-label={`Below ${name}`}
          onClick={() => setIsOpen(!isOpen)}
        >
          <Icon size={15} aria-hidden />
        </Button>
        <Checkbox
          size="xs"
          label={name}
          checked={picked.includes(String(id))}
          onChange={() => onToggle(String(id))}
        />
      </Group>
      {isOpen && <Branch parent={id} picked={picked} onToggle={onToggle} />}
    </li>
  );
}

function Hits({ query, picked, onToggle }: Omit<BranchProps, "parent"> & { query: string }) {
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
      {data.map((asset: Asset) => (
        <li key={asset.id} className={classes["node"]}>
          <Checkbox
            size="xs"
            label={asset.name}
            description={asset.description}
            checked={picked.includes(String(asset.id))}
            onChange={() => onToggle(String(asset.id))}
          />
        </li>
      ))}
    </ul>
  );
}

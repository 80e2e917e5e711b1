// Picks assets in the tree.
import { Badge, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { postAssetsByids } from "../api/generated.ts";
import { useProject } from "../session/session.ts";
import classes from "./asset-picker.module.css";
import { AssetTree } from "./asset-tree.tsx";

interface AssetPickerProps {
  readonly picked: readonly string[];
  onChange(picked: string[]): void;
}

export function AssetPicker({ picked, onChange }: AssetPickerProps) {
  const toggle = (id: string) =>
    onChange(picked.includes(id) ? picked.filter((other) => other !== id) : [...picked, id]);
  return (
    <Stack gap="xs">
      <PickedAssets picked={picked} onRemove={toggle} />
      <AssetTree
        renderAsset={({ id, name }) => (
          <Checkbox
            size="xs"
            label={name}
            checked={picked.includes(String(id))}
            onChange={() => toggle(String(id))}
          />
        )}
      />
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

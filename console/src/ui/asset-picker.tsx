// Picks assets in the tree.
import { Badge, Checkbox, Group, Stack, Text } from "@mantine/core";
import { X } from "lucide-react";
import classes from "./asset-picker.module.css";
import { AssetTree } from "./asset-tree.tsx";
import { useAssetNames } from "./use-asset-names.ts";

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

/** The names of picked assets, whose ids are strings in a scope. */
export function usePickedNames(ids: readonly string[]): (id: string) => string {
  const nameOf = useAssetNames(ids.map(Number), (id) => `${id} (no such asset)`);
  return (id) => nameOf(Number(id));
}

function PickedAssets({ picked, onRemove }: { picked: readonly string[]; onRemove(id: string): void }) {
  const nameOf = usePickedNames(picked);
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

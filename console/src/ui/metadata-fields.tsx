// Edits metadata: pairs of key and value in a form.
import { ActionIcon, Button, Fieldset, Group, Stack, TextInput } from "@mantine/core";
import { Plus, X } from "lucide-react";

export interface MetadataPair {
  /** Tells the rows of the form apart. */
  readonly row: number;
  readonly key: string;
  readonly value: string;
}

export const pairsOf = (metadata: Readonly<Record<string, string>> = {}): MetadataPair[] =>
  Object.entries(metadata).map(([key, value], row) => ({ row, key, value }));

/** Pairs without a key are left out. */
export const metadataOf = (pairs: readonly MetadataPair[]): Record<string, string> =>
  Object.fromEntries(pairs.filter(({ key }) => key !== "").map(({ key, value }) => [key, value]));

interface MetadataFieldsProps {
  readonly pairs: readonly MetadataPair[];
  onChange(pairs: MetadataPair[]): void;
}

export function MetadataFields({ pairs, onChange }: MetadataFieldsProps) {
  const replace = (row: number, change: Partial<MetadataPair>) =>
    onChange(pairs.map((pair) => (pair.row === row ? { ...pair, ...change } : pair)));
  const add = () =>
    onChange([...pairs, { row: Math.max(-1, ...pairs.map(({ row }) => row)) + 1, key: "", value: "" }]);
  return (
    <Fieldset legend="Metadata">
      <Stack gap={6}>
        {pairs.map(({ row, key, value }, at) => (
          <Group key={row} gap={6} wrap="nowrap">
            <TextInput
              flex={2}
              aria-label={`Key ${at + 1}`}
              placeholder="Key"
              value={key}
              onChange={(event) => replace(row, { key: event.currentTarget.value })}
            />
            <TextInput
              flex={3}
              aria-label={`Value ${at + 1}`}
              placeholder="Value"
              value={value}
              onChange={(event) => replace(row, { value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove pair ${at + 1}`}
              onClick={() => onChange(pairs.filter((pair) => pair.row !== row))}
            >
              <X size={15} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={add}
          style={{ alignSelf: "flex-start" }}
        >
          Add a pair
        </Button>
      </Stack>
    </Fieldset>
  );
}

// The form of a new or existing asset.
import { Button, Group, Modal, Stack, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Asset } from "../../api/generated.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { MetadataFields, metadataOf, pairsOf } from "../../ui/metadata-fields.tsx";
import type { AssetMutation } from "./use-asset-change.ts";

/** The fields of the form; without a text, a field is absent. */
export interface AssetFields {
  readonly name: string;
  readonly description?: string;
  readonly externalId?: string;
  readonly source?: string;
  readonly sourceId?: string;
  readonly metadata: Record<string, string>;
}

interface AssetFormProps {
  readonly title: string;
  readonly action: string;
  readonly asset?: Asset;
  readonly change: AssetMutation<AssetFields>;
  onClose(): void;
}

const texts = [
  { field: "externalId", label: "External id", note: "What other systems call it; unique" },
  { field: "source", label: "Source", note: "The system it comes from" },
  { field: "sourceId", label: "Id in the source", note: undefined },
] as const;

export function AssetForm({ title, action, asset, change, onClose }: AssetFormProps) {
  const [pairs, setPairs] = useState(pairsOf(asset?.metadata));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (field: string) => String(form.get(field) ?? "").trim();
    const optional = ["description", ...texts.map(({ field }) => field)].filter(
      (field) => text(field) !== "",
    );
    change.mutate({
      name: text("name"),
      ...Object.fromEntries(optional.map((field) => [field, text(field)])),
      metadata: metadataOf(pairs),
    });
  };
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput name="name" label="Name" required defaultValue={asset?.name} data-autofocus />
          <Textarea
            name="description"
            label="Description"
            autosize
            minRows={2}
            defaultValue={asset?.description}
          />
          {texts.map(({ field, label, note }) => (
            <TextInput
              key={field}
              name={field}
              label={label}
              description={note}
              defaultValue={asset?.[field]}
            />
          ))}
          <MetadataFields pairs={pairs} onChange={setPairs} />
          <Refusal problem={change.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

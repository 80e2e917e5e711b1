// Adds an asset: a root, or a child of the asset on the page.
import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { type Asset, postAssets } from "../../api/generated.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { type AssetFields, AssetForm, emptyAsset } from "./asset-form.tsx";
import { useAssetChange } from "./use-asset-change.ts";

export function NewAssetButton({ parent }: { parent?: Asset }) {
  const [isOpen, setIsOpen] = useState(false);
  if (!mayDo(useSession(), "assetsAcl", "WRITE")) return null;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<Plus size={14} aria-hidden />}
        onClick={() => setIsOpen(true)}
      >
        {parent ? "Add a child" : "New asset"}
      </Button>
      {isOpen && <NewAsset parent={parent} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function NewAsset({ parent, onClose }: { parent: Asset | undefined; onClose(): void }) {
  const project = useProject();
  const navigate = useNavigate();
  const create = useAssetChange(async ({ name, metadata, ...texts }: AssetFields) => {
    const filled = Object.entries(texts).filter(([, text]) => text !== "");
    const item = { name, metadata, ...Object.fromEntries(filled), ...(parent && { parentId: parent.id }) };
    const { data } = await postAssets(project, { items: [item] });
    onClose();
    void navigate({ to: "/assets/$id", params: { id: data.items[0]!.id } });
  });
  return (
    <AssetForm
      title={parent ? `New asset below ${parent.name}` : "New asset"}
      action="Create the asset"
      opened={emptyAsset}
      change={create}
      onClose={onClose}
    />
  );
}

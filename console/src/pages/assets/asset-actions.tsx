// The actions on an asset: add a child, edit, move and delete it. Without the right there are no
// buttons.
import { useNavigate } from "@tanstack/react-router";
import { FolderInput, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  type Asset,
  type AssetContents,
  patchAssetsByAssetId,
  postAssetsDelete,
} from "../../api/generated.ts";
import { countText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { RecordMenu } from "../../ui/record-menu.tsx";
import { type AssetFields, AssetForm } from "./asset-form.tsx";
import { MoveAsset } from "./move-asset.tsx";
import { NewAssetButton } from "./new-asset.tsx";
import { useAssetChange } from "./use-asset-change.ts";

interface AssetActionsProps {
  readonly asset: Asset;
  readonly contents: AssetContents | undefined;
}

export function AssetActions({ asset, contents }: AssetActionsProps) {
  const [dialog, setDialog] = useState<"edit" | "move" | "delete">();
  const close = () => setDialog(undefined);
  if (!mayDo(useSession(), "assetsAcl", "WRITE")) return null;
  return (
    <>
      <NewAssetButton parent={asset} />
      <RecordMenu
        label={`Change ${asset.name}`}
        actions={[
          { label: "Edit…", icon: Pencil, run: () => setDialog("edit") },
          { label: "Move…", icon: FolderInput, run: () => setDialog("move") },
          { label: "Delete…", icon: Trash2, isDanger: true, run: () => setDialog("delete") },
        ]}
      />
      {dialog === "edit" && <EditAsset asset={asset} onClose={close} />}
      {dialog === "move" && <MoveAsset asset={asset} contents={contents} onClose={close} />}
      {dialog === "delete" && <DeleteAsset asset={asset} contents={contents} onClose={close} />}
    </>
  );
}

function EditAsset({ asset, onClose }: { asset: Asset; onClose(): void }) {
  const project = useProject();
  const edit = useAssetChange(async ({ name, metadata, ...texts }: AssetFields) => {
    const textOf = (field: keyof typeof texts) => {
      const text = texts[field];
      return text === undefined ? { setNull: true } : { set: text };
    };
    await patchAssetsByAssetId(project, asset.id, {
      name: { set: name },
      metadata: { set: metadata },
      ...{ description: textOf("description"), externalId: textOf("externalId") },
      ...{ source: textOf("source"), sourceId: textOf("sourceId") },
    });
    onClose();
  });
  return (
    <AssetForm title={`Edit ${asset.name}`} action="Save" asset={asset} change={edit} onClose={onClose} />
  );
}

interface DialogProps extends AssetActionsProps {
  onClose(): void;
}

function DeleteAsset({ asset, contents, onClose }: DialogProps) {
  const project = useProject();
  const navigate = useNavigate();
  const remove = useAssetChange(async () => {
    await postAssetsDelete(project, { items: [asset.id] });
    const { parentId } = asset;
    await (parentId === undefined
      ? navigate({ to: "/assets" })
      : navigate({ to: "/assets/$id", params: { id: parentId } }));
  });
  const below = contents?.assets ?? 0;
  return (
    <Confirm
      title={`Delete ${asset.name}?`}
      action={below === 0 ? "Delete the asset" : `Delete ${countText(below + 1)} assets`}
      isPending={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onClose={onClose}
    >
      <p>
        {below === 0
          ? "Nothing is below this asset."
          : `The ${below === 1 ? "asset" : `${countText(below)} assets`} below it will be deleted too.`}
      </p>
      <p>{contents === undefined ? "The linked records are being counted…" : unlinkedText(contents)}</p>
    </Confirm>
  );
}

/** Records that stay, without their link. */
function unlinkedText({ timeseries = 0, events = 0, files = 0, sequences = 0 }: AssetContents): string {
  const kinds = [
    [timeseries, "series", "series"],
    [events, "event", "events"],
    [files, "file", "files"],
    [sequences, "sequence", "sequences"],
  ] as const;
  const parts = kinds.flatMap(([count, one, many]) =>
    count === 0 ? [] : [`${countText(count)} ${count === 1 ? one : many}`],
  );
  if (parts.length === 0) return "No series, events, files or sequences that you may see are linked to it.";
  return `${parts.join(", ")} will stay and lose their link to it.`;
}

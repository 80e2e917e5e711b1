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
import { changedFields } from "../../lib/record-change.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Failure } from "../../ui/page-states.tsx";
import { RecordMenu } from "../../ui/record-menu.tsx";
import { belowText, useAssetContents } from "./asset-contents.ts";
import { type AssetFields, AssetForm, assetFieldsOf } from "./asset-form.tsx";
import { MoveAsset } from "./move-asset.tsx";
import { NewAssetButton } from "./new-asset.tsx";
import { useAssetChange } from "./use-asset-change.ts";

export function AssetActions({ asset }: { asset: Asset }) {
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
      {dialog === "move" && <MoveAsset asset={asset} onClose={close} />}
      {dialog === "delete" && <DeleteAsset asset={asset} onClose={close} />}
    </>
  );
}

function EditAsset({ asset, onClose }: { asset: Asset; onClose(): void }) {
  const project = useProject();
  const [opened] = useState(() => assetFieldsOf(asset));
  const edit = useAssetChange(async (fields: AssetFields) => {
    await patchAssetsByAssetId(project, asset.id, changedFields(opened, fields));
    onClose();
  });
  return <AssetForm title={`Edit ${asset.name}`} action="Save" {...{ opened, change: edit, onClose }} />;
}

/** Its button has the number of assets that it deletes, and is disabled until they are counted. */
function DeleteAsset({ asset, onClose }: { asset: Asset; onClose(): void }) {
  const { data: contents, error: countProblem, refetch } = useAssetContents(asset.id);
  const project = useProject();
  const navigate = useNavigate();
  const remove = useAssetChange(async () => {
    await postAssetsDelete(project, { items: [asset.id] });
    const { parentId } = asset;
    await (parentId === undefined
      ? navigate({ to: "/assets" })
      : navigate({ to: "/assets/$id", params: { id: parentId } }));
  });
  return (
    <Confirm
      title={`Delete ${asset.name}?`}
      action={contents === undefined ? "Delete" : deleteLabel(contents)}
      isEffectKnown={contents !== undefined}
      isPending={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onClose={onClose}
    >
      {contents !== undefined && <DeletionEffect contents={contents} />}
      {contents === undefined && !countProblem && (
        <p>The assets below it and the linked records are being counted…</p>
      )}
      {contents === undefined && countProblem && (
        <>
          <p>The assets below it could not be counted.</p>
          <Failure problem={countProblem} onRetry={() => void refetch()} />
        </>
      )}
    </Confirm>
  );
}

const deleteLabel = ({ assets }: AssetContents): string =>
  assets === 0 ? "Delete the asset" : `Delete ${countText(assets + 1)} assets`;

function DeletionEffect({ contents }: { contents: AssetContents }) {
  const { assets: below } = contents;
  return (
    <>
      <p>
        {below === 0
          ? "Nothing is below this asset."
          : `The ${belowText(below)} below it will be deleted too.`}
      </p>
      <p>{unlinkedText(contents)}</p>
    </>
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

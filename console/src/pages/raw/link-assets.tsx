// Links a raw table to the assets that its rows are about.
import { Text } from "@mantine/core";
import { useState } from "react";
import { postRawByDatabaseCreate } from "../../api/generated.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { type TableName, useRawChange } from "./raw-data.ts";

interface LinkAssetsProps {
  readonly name: TableName;
  /** The assets that the table is linked to. */
  readonly linked: readonly number[];
  onClose(): void;
}

export function LinkAssets({ name, linked, onClose }: LinkAssetsProps) {
  const { project, database, table: tableName } = name;
  const [assetIds, setAssetIds] = useState(linked);
  const change = useRawChange(
    () => postRawByDatabaseCreate(project, database, { items: [{ tableName, assetIds: [...assetIds] }] }),
    onClose,
  );
  return (
    <EditDialog
      title={`Assets of ${tableName}`}
      {...{ isPending: change.isPending, problem: change.error, onClose }}
      onSave={() => change.mutate(undefined)}
    >
      <Text size="sm">
        The page of an asset shows the rows that name it. It searches the tables that are linked to the asset
        or to an asset above it.
      </Text>
      <AssetSelect
        label="Assets"
        placeholder="Search by name"
        value={assetIds}
        onChange={setAssetIds}
        data-autofocus
      />
    </EditDialog>
  );
}

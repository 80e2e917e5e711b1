// Links a raw table to the assets that its rows are about.
import { Modal, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { postRawByDatabaseCreate } from "../../api/generated.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { assetsOf, type TableName, tablesQuery, useRawChange } from "./raw-data.ts";

interface LinkAssetsProps {
  readonly name: TableName;
  onClose(): void;
}

/** The form replaces all links, so it waits until they are read. */
export function LinkAssets({ name, onClose }: LinkAssetsProps) {
  useReturnedFocus();
  const { data, error, refetch } = useQuery(tablesQuery(name.project, name.database));
  if (data) return <LinkForm {...{ name, onClose }} linked={assetsOf(data, name.table)} />;
  return (
    <Modal opened onClose={onClose} title={titleOf(name)} closeButtonProps={{ "aria-label": "Close" }}>
      {error ? (
        <Failure problem={error} onRetry={() => void refetch()} />
      ) : (
        <Loading what="the links of the table" />
      )}
    </Modal>
  );
}

const titleOf = ({ table }: TableName): string => `Assets of ${table}`;

interface LinkFormProps extends LinkAssetsProps {
  /** The assets that the table is linked to. */
  readonly linked: readonly number[];
}

function LinkForm({ name, linked, onClose }: LinkFormProps) {
  const { project, database, table: tableName } = name;
  const [assetIds, setAssetIds] = useState(linked);
  const change = useRawChange(
    () => postRawByDatabaseCreate(project, database, { items: [{ tableName, assetIds: [...assetIds] }] }),
    onClose,
  );
  return (
    <EditDialog
      title={titleOf(name)}
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

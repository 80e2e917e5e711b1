// Adds series to the trend, and removes them, in the tree of assets that they belong to.
import { Checkbox, Drawer, Loader, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../api/errors.ts";
import { getTimeseries } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { AssetTree } from "../../ui/asset-tree.tsx";
import classes from "./trend.module.css";

/** The most series of one asset that are listed. */
const seriesMax = 200;

interface ChosenSeries {
  readonly names: readonly string[];
  onToggle(name: string): void;
}

interface SeriesTreeProps extends ChosenSeries {
  readonly isOpen: boolean;
  onClose(): void;
}

export function SeriesTree({ isOpen, onClose, ...chosen }: SeriesTreeProps) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      title="Series by asset"
      position="left"
      size={400}
      closeButtonProps={{ "aria-label": "Close" }}
      classNames={{ body: classes["tree-drawer"] ?? "" }}
    >
      <AssetTree
        renderAsset={({ name, description }) => (
          <Text size="sm" truncate>
            {name}{" "}
            <Text span size="xs" c="var(--text-quiet)">
              {description}
            </Text>
          </Text>
        )}
        renderRecords={({ id, name }) => <SeriesOfAsset assetId={id} assetName={name} {...chosen} />}
      />
    </Drawer>
  );
}

interface SeriesOfAssetProps extends ChosenSeries {
  readonly assetId: number;
  readonly assetName: string;
}

function SeriesOfAsset({ assetId, assetName, names, onToggle }: SeriesOfAssetProps) {
  const project = useProject();
  const { data, error } = useQuery({
    queryKey: ["timeseries", project, "of asset in the tree", assetId],
    queryFn: async ({ signal }) =>
      (await getTimeseries(project, { assetId, limit: seriesMax }, { signal })).data,
  });
  if (error) return <Text size="sm">{messageOf(error)}</Text>;
  if (!data) return <Loader size="xs" aria-label="Loading series" />;
  if (data.items.length === 0)
    return (
      <Text size="xs" c="var(--text-quiet)">
        No series of its own
      </Text>
    );
  return (
    <Stack gap={8} role="group" aria-label={`Series of ${assetName}`}>
      {data.items.map(({ id, name, description, unit }) => (
        <Checkbox
          key={id}
          size="xs"
          label={unit ? `${name} (${unit})` : name}
          description={description}
          checked={names.includes(name)}
          onChange={() => onToggle(name)}
        />
      ))}
      {data.nextCursor !== undefined && (
        <Text size="xs" c="var(--text-quiet)">
          These are the first {seriesMax}. Find others by a search.
        </Text>
      )}
    </Stack>
  );
}

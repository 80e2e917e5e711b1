// The page of one asset: its place in the tree, its properties, and the records linked to it.
import { ActionIcon, Box, Group, Switch, Text, Title } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ArrowLeft, ChevronRight } from "lucide-react";
import { memo, useDeferredValue, useEffect } from "react";
import { statusOf } from "../../api/errors.ts";
import type { Asset } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { AssetActions } from "./asset-actions.tsx";
import { belowText, useAssetContents } from "./asset-contents.ts";
import { AssetDetails } from "./asset-details.tsx";
import { AssetRawRows } from "./asset-raw-rows.tsx";
import { AssetEvents, AssetFiles, AssetSequences } from "./asset-records.tsx";
import { AssetSeries } from "./asset-series.tsx";
import classes from "./assets.module.css";
import { Relationships } from "./relationships.tsx";
import { useAssetTree } from "./tree-context.ts";
import { pathQuery } from "./use-tree.ts";

export function AssetPage() {
  const { id } = useParams({ from: "/frame/assets/$id" });
  const path = useQuery(pathQuery(useProject(), id));
  const { revealedId } = useAssetTree();
  const isAlone = useMediaQuery("(max-width: 62em)", false, { getInitialValueInEffect: false });
  // Its many parts take long to render, and request much. The row of the asset in the tree comes first.
  const shown = useDeferredValue(isAlone || revealedId === id ? path.data : undefined, undefined);
  if (path.isPending) return <Loading what="the asset" />;
  if (path.isError && statusOf(path.error) === 404) return <NoSuchAsset />;
  if (path.isError) return <Failure problem={path.error} onRetry={() => void path.refetch()} />;
  if (shown?.at(-1)?.id !== id) return <Loading what="the asset" />;
  return <Loaded key={id} path={shown} />;
}

/** Shown beside the tree when no asset is chosen. */
export function NoAssetChosen() {
  const { rows } = useAssetTree();
  // The tree says it when there are no assets.
  if (rows.length === 0) return null;
  return <Empty title="Choose an asset">Its series, events and files are shown here.</Empty>;
}

function NoSuchAsset() {
  return (
    <Empty title="There is no such asset">
      It may have been deleted, or your groups do not show it.{" "}
      <TextLink to="/assets">Show all assets</TextLink>
    </Empty>
  );
}

const Loaded = memo(function Loaded({ path }: { path: readonly Asset[] }) {
  const asset = path.at(-1)!;
  const { below = false } = useSearch({ from: "/frame/assets" });
  return (
    <article aria-label={asset.name}>
      <Header path={path} />
      <Box className={classes["columns"]}>
        <Box className={classes["column"]}>
          <AssetSeries assetId={asset.id} isBelow={below} />
          <AssetEvents assetId={asset.id} isBelow={below} />
          <AssetFiles assetId={asset.id} isBelow={below} />
          <AssetSequences assetId={asset.id} isBelow={below} />
          <AssetRawRows path={path} />
        </Box>
        <Box className={classes["column"]}>
          <AssetDetails asset={asset} />
          <Relationships asset={asset} />
        </Box>
      </Box>
    </article>
  );
});

function Header({ path }: { path: readonly Asset[] }) {
  const asset = path.at(-1)!;
  const { data: contents } = useAssetContents(asset.id);
  const isNarrow = useMediaQuery("(max-width: 62em)", false, { getInitialValueInEffect: false });
  useEffect(() => {
    const before = document.title;
    document.title = `${asset.name} · Millrace`;
    return () => {
      document.title = before;
    };
  }, [asset.name]);
  return (
    <Box component="header" mb="sm">
      <Group gap={6} wrap="nowrap" align="flex-start">
        {isNarrow && (
          <ActionIcon component={Link} to="/assets" variant="subtle" color="gray" aria-label="All assets">
            <ArrowLeft size={17} aria-hidden />
          </ActionIcon>
        )}
        <Breadcrumbs path={path} />
      </Group>
      <Group justify="space-between" gap="xs" align="flex-start">
        <Box miw={0}>
          <Title order={isNarrow ? 1 : 2} size="h3" style={{ overflowWrap: "anywhere" }}>
            {asset.name}
          </Title>
          {asset.description !== undefined && <Text size="sm">{asset.description}</Text>}
        </Box>
        <Group gap="xs">
          <CopyAs
            request={{
              method: "GET",
              project: useProject(),
              path: `/assets/${asset.id}`,
              odata: `Assets('${asset.id}')`,
            }}
          />
          <AssetActions asset={asset} />
        </Group>
      </Group>
      {contents !== undefined && contents.assets > 0 && <BelowSwitch count={contents.assets} />}
    </Box>
  );
}

function Breadcrumbs({ path }: { path: readonly Asset[] }) {
  return (
    <nav aria-label="Path of the asset">
      <ol className={classes["path"]}>
        {path.map(({ id, name }, at) => (
          <li key={id}>
            {at > 0 && <ChevronRight size={13} aria-hidden />}
            {at === path.length - 1 ? (
              <span aria-current="page">{name}</span>
            ) : (
              <TextLink inherit to="/assets/$id" params={{ id }}>
                {name}
              </TextLink>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function BelowSwitch({ count }: { count: number }) {
  const { below = false } = useSearch({ from: "/frame/assets" });
  const navigate = useNavigate();
  return (
    <Switch
      mt="xs"
      size="sm"
      checked={below}
      label={`With the records of the ${belowText(count)} below`}
      onChange={(event) => {
        const isOn = event.currentTarget.checked;
        void navigate({
          to: ".",
          search: ({ below: _, ...now }) => (isOn ? { ...now, below: true } : now),
          replace: true,
        });
      }}
    />
  );
}

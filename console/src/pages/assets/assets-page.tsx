// The assets of the project: the tree or the hits of a search, and beside it the page of one asset.
import { Box } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Network } from "lucide-react";
import { useEffect } from "react";
import { addressOf } from "../../lib/address.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { AssetHits } from "./asset-hits.tsx";
import { AssetSearch } from "./asset-search.tsx";
import classes from "./assets.module.css";
import { NewAssetButton } from "./new-asset.tsx";
import { TreeContext } from "./tree-context.ts";
import { TreeView } from "./tree-view.tsx";
import { type AssetTree, useTree } from "./use-tree.ts";

export function AssetsPage() {
  const { seenAs } = useSession();
  return <AssetsAs key={seenAs?.id ?? "self"} />;
}

/** The roots of the tree, or the hits of the search. */
const requestOf = (project: string, query: string | undefined): ApiRequest => ({
  method: "GET",
  project,
  path: query === undefined ? "/assets/children" : `/assets/search${addressOf({ query })}`,
  ...(query === undefined && { odata: "Assets?$top=100" }),
});

/** The tree of one person's rights. */
function AssetsAs() {
  const tree = useTree();
  const project = useProject();
  const { query } = useSearch({ from: "/frame/assets" });
  const { id } = useParams({ strict: false });
  const isNarrow = useMediaQuery("(max-width: 62em)", false, { getInitialValueInEffect: false });
  const { loadTop, reveal, generation } = tree;
  useEffect(() => {
    if (generation >= 0) void (id === undefined ? loadTop() : reveal(id));
  }, [id, generation, loadTop, reveal]);
  const isAssetAlone = isNarrow && id !== undefined;
  if (isAssetAlone)
    return (
      <TreeContext value={tree}>
        <Outlet />
      </TreeContext>
    );
  return (
    <TreeContext value={tree}>
      <Page
        title="Assets"
        fills
        actions={
          <>
            <NewAssetButton />
            {id === undefined && <CopyAs request={requestOf(project, query)} />}
          </>
        }
      >
        <Box className={classes["split"]}>
          <section className={classes["side"]} aria-label="Find an asset">
            <AssetSearch />
            <Box className={classes["sideContent"]}>
              {query === undefined ? <LoadedTree tree={tree} selectedId={id} /> : <AssetHits query={query} />}
            </Box>
          </section>
          {!isNarrow && (
            <Box className={classes["main"]}>
              <Outlet />
            </Box>
          )}
        </Box>
      </Page>
    </TreeContext>
  );
}

function LoadedTree({ tree, selectedId }: { tree: AssetTree; selectedId: number | undefined }) {
  const navigate = useNavigate();
  if (!tree.isLoaded && tree.problem === undefined) return <Loading what="the assets" />;
  if (!tree.isLoaded) return <Failure problem={tree.problem} onRetry={() => void tree.loadTop()} />;
  if (tree.rows.length === 0) return <NoAssets />;
  const select = (id: number) =>
    void navigate({ to: "/assets/$id", params: { id }, search: ({ below }) => (below ? { below } : {}) });
  return (
    <>
      {tree.problem !== undefined && <Failure problem={tree.problem} onRetry={() => void tree.reload()} />}
      <TreeView key={tree.generation} tree={tree} selectedId={selectedId} onSelect={select} />
    </>
  );
}

function NoAssets() {
  const session = useSession();
  const canWrite = mayDo(session, "assetsAcl", "WRITE");
  return (
    <Empty title="There are no assets here" icon={<Network size={28} aria-hidden />}>
      {canWrite
        ? "Add the first one, such as a site, or create them through the API."
        : "The groups of this account show none, or the project has none yet."}
    </Empty>
  );
}

// The assets that a search finds, best matches first.
import { Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { KeyboardEvent } from "react";
import { type Asset, getAssetsSearch } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import classes from "./assets.module.css";
import { useAssetTree } from "./tree-context.ts";

const hitsMax = 100;

export function AssetHits({ query }: { query: string }) {
  const project = useProject();
  const hits = useQuery({
    queryKey: ["assets", project, "hits", query],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await getAssetsSearch(project, { query, limit: hitsMax }, { signal })).data.items,
  });
  if (hits.isPending) return <Loading what="the hits" />;
  if (hits.isError) return <Failure problem={hits.error} onRetry={() => void hits.refetch()} />;
  if (hits.data.length === 0)
    return (
      <Empty title="No asset matches">Search for the beginning of a word of a name or description.</Empty>
    );
  return (
    <ul className={classes["hits"]} aria-label="Assets found" onKeyDown={moveFocus}>
      {hits.data.map((asset) => (
        <Hit key={asset.id} asset={asset} />
      ))}
      {hits.data.length === hitsMax && (
        <Text component="li" size="xs" c="var(--text-quiet)" p="xs">
          These are the first {hitsMax}. Type more of the name to see others.
        </Text>
      )}
    </ul>
  );
}

function Hit({ asset: { id, name, description, path } }: { asset: Asset }) {
  const tree = useAssetTree();
  return (
    <li>
      <Link
        to="/assets/$id"
        params={{ id }}
        className={classes["hit"]}
        // Before the button is released, which takes a tenth of a second.
        onPointerDown={() => tree.prepare(path)}
      >
        <span>{name}</span>
        {description !== undefined && <small>{description}</small>}
      </Link>
    </li>
  );
}

/** Arrow keys move between the links. */
function moveFocus(event: KeyboardEvent<HTMLUListElement>) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const links = [...event.currentTarget.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  links[at + step]?.focus();
}

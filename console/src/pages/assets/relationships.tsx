// The relationships of an asset as a small graph: the asset on the left, related records on the right. The
// arrow has the direction of the relationship.
import { Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  type Asset,
  getAssets,
  getFiles,
  getRelationships,
  getSequences,
  getTimeseries,
  type Relationship,
} from "../../api/generated.ts";
import { linkToTrend } from "../../lib/trend-link.ts";
import { useProject } from "../../session/session.ts";
import { pageScale } from "../../ui/page-scale.ts";
import classes from "./relationships.module.css";
import { Section } from "./section.tsx";

const shown = 12;
const rowHeight = 44 * pageScale;
const nodeX = 12 * pageScale;
const bend = 48 * pageScale;

interface Neighbour {
  readonly key: string;
  readonly type: Relationship["sourceType"];
  readonly externalId: string;
  /** Undefined for a record that does not exist, or that the person may not see. */
  readonly record: { readonly id: number; readonly name: string } | undefined;
  /** Whether the relationship leads from the asset to it. */
  readonly isTarget: boolean;
  readonly labels: readonly string[];
}

const typeNames: Readonly<Record<Neighbour["type"], string>> = {
  asset: "asset",
  timeSeries: "series",
  event: "event",
  file: "file",
  sequence: "sequence",
};

export function Relationships({ asset }: { asset: Asset }) {
  const project = useProject();
  const { data } = useQuery({
    queryKey: ["relationships", project, asset.id],
    queryFn: async ({ signal }) => {
      const { data } = await getRelationships(project, { assetId: asset.id, limit: shown }, { signal });
      const neighbours = data.items.map((one) => neighbourOf(project, asset, one, signal));
      return { neighbours: await Promise.all(neighbours), hasMore: data.nextCursor !== undefined };
    },
  });
  if (data === undefined || data.neighbours.length === 0) return null;
  return (
    <Section title="Relationships">
      <Graph asset={asset} neighbours={data.neighbours} />
      {data.hasMore && (
        <Text size="xs" c="var(--text-quiet)">
          These are the first {shown}.
        </Text>
      )}
    </Section>
  );
}

function Graph({ asset, neighbours }: { asset: Asset; neighbours: readonly Neighbour[] }) {
  const { ref, width } = useElementSize();
  const height = neighbours.length * rowHeight;
  const middle = height / 2;
  return (
    <div ref={ref}>
      <svg
        width={Math.max(width, 1)}
        height={height}
        className={classes["graph"]}
        role="group"
        aria-label={`Relationships of ${asset.name}`}
      >
        <defs>
          <marker
            id="relationship-end"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M0 0 8 4 0 8z" className={classes["arrow"]} />
          </marker>
        </defs>
        {neighbours.map((one, at) => (
          <Edge key={one.key} neighbour={one} from={middle} to={at * rowHeight + rowHeight / 2} />
        ))}
        <circle cx={nodeX} cy={middle} r="6" className={classes["self"]}>
          <title>{asset.name}</title>
        </circle>
        {neighbours.map((one, at) => (
          <Node key={one.key} neighbour={one} y={at * rowHeight + rowHeight / 2} />
        ))}
      </svg>
    </div>
  );
}

function Edge({ neighbour, from, to }: { neighbour: Neighbour; from: number; to: number }) {
  const start = nodeX + 8;
  const end = start + bend;
  const control = (start + end) / 2;
  const marker = "url(#relationship-end)";
  return (
    <path
      d={`M${start} ${from}C${control} ${from} ${control} ${to} ${end} ${to}`}
      className={classes["edge"]}
      {...(neighbour.isTarget ? { markerEnd: marker } : { markerStart: marker })}
    />
  );
}

function Node({ neighbour, y }: { neighbour: Neighbour; y: number }) {
  const { record, externalId, labels, isTarget, type } = neighbour;
  const x = nodeX + bend + 16 * pageScale;
  const about = [labels.join(", "), typeNames[type], record ? "" : "not here"].filter((part) => part !== "");
  const text = (
    <text x={x} y={y - 3 * pageScale}>
      {record?.name ?? externalId}
    </text>
  );
  return (
    <g>
      <title>{isTarget ? "Leads to it" : "Leads from it"}</title>
      {record && type === "asset" && (
        <Link to="/assets/$id" params={{ id: record.id }}>
          {text}
        </Link>
      )}
      {record && type === "timeSeries" && <Link {...linkToTrend([record.name])}>{text}</Link>}
      {record && type === "sequence" && (
        <Link to="/sequences/$id" params={{ id: record.id }}>
          {text}
        </Link>
      )}
      {record && type === "file" && (
        <Link to="/files/$id" params={{ id: record.id }}>
          {text}
        </Link>
      )}
      {!record && text}
      <text x={x} y={y + 12 * pageScale} className={classes["about"]}>
        {about.join(" · ")}
      </text>
    </g>
  );
}

/** An asset is an end by its external id, or by its id in its source. */
async function neighbourOf(project: string, asset: Asset, one: Relationship, signal: AbortSignal) {
  const own = [asset.externalId, asset.sourceId];
  const isTarget = one.sourceType === "asset" && own.includes(one.sourceExternalId);
  const type = isTarget ? one.targetType : one.sourceType;
  const externalId = isTarget ? one.targetExternalId : one.sourceExternalId;
  const record = await readEnd(project, type, { externalId, signal }).catch(() => undefined);
  return { key: one.externalId, type, externalId, record, isTarget, labels: one.labels ?? [] };
}

interface End {
  readonly externalId: string;
  readonly signal: AbortSignal;
}

async function readEnd(project: string, type: Neighbour["type"], { externalId, signal }: End) {
  const filter = { externalId, limit: 1 };
  switch (type) {
    case "asset":
      return (await getAssets(project, filter, { signal })).data.items[0];
    case "timeSeries":
      return (await getTimeseries(project, filter, { signal })).data.items[0];
    case "file": {
      const [file] = (await getFiles(project, filter, { signal })).data.items;
      return file && { id: file.id, name: file.fileName };
    }
    case "sequence": {
      const [sequence] = (await getSequences(project, filter, { signal })).data.items;
      return sequence && { id: sequence.id, name: sequence.name ?? externalId };
    }
    case "event":
      return undefined;
  }
}

// Clickable areas over a drawing: each opens the asset of the tag at its place, with its latest values.
import { Group, Popover, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { messageOf, unreadText } from "../../api/errors.ts";
import { type Datapoint, getTimeseries, type Suggestion, type TimeSeries } from "../../api/generated.ts";
import { ageText, countOf, valueText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { useNow } from "../../ui/use-now.ts";
import { VerdictButtons } from "../../ui/verdict-buttons.tsx";
import { useValuesInView } from "../series/values-in-view.ts";
import { useReview } from "../suggestions/use-suggestions.ts";
import classes from "./hotspots.module.css";

interface HotspotsProps {
  /** The tags on this page of the drawing. */
  readonly tags: readonly Suggestion[];
  /** The picture. */
  readonly children: ReactNode;
}

export function Hotspots({ tags, children }: HotspotsProps) {
  const assetName = useAssetNames(tags.map(({ assetId }) => assetId));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach and scroll it.
    <div className={classes["scroll"]} tabIndex={0} role="region" aria-label="Drawing with its assets">
      <div className={classes["drawing"]}>
        {children}
        {tags.map((tag) => (
          <Hotspot key={tag.id} tag={tag} asset={assetName(tag.assetId)} />
        ))}
      </div>
    </div>
  );
}

function Hotspot({ tag, asset }: { tag: Suggestion; asset: string }) {
  const { box, state } = tag;
  if (!box) return null;
  const percent = (part: number) => `${100 * part}%`;
  const place = {
    left: percent(box.x + box.width / 2),
    top: percent(box.y + box.height / 2),
    width: percent(box.width),
    height: percent(box.height),
  };
  const doubt = state === "OPEN" ? ", suggested" : "";
  return (
    <Popover width={270} withArrow shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <button
          type="button"
          className={classes["hotspot"]}
          data-state={state}
          style={place}
          aria-label={`${asset}${doubt}`}
          title={`${asset}${doubt}`}
        />
      </Popover.Target>
      <Popover.Dropdown aria-label={asset}>
        <HotspotDetails tag={tag} asset={asset} />
      </Popover.Dropdown>
    </Popover>
  );
}

function HotspotDetails({ tag, asset }: { tag: Suggestion; asset: string }) {
  return (
    <Stack gap="xs">
      <TextLink to="/assets/$id" params={{ id: tag.assetId }} fw={600}>
        {asset}
      </TextLink>
      <LatestValues assetId={tag.assetId} />
      {tag.state === "OPEN" && <Verdict tag={tag} />}
    </Stack>
  );
}

function Verdict({ tag: { id, tag, score } }: { tag: Suggestion }) {
  const { mutate, isPending, error } = useReview();
  const mayReview = mayDo(useSession(), "suggestionsAcl", "WRITE");
  const apart = score === 0 ? "" : `, ${countOf(score, "letter")} apart`;
  return (
    <>
      <Text size="xs" c="var(--text-quiet)">
        Suggested for the tag {tag}
        {apart}
      </Text>
      {mayReview && (
        <Group gap="xs">
          <VerdictButtons
            {...{ size: "compact-sm", isMain: true, disabled: isPending }}
            onVerdict={(verdict) => mutate({ verdict, items: [id] })}
          />
        </Group>
      )}
      <Refusal problem={error} />
    </>
  );
}

const seriesMax = 5;
const noSeries: readonly TimeSeries[] = [];

function LatestValues({ assetId }: { assetId: number }) {
  const project = useProject();
  const { data, error } = useQuery({
    queryKey: ["timeseries", project, "of hotspot", assetId],
    queryFn: async ({ signal }) =>
      (await getTimeseries(project, { assetId, limit: seriesMax }, { signal })).data,
  });
  const series = data?.items ?? noSeries;
  const { latest, problem } = useValuesInView(series);
  const nowMs = useNow(1_000);
  const textOf = (point: Datapoint | null | undefined, unit = "") => {
    if (point) return `${valueText(point.value)} ${unit} · ${ageText(point.timestamp, nowMs)}`;
    if (point === null) return "no values";
    return problem ? "not read" : "…";
  };
  if (error) return <Text size="xs">{unreadText("series", error)}</Text>;
  if (!data) return <Text size="xs">…</Text>;
  if (series.length === 0) return null;
  return (
    <>
      {problem !== null && <Text size="xs">The values were not read: {messageOf(problem)}</Text>}
      <dl className={classes["values"]}>
        {series.map(({ id, name, unit }) => (
          <div key={id}>
            <dt>{name}</dt>
            <dd className="numbers">{textOf(latest.get(id), unit)}</dd>
          </div>
        ))}
      </dl>
      {data.nextCursor !== undefined && (
        <Text size="xs">
          The first {seriesMax} of the asset.{" "}
          <TextLink to="/series" search={{ assets: [assetId] }} size="xs" underline="always">
            All series
          </TextLink>
        </Text>
      )}
    </>
  );
}

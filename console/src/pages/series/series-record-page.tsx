// One series: its values, statistics, description and metadata, and the ways to change it.
import { Badge, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChartSpline, Eraser, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { getTimeseriesByIdLatest, getTimeseriesBySeries, type TimeSeries } from "../../api/generated.ts";
import { ageText, countText, timeText, valueText } from "../../lib/format.ts";
import { linkToTrend } from "../../lib/trend-link.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Facts, MetadataCard } from "../../ui/facts.tsx";
import { Page } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { RecordMenu } from "../../ui/record-menu.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { useNow } from "../../ui/use-now.ts";
import { AddValue } from "./add-value.tsx";
import { endOfTimeMs, usePointCount } from "./all-time.ts";
import { DeletePoints } from "./delete-points.tsx";
import { DeleteSeries } from "./delete-series.tsx";
import { SeriesChart } from "./series-chart.tsx";
import { SeriesForm } from "./series-form.tsx";
import { kindOf } from "./series-list.ts";
import classes from "./series-record.module.css";

const latestEveryMs = 5_000;

export function SeriesRecordPage() {
  const { id } = useParams({ from: "/frame/series/$id" });
  const project = useProject();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["series", project, "record", id],
    queryFn: async ({ signal }) => {
      const { data } = await getTimeseriesBySeries(project, id, { includeMetadata: true }, { signal });
      return data.items[0]!;
    },
  });
  if (isPending) return <Loading what="the series" />;
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  return <SeriesRecord key={id} series={data} />;
}

function SeriesRecord({ series }: { series: TimeSeries }) {
  const project = useProject();
  const { id, name, description, metadata } = series;
  const request = {
    ...{ method: "GET" as const, project, path: `/timeseries/${id}/data?start=1d-ago&limit=10000` },
    odata: `Timeseries('${id}')`,
  };
  return (
    <Page
      title={name}
      note={description}
      actions={
        <>
          <Button
            size="xs"
            leftSection={<ChartSpline size={14} aria-hidden />}
            renderRoot={(props) => <Link {...props} {...linkToTrend([name])} />}
          >
            Trend
          </Button>
          <CopyAs request={request} />
          <SeriesActions series={series} />
        </>
      }
    >
      <Stack gap="sm">
        <TextLink to="/series" className={classes["back"]}>
          All series
        </TextLink>
        <div className={classes["columns"]}>
          <Stack gap="sm" miw={0}>
            <SeriesChart series={series} />
          </Stack>
          <Stack gap="sm" miw={0}>
            <Card>
              <LatestValue series={series} />
            </Card>
            <Card>
              <Title order={2} size="h5" mb="xs">
                Description
              </Title>
              <SeriesFacts series={series} />
            </Card>
            <MetadataCard metadata={metadata} />
          </Stack>
        </div>
      </Stack>
    </Page>
  );
}

function LatestValue({ series: { id, unit } }: { series: TimeSeries }) {
  const project = useProject();
  const nowMs = useNow(1_000);
  const { data } = useQuery({
    queryKey: ["series values", project, "latest of", id],
    refetchInterval: latestEveryMs,
    queryFn: async ({ signal }) => {
      const before = String(endOfTimeMs);
      const { data } = await getTimeseriesByIdLatest(project, id, { before }, { signal });
      return data.items[0] ?? null;
    },
  });
  if (data === undefined) return <Loading what="the latest value" />;
  if (data === null) return <Text c="var(--text-quiet)">This series has no points yet.</Text>;
  return (
    <>
      <Text size="sm" c="var(--text-quiet)">
        Latest value
      </Text>
      <Group gap={8} align="baseline">
        <Text className={classes["latest"]}>{valueText(data.value)}</Text>
        {unit !== undefined && <Text c="var(--text-quiet)">{unit}</Text>}
      </Group>
      <Text size="sm" c="var(--text-quiet)" className="numbers">
        {timeText(data.timestamp)} · {ageText(data.timestamp, nowMs)}
      </Text>
    </>
  );
}

function SeriesFacts({ series }: { series: TimeSeries }) {
  const { id, unit, assetId, externalId, labels, createdTime, lastUpdatedTime } = series;
  const nameOf = useAssetNames(assetId === undefined ? [] : [assetId]);
  const { data: count } = usePointCount(id);
  const asset = assetId !== undefined && (
    <TextLink to="/series" search={{ assets: [assetId] }}>
      {nameOf(assetId)}
    </TextLink>
  );
  return (
    <Facts
      facts={[
        { label: "Unit", value: unit },
        { label: "Kind", value: kindOf(series) },
        { label: "Asset", value: asset },
        { label: "Points", value: count === undefined ? "…" : countText(count) },
        { label: "External id", value: externalId },
        { label: "Labels", value: labels?.map((label) => <Badge key={label}>{label}</Badge>) },
        { label: "Id", value: String(id) },
        { label: "Created", value: timeText(createdTime) },
        { label: "Changed", value: timeText(lastUpdatedTime) },
      ]}
    />
  );
}

/** The ways to change the series; none for a person who may only read. */
function SeriesActions({ series }: { series: TimeSeries }) {
  const [dialog, setDialog] = useState<"edit" | "add" | "points" | "delete">();
  const navigate = useNavigate();
  const client = useQueryClient();
  if (!mayDo(useSession(), "timeSeriesAcl", "WRITE")) return null;
  const close = () => setDialog(undefined);
  const changed = () => {
    void client.invalidateQueries();
    close();
  };
  const deleted = async () => {
    await navigate({ to: "/series" });
    void client.invalidateQueries({ queryKey: ["series"] });
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<Plus size={14} aria-hidden />}
        onClick={() => setDialog("add")}
      >
        Add value
      </Button>
      <Button
        variant="default"
        size="xs"
        leftSection={<Pencil size={14} aria-hidden />}
        onClick={() => setDialog("edit")}
      >
        Edit
      </Button>
      <RecordMenu
        actions={[
          { label: "Delete points…", icon: Eraser, run: () => setDialog("points") },
          { label: "Delete the series…", icon: Trash2, isDanger: true, run: () => setDialog("delete") },
        ]}
      />
      {dialog === "edit" && <SeriesForm series={series} onSaved={changed} onClose={close} />}
      {dialog === "add" && <AddValue series={series} onAdded={changed} onClose={close} />}
      {dialog === "points" && <DeletePoints series={series} onDeleted={changed} onClose={close} />}
      {dialog === "delete" && (
        <DeleteSeries series={series} onDeleted={() => void deleted()} onClose={close} />
      )}
    </>
  );
}

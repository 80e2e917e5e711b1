// One event: its times, assets and metadata, the trend at its time, and the ways to change it.
import { Button, Card, Stack } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChartSpline, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { deleteEventsByEventId, type Event, getEventsByEventId, getTimeseries } from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import { linkToTrend } from "../../lib/trend-link.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Facts, MetadataCard } from "../../ui/facts.tsx";
import { Page } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { durationOf, titleOf } from "./event-columns.tsx";
import { EventForm } from "./event-form.tsx";

/** The trend of an event shows so many series of its assets. */
const trendSeriesMax = 8;
const hourMs = 3_600_000;

export function EventPage() {
  const { id } = useParams({ from: "/frame/events/$id" });
  const project = useProject();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["events", project, "record", id],
    queryFn: async ({ signal }) => (await getEventsByEventId(project, id, { signal })).data.items[0]!,
  });
  if (isPending) return <Loading what="the event" />;
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  return <EventRecord key={id} event={data} />;
}

function EventRecord({ event }: { event: Event }) {
  const project = useProject();
  const { id, metadata } = event;
  const request = { method: "GET" as const, project, path: `/events/${id}`, odata: `Events('${id}')` };
  return (
    <Page
      title={titleOf(event)}
      note={durationOf(event)}
      actions={
        <>
          <TrendLink event={event} />
          <CopyAs request={request} />
          <EventActions event={event} />
        </>
      }
    >
      <Stack gap="sm" maw={820}>
        <TextLink to="/events" style={{ alignSelf: "flex-start" }}>
          All events
        </TextLink>
        <Card>
          <EventFacts event={event} />
        </Card>
        <MetadataCard metadata={metadata} />
      </Stack>
    </Page>
  );
}

function EventFacts({ event }: { event: Event }) {
  const { id, type, subtype, startTime, endTime, assetIds, source, sourceId, externalId } = event;
  const { labels = [], semanticPhrases = [], tagIds = [], createdTime, lastUpdatedTime } = event;
  const nameOf = useAssetNames(assetIds);
  const time = (timeMs: number | undefined) => timeMs !== undefined && timeText(timeMs);
  const assets = assetIds.length > 0 && (
    <Stack gap={2}>
      {assetIds.map((assetId) => (
        <TextLink key={assetId} to="/events" search={{ assets: [assetId], last: "3650d" }}>
          {nameOf(assetId)}
        </TextLink>
      ))}
    </Stack>
  );
  return (
    <Facts
      facts={[
        { label: "Type", value: type },
        { label: "Subtype", value: subtype },
        { label: "Start", value: time(startTime) },
        { label: "End", value: time(endTime) || "open" },
        { label: "Duration", value: endTime === undefined ? "" : durationOf(event) },
        { label: "Assets", value: assets },
        { label: "Tags", value: tagIds.join(", ") },
        { label: "Labels", value: labels.join(", ") },
        { label: "Phrases", value: semanticPhrases.map(({ text }) => text).join(", ") },
        { label: "Source", value: source },
        { label: "Id in the source", value: sourceId },
        { label: "External id", value: externalId },
        { label: "Id", value: String(id) },
        { label: "Created", value: time(createdTime) },
        { label: "Changed", value: time(lastUpdatedTime) },
      ]}
    />
  );
}

/** The series of the event's assets at its time, with half of its length before and after. */
function TrendLink({ event: { startTime, endTime, assetIds } }: { event: Event }) {
  const project = useProject();
  const { data } = useQuery({
    queryKey: ["series", project, "of assets", assetIds],
    enabled: assetIds.length > 0,
    queryFn: async ({ signal }) => {
      const query = { path: JSON.stringify(assetIds), limit: trendSeriesMax };
      return (await getTimeseries(project, query, { signal })).data.items.map(({ name }) => name);
    },
  });
  if (startTime === undefined || !data || data.length === 0) return null;
  const endMs = endTime ?? startTime + hourMs;
  const spaceMs = Math.max(hourMs / 4, (endMs - startTime) / 2);
  const window = { startMs: Math.round(startTime - spaceMs), endMs: Math.round(endMs + spaceMs) };
  return (
    <Button
      size="xs"
      leftSection={<ChartSpline size={14} aria-hidden />}
      renderRoot={(props) => <Link {...props} {...linkToTrend(data, window)} />}
    >
      Trend at its time
    </Button>
  );
}

/** The ways to change the event; none for a person who may only read. */
function EventActions({ event }: { event: Event }) {
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const project = useProject();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteEventsByEventId(project, event.id),
    onSuccess: async () => {
      await navigate({ to: "/events" });
      void client.invalidateQueries({ queryKey: ["events"] });
    },
  });
  if (!mayDo(useSession(), "eventsAcl", "WRITE")) return null;
  const close = () => setDialog(undefined);
  const saved = () => {
    void client.invalidateQueries({ queryKey: ["events"] });
    close();
  };
  const button = (label: string, opens: "edit" | "delete", Icon: typeof Pencil) => (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon size={14} aria-hidden />}
      onClick={() => setDialog(opens)}
    >
      {label}
    </Button>
  );
  return (
    <>
      {button("Edit", "edit", Pencil)}
      {button("Delete", "delete", Trash2)}
      {dialog === "edit" && <EventForm event={event} onSaved={saved} onClose={close} />}
      {dialog === "delete" && (
        <Confirm
          title="Delete the event"
          action="Delete the event"
          isPending={isPending}
          problem={error}
          onConfirm={mutate}
          onClose={close}
        >
          {titleOf(event)} is deleted. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

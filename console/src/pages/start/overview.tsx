// The state of a project with data: counts, age of the data, trends, events, and the server's health.
import { Alert, Anchor, Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { unreadText } from "../../api/errors.ts";
import type { Event } from "../../api/generated.ts";
import { ageText, countText, durationText, timeText } from "../../lib/format.ts";
import { useNow } from "../../ui/use-now.ts";
import { TrendLinks } from "../trend/trend-links.tsx";
import {
  type CountedSet,
  countedSets,
  useCount,
  useFreshness,
  useHealth,
  useRecentEvents,
  useSavedTrends,
} from "./data.ts";
import { freshnessText } from "./freshness-text.ts";
import classes from "./start.module.css";

const labels: Readonly<Record<CountedSet, string>> = {
  ...{ Assets: "Assets", Timeseries: "Time series", Events: "Events", Files: "Files" },
};

export function Counts() {
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} component="section" aria-label="Counts">
      {countedSets.map((set) => (
        <CountCard key={set} set={set} />
      ))}
    </SimpleGrid>
  );
}

function CountCard({ set }: { set: CountedSet }) {
  const count = useCount(set);
  const text = count.isError ? "unknown" : count.data === null ? "no rights" : undefined;
  return (
    <Card>
      <Text size="sm" c="var(--text-quiet)">
        {labels[set]}
      </Text>
      {count.isPending ? (
        <Skeleton h={28} w={70} mt={6} />
      ) : (
        <Text fz={26} fw={600} className="numbers" lh={1.3}>
          {text ?? countText(count.data!)}
        </Text>
      )}
    </Card>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card component="section" aria-label={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {children}
    </Card>
  );
}

const Quiet = ({ children }: { children: ReactNode }) => (
  <Text size="sm" c="var(--text-quiet)">
    {children}
  </Text>
);

const Unread = ({ records, problem }: { records: string; problem: unknown }) => (
  <Quiet>{unreadText(records, problem)}</Quiet>
);

export function FreshnessCard() {
  const { data, isError, error } = useFreshness();
  const nowMs = useNow(1_000);
  return (
    <Part
      title={data?.hasMore ? `Newest data of the first ${countText(data.checked)} series` : "Newest data"}
    >
      {isError && <Unread records="time series" problem={error} />}
      {data && !data.newest && <Quiet>There are no values yet.</Quiet>}
      {data?.newest && (
        <Stack gap={4}>
          <Text fz={26} fw={600} className="numbers" lh={1.3}>
            {ageText(data.newest.timeMs, nowMs)}
          </Text>
          <Text size="sm">
            <Anchor
              renderRoot={(props) => <Link to="/trend" search={{ series: [data.newest!.name] }} {...props} />}
            >
              {data.newest.name}
            </Anchor>{" "}
            at {timeText(data.newest.timeMs)}
          </Text>
          <Quiet>{freshnessText(data)}</Quiet>
        </Stack>
      )}
    </Part>
  );
}

export function SavedTrends() {
  const { data, isError, error } = useSavedTrends();
  return (
    <Part title="Saved trends">
      {isError && <Unread records="saved trends" problem={error} />}
      {data?.length === 0 && (
        <Quiet>
          None yet. Open a <Anchor renderRoot={(props) => <Link to="/trend" {...props} />}>trend</Anchor> and
          save it under a name.
        </Quiet>
      )}
      {data && <TrendLinks trends={data} />}
    </Part>
  );
}

export function RecentEvents() {
  const { data, isError, error } = useRecentEvents();
  const nowMs = useNow(10_000);
  return (
    <Part title="Recent events">
      {isError && <Unread records="events" problem={error} />}
      {data?.length === 0 && <Quiet>There are no events yet.</Quiet>}
      <ul className={classes["list"]}>
        {data?.map((event) => (
          <li key={event.id} className={classes["event"]}>
            <Text size="sm" fw={500}>
              {[event.type, event.subtype].filter(Boolean).join(" · ") || "event"}
            </Text>
            <Anchor
              size="sm"
              className={classes["description"]}
              renderRoot={(props) => <Link to="/events/$id" params={{ id: event.id }} {...props} />}
            >
              {event.description || "Open the event"}
            </Anchor>
            <Quiet>{whenText(event, nowMs)}</Quiet>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function whenText({ startTime, endTime }: Event, nowMs: number): string {
  if (startTime === undefined) return "";
  const age = ageText(startTime, nowMs);
  if (endTime === undefined || endTime > nowMs) return `${age}, not over`;
  return endTime === startTime ? age : `${age}, for ${durationText(endTime - startTime)}`;
}

/** Problems of the server, for administrators; nothing when it is well. */
export function HealthNotice() {
  const { data } = useHealth(true);
  if (!data || (data.status === "ok" && data.quarantined.length === 0)) return null;
  const isFailing = data.status === "failing";
  const problem = data.backups?.problem;
  return (
    <Alert
      color={isFailing ? "red" : "orange"}
      role="alert"
      icon={<CircleAlert size={18} aria-hidden />}
      title={isFailing ? "The server has a serious problem" : "The server has a problem"}
    >
      <Group gap={4}>
        {data.store !== "open" && <Text size="sm">The store {data.store}.</Text>}
        {problem !== undefined && <Text size="sm">{problem}.</Text>}
        {data.quarantined.length > 0 && (
          <Text size="sm">
            {countText(data.quarantined.length)} damaged parts of the data are set aside; the rest is served.
          </Text>
        )}
      </Group>
    </Alert>
  );
}

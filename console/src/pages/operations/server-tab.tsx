// The state of the server for administrators: its health with advice, live metrics, damage and backups.
import { Alert, Badge, Group, SimpleGrid, Stack, Table, Tabs, Text } from "@mantine/core";
import { CircleCheck, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { messageOf } from "../../api/errors.ts";
import { bytesText, countText, durationText, timeText } from "../../lib/format.ts";
import { programsFor } from "../../lib/snippets.ts";
import { CopyMenu } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { BackupsCard } from "./backups-card.tsx";
import { figures } from "./figures.ts";
import { adviceFor, type Health } from "./health.ts";
import { MetricTile } from "./metric-tile.tsx";
import type { Reading } from "./snapshot.ts";
import { useHealth, useMetrics } from "./use-server-state.ts";

export function ServerTab({ tabs }: { tabs: ReactNode }) {
  const health = useHealth();
  // Requests wait without a connection: they have failed, but their query has not.
  const unread = health.error ?? health.failureReason;
  const { query, readings } = useMetrics();
  const snapshot = readings.at(-1)?.snapshot;
  return (
    <Page
      title="Operations"
      toolbar={tabs}
      actions={<CopyMenu snippets={() => programsFor({ method: "GET", path: "/metrics", isText: true })} />}
      note={
        snapshot &&
        `version ${snapshot.version}, running for ${durationText(Date.now() - snapshot.startTimeMs)}`
      }
    >
      <Tabs.Panel value="server">
        <Stack>
          {unread ? (
            <UnknownHealth problem={unread} readMs={health.dataUpdatedAt} />
          ) : (
            health.data && <HealthNotice health={health.data} />
          )}
          {query.isPending && <Loading what="the metrics" />}
          {query.isError && <Failure problem={query.error} onRetry={() => void query.refetch()} />}
          {readings.length > 0 && <Tiles readings={readings} />}
          {health.data && health.data.quarantined.length > 0 && <Damage health={health.data} />}
          {health.data && <BackupsCard backups={health.data.backups} />}
          <Text size="sm" c="var(--text-quiet)">
            The figures are read every two seconds while this page is open. The lines show the last ten
            minutes of it. Prometheus can read the same figures at /metrics.
          </Text>
        </Stack>
      </Tabs.Panel>
    </Page>
  );
}

function HealthNotice({ health }: { health: Health }) {
  const { color, title, text } = adviceFor(health);
  const Icon = color === "green" ? CircleCheck : TriangleAlert;
  return (
    <Alert
      color={color}
      title={title}
      icon={<Icon size={20} aria-hidden />}
      role={color === "green" ? "status" : "alert"}
    >
      {text}
      {health.freeBytes !== undefined && ` ${bytesText(health.freeBytes)} are free on the disk.`}
    </Alert>
  );
}

interface UnknownHealthProps {
  readonly problem: unknown;
  /** When the state was read; 0 for never. */
  readonly readMs: number;
}

function UnknownHealth({ problem, readMs }: UnknownHealthProps) {
  const since = readMs === 0 ? "" : ` since ${timeText(readMs)}`;
  return (
    <Alert
      color="orange"
      role="alert"
      title={`The state of the server is not known${since}`}
      icon={<TriangleAlert size={20} aria-hidden />}
    >
      {messageOf(problem)}
    </Alert>
  );
}

function Tiles({ readings }: { readings: readonly Reading[] }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3, xl: 4 }}>
      {figures.map((figure) => (
        <MetricTile key={figure.label} {...{ figure, readings }} />
      ))}
    </SimpleGrid>
  );
}

/** The damaged parts, as the server reports them. */
function Damage({ health: { quarantined } }: { health: Health }) {
  const names = [...new Set(quarantined.flatMap((one) => Object.keys(one)))];
  return (
    <Table.ScrollContainer minWidth={400}>
      <Table withTableBorder aria-label="Damaged parts">
        <Table.Caption>
          <Group gap="xs">
            <Badge color="orange" variant="light">
              {countText(quarantined.length)}
            </Badge>
            Damaged parts of the store. A read that needs one of them fails.
          </Group>
        </Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {names.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {quarantined.map((one) => (
            <Table.Tr key={JSON.stringify(one)}>
              {names.map((name) => (
                <Table.Td key={name}>{String(one[name] ?? "")}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

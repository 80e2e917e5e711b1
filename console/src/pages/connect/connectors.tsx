// The connectors of the project with their states, and how to start the first one.
import { ActionIcon, Badge, Card, Group, Stack, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { type Connector, deleteConnectorsByConnectorId, getConnectors } from "../../api/generated.ts";
import { ageText, bytesText, countOf, countText, timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useNow } from "../../ui/use-now.ts";
import classes from "./connect.module.css";

const refreshMs = 5_000;
const shownMax = 1_000;

/** In the order of the table: first those that need attention. */
const states: Readonly<Record<Connector["status"], { readonly label: string; readonly color: string }>> = {
  SILENT: { label: "Silent", color: "red" },
  DEGRADED: { label: "Problem", color: "orange" },
  RUNNING: { label: "Running", color: "green" },
  STOPPED: { label: "Stopped", color: "gray" },
};

const ranks = Object.keys(states);

const countNames = ["received", "written", "refused", "dropped"] as const;

const inOrder = (connectors: readonly Connector[]): readonly Connector[] =>
  connectors.toSorted(
    (one, other) =>
      ranks.indexOf(one.status) - ranks.indexOf(other.status) || one.name.localeCompare(other.name),
  );

/** Nothing for people who may not read connectors. */
export function Connectors() {
  const session = useSession();
  return mayDo(session, "connectorsAcl", "READ") ? <ConnectorsCard /> : null;
}

function ConnectorsCard() {
  const project = useProject();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["connect", project, "connectors"],
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) => (await getConnectors(project, { limit: shownMax }, { signal })).data,
  });
  return (
    <Card component="section" aria-label="Connectors" mb="md">
      <Group gap={8} align="baseline" mb={6}>
        <Title order={2} size="h5">
          Connectors
        </Title>
        {data && data.items.length > 0 && (
          <Text size="xs" c="var(--text-quiet)">
            {data.nextCursor === undefined
              ? countText(data.items.length)
              : `the first ${countText(shownMax)}`}
          </Text>
        )}
      </Group>
      {isPending && <Loading what="the connectors" />}
      {error && <Failure problem={error} onRetry={() => void refetch()} />}
      {data && (data.items.length > 0 ? <ConnectorTable connectors={data.items} /> : <FirstConnector />)}
    </Card>
  );
}

function FirstConnector() {
  return (
    <Stack gap="xs" maw={860}>
      <Text size="sm" c="var(--text-quiet)">
        No connector has reported yet. A connector is a program that reads a system of the plant, such as an
        MQTT broker, and writes here. It needs a key and a file that describes its source.
      </Text>
      <TextLink to="/connect" search={{ tool: "connector" }} size="sm">
        Set up a connector
      </TextLink>
    </Stack>
  );
}

function ConnectorTable({ connectors }: { connectors: readonly Connector[] }) {
  const nowMs = useNow(1_000);
  const mayDelete = mayDo(useSession(), "connectorsAcl", "WRITE");
  const [deleted, setDeleted] = useState<Connector>();
  return (
    <Table.ScrollContainer
      minWidth={1080}
      maxHeight={440}
      scrollAreaProps={{ viewportProps: { tabIndex: 0 }, offsetScrollbars: "present" }}
    >
      <Table aria-label="Connectors" className={classes["connectors"]} stickyHeader verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Last seen</Table.Th>
            <Table.Th className={classes["number"]}>Received</Table.Th>
            <Table.Th className={classes["number"]}>Written</Table.Th>
            <Table.Th className={classes["number"]}>Refused</Table.Th>
            <Table.Th className={classes["number"]}>Dropped</Table.Th>
            <Table.Th>Buffer</Table.Th>
            <Table.Th>Last error</Table.Th>
            {mayDelete && (
              <Table.Th>
                <VisuallyHidden>Delete</VisuallyHidden>
              </Table.Th>
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {inOrder(connectors).map((one) => (
            <ConnectorRow
              key={one.id}
              {...{ connector: one, nowMs }}
              {...(mayDelete && { onDelete: () => setDeleted(one) })}
            />
          ))}
        </Table.Tbody>
      </Table>
      {deleted && <DeleteConnector connector={deleted} onClose={() => setDeleted(undefined)} />}
    </Table.ScrollContainer>
  );
}

interface ConnectorRowProps {
  readonly connector: Connector;
  readonly nowMs: number;
  /** Absent for people who may not delete. */
  onDelete?(): void;
}

function ConnectorRow({ connector, nowMs, onDelete }: ConnectorRowProps) {
  const { name, source, address, status, lastSeenTime, counts, buffer, error } = connector;
  const { label, color } = states[status];
  const isOver = status === "SILENT" || status === "STOPPED";
  return (
    <Table.Tr>
      <Table.Th scope="row" className={classes["name"]}>
        {name}
        <Text size="xs" c="var(--text-quiet)">
          {address ?? source}
        </Text>
      </Table.Th>
      <Table.Td className={classes["state"]}>
        <Badge variant="dot" color={color} radius="sm" tt="none">
          {label}
        </Badge>
      </Table.Td>
      <Table.Td className={classes["short"]} title={timeText(lastSeenTime)}>
        {ageText(lastSeenTime, nowMs)}
      </Table.Td>
      {countNames.map((one) => (
        <Table.Td key={one} className={classes["number"]}>
          {countText(counts[one])}
        </Table.Td>
      ))}
      <Table.Td className={classes["short"]}>
        {buffer.points === 0 ? "empty" : `${countOf(buffer.points, "record")}, ${bytesText(buffer.bytes)}`}
        {buffer.oldestTime !== undefined && (
          <Text size="xs" c="var(--text-quiet)">
            the oldest {ageText(buffer.oldestTime, nowMs)}
          </Text>
        )}
      </Table.Td>
      <Table.Td className={classes["error"]}>
        {error && (
          <>
            <Text size="sm" lineClamp={3} title={error.message}>
              {error.message}
            </Text>
            <Text size="xs" c="var(--text-quiet)" title={timeText(error.time)}>
              {ageText(error.time, nowMs)}
            </Text>
          </>
        )}
      </Table.Td>
      {onDelete && <Table.Td>{isOver && <DeleteButton name={name} onDelete={onDelete} />}</Table.Td>}
    </Table.Tr>
  );
}

function DeleteButton({ name, onDelete }: { name: string; onDelete(): void }) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`Delete ${name}`}
      title="Delete this connector from the list"
      onClick={onDelete}
    >
      <Trash2 size={16} aria-hidden />
    </ActionIcon>
  );
}

function DeleteConnector({ connector, onClose }: { connector: Connector; onClose(): void }) {
  const project = useProject();
  const queryClient = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteConnectorsByConnectorId(project, connector.id),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["connect", project, "connectors"] });
      onClose();
    },
  });
  return (
    <Confirm
      title={`Delete ${connector.name}?`}
      action="Delete the connector"
      problem={error}
      {...{ isPending, onClose }}
      onConfirm={() => mutate()}
    >
      It is removed from this list. What it wrote stays. If it is started again, it appears again.
    </Confirm>
  );
}

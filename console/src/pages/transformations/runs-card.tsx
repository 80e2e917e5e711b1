// The runs of a transformation with their counts, and the refused rows of one.
import { Alert, Anchor, Card, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { TransformationRun } from "../../api/generated.ts";
import { countText, durationText, timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { RefusedRows } from "./plan-view.tsx";
import classes from "./transformations.module.css";
import { runsQuery } from "./transformations-data.ts";

export function RunsCard({ id }: { id: number }) {
  const runs = useQuery(runsQuery(useProject(), id));
  const { run: openId } = useSearch({ from: "/frame/transformations/$id" });
  const open = runs.data?.find((one) => one.id === openId);
  return (
    <Card>
      <Stack gap="sm">
        <Title order={2} size="h5">
          Runs
        </Title>
        {runs.isPending && <Loading what="the runs" />}
        {runs.isError && <Failure problem={runs.error} onRetry={() => void runs.refetch()} />}
        {runs.data?.length === 0 && <Text size="sm">It has not run yet.</Text>}
        {runs.data && runs.data.length > 0 && <RunsTable id={id} runs={runs.data} openId={openId} />}
        {open && <RunDetails run={open} />}
      </Stack>
    </Card>
  );
}

const counts = ["read", "created", "changed", "unchanged", "deleted", "refused"] as const;

interface RunsTableProps {
  readonly id: number;
  readonly runs: readonly TransformationRun[];
  readonly openId: number | undefined;
}

const RunsTable = ({ id, runs, openId }: RunsTableProps) => (
  <Table.ScrollContainer minWidth={820} mah={420} type="native" tabIndex={0}>
    <Table aria-label="Runs" fz="sm" stickyHeader className={classes["runs"]}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Started</Table.Th>
          <Table.Th>Status</Table.Th>
          {counts.map((name) => (
            <Table.Th key={name} ta="right">
              {name[0]!.toUpperCase() + name.slice(1)}
            </Table.Th>
          ))}
          <Table.Th>Took</Table.Th>
          <Table.Th>By</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {runs.map((run) => (
          <Table.Tr key={run.id} bg={run.id === openId ? "var(--surface-sunken)" : undefined}>
            <Table.Td>
              <Anchor
                size="sm"
                renderRoot={(props) => (
                  <Link
                    {...props}
                    to="/transformations/$id"
                    params={{ id }}
                    search={{ run: run.id }}
                    resetScroll={false}
                  />
                )}
              >
                {timeText(run.startedTime)}
              </Anchor>
            </Table.Td>
            <Table.Td>
              <StatusBadge status={run.status} />
            </Table.Td>
            {counts.map((name) => (
              <Table.Td key={name} ta="right">
                {countText(run[name])}
              </Table.Td>
            ))}
            <Table.Td>{run.endedTime && durationText(run.endedTime - run.startedTime)}</Table.Td>
            <Table.Td>{run.startedBy}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

function RunDetails({ run: { status, startedTime, problem, errors, refused } }: { run: TransformationRun }) {
  const isClean = problem === undefined && refused === 0;
  return (
    <section aria-label={`Run of ${timeText(startedTime)}`}>
      {problem && (
        <Alert color="red" title="Why it failed" mb="sm">
          {problem}
        </Alert>
      )}
      {isClean && (
        <Text size="sm">
          {status === "RUNNING" ? "No row has been refused so far." : "No row was refused."}
        </Text>
      )}
      <RefusedRows rows={errors} count={Math.max(refused, errors.length)} />
    </section>
  );
}

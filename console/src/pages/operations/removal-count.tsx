// The points that a retention rule would remove now: counted on request, and shown before the rule counts.
import { Alert, Button, Group, Loader, Stack, Table, Text } from "@mantine/core";
import { Calculator } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { RetentionSeriesPreview } from "../../api/generated.ts";
import { countOf, countText, timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { countRemoval, type RemovalCount, type RuleToCount } from "./retention-data.ts";

const seriesShown = 10;

interface Counting {
  readonly rule: RuleToCount;
  readonly count?: RemovalCount;
  readonly problem?: unknown;
}

/** Counts for one rule at a time. The end of the form ends the count. */
export function useRemovalCount() {
  const project = useProject();
  const [counting, setCounting] = useState<Counting>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = async (rule: RuleToCount) => {
    running.current?.abort();
    running.current = new AbortController();
    const { signal } = running.current;
    setCounting({ rule });
    try {
      for await (const count of countRemoval(project, rule, signal))
        if (!signal.aborted) setCounting({ rule, count });
    } catch (problem) {
      if (!signal.aborted) setCounting({ rule, problem });
    }
  };
  return { counting, start };
}

/** Whether the count is that of this rule, and the server has counted all of its series. */
export const isCounted = (counting: Counting | undefined, rule: RuleToCount | undefined): boolean =>
  isOf(counting, rule) && counting?.count?.isWhole === true;

const isOf = (counting: Counting | undefined, rule: RuleToCount | undefined): boolean =>
  counting !== undefined && JSON.stringify(counting.rule) === JSON.stringify(rule);

interface RemovalPreviewProps {
  /** Undefined while fields of the form are empty. */
  readonly rule: RuleToCount | undefined;
  readonly counting: Counting | undefined;
  /** Shown before the count. */
  readonly hint: string;
  onCount(rule: RuleToCount): void;
}

export function RemovalPreview({ rule, counting, hint, onCount }: RemovalPreviewProps) {
  const shown = isOf(counting, rule) ? counting : undefined;
  const isRunning = shown !== undefined && shown.problem === undefined && shown.count?.isWhole !== true;
  return (
    <Stack gap="xs" role="group" aria-label="What it would remove now">
      <Group gap="sm">
        <Button
          variant="default"
          leftSection={<Calculator size={15} aria-hidden />}
          disabled={rule === undefined || isRunning}
          onClick={() => rule && onCount(rule)}
        >
          Count what it would remove
        </Button>
        {!shown && (
          <Text size="sm" c="var(--text-quiet)">
            {hint}
          </Text>
        )}
      </Group>
      {isRunning && (
        <Group gap="xs" role="status">
          <Loader size="xs" />
          <Text size="sm">
            {shown.count ? `${countText(shown.count.examined)} series are counted…` : "Counting…"}
          </Text>
        </Group>
      )}
      <Refusal problem={shown?.problem} />
      {shown?.count && <Count count={shown.count} />}
    </Stack>
  );
}

function Count({
  count: { points, examined, series, cutoffTime, oldestTime, isWhole },
}: {
  count: RemovalCount;
}) {
  const cutoff = timeText(cutoffTime);
  if (points === 0 && isWhole)
    return (
      <Alert color="green" role="status" title="It would remove nothing now">
        {examined === 0
          ? "No series comes under the rule yet."
          : `${countText(examined)} series come under it; none has a block that is wholly before ${cutoff}.`}
      </Alert>
    );
  if (points === 0) return null;
  return (
    <>
      <Alert
        color="orange"
        role="status"
        title={`It would remove ${isWhole ? "" : "at least "}${countOf(points, "point")} now`}
      >
        Of {countText(series.length)} of {countText(examined)} series, from {timeText(oldestTime!)} to{" "}
        {cutoff}. Removed points cannot be brought back, except from a backup.
      </Alert>
      <LosingSeries series={series} />
    </>
  );
}

const LosingSeries = ({ series }: { series: readonly RetentionSeriesPreview[] }) => (
  <Table.ScrollContainer minWidth={420}>
    <Table withTableBorder aria-label="Series that would lose points">
      {series.length > seriesShown && (
        <Table.Caption>
          The {seriesShown} series that lose most, of {countText(series.length)}.
        </Table.Caption>
      )}
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Series</Table.Th>
          <Table.Th ta="right">Points to remove</Table.Th>
          <Table.Th>Oldest point afterwards</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {series.slice(0, seriesShown).map(({ seriesId, name, points, oldestTimeAfter }) => (
          <Table.Tr key={seriesId}>
            <Table.Td>
              <TextLink to="/series/$id" params={{ id: seriesId }}>
                {name}
              </TextLink>
            </Table.Td>
            <Table.Td ta="right">{countText(points)}</Table.Td>
            <Table.Td>{oldestTimeAfter === undefined ? "none is left" : timeText(oldestTimeAfter)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

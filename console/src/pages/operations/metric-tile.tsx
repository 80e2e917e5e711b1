// One figure of the server with its line over the last minutes.
import { Card, Group, Text } from "@mantine/core";
import { TriangleAlert } from "lucide-react";
import { Sparkline } from "../../ui/sparkline.tsx";
import type { Figure } from "./figures.ts";
import type { Reading } from "./snapshot.ts";

/** The least time that the line covers, so that it does not stretch while it begins. */
const windowMs = 60_000;
const gapMs = 10_000;

interface MetricTileProps {
  readonly figure: Figure;
  /** At least one. */
  readonly readings: readonly Reading[];
}

export function MetricTile({ figure, readings }: MetricTileProps) {
  const { label } = figure;
  const last = readings.at(-1)!;
  // The first reading has no rates yet.
  const withoutValue = (last.rates && figure.withoutValue) ?? "…";
  const value = figure.value(last);
  const warning = figure.warning?.(last);
  const points = readings.flatMap((reading) => {
    const one = figure.value(reading);
    return one === undefined || !Number.isFinite(one) ? [] : [{ timeMs: reading.timeMs, value: one }];
  });
  const endMs = last.timeMs;
  const startMs = Math.min(readings[0]!.timeMs, endMs - windowMs);
  return (
    <Card role="group" aria-label={label} padding="sm">
      <Text size="sm" c="var(--text-quiet)">
        {label}
      </Text>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text fz={20} fw={600} className="numbers" style={{ whiteSpace: "nowrap" }}>
          {value === undefined ? withoutValue : figure.text(value)}
        </Text>
        <Sparkline
          {...{ points, startMs, endMs, gapMs }}
          width={100}
          height={30}
          label={`${label} over time`}
        />
      </Group>
      {warning === undefined ? (
        <Text size="xs" c="var(--text-quiet)">
          {figure.note(last)}
        </Text>
      ) : (
        <Group gap={6} wrap="nowrap" role="alert">
          <TriangleAlert size={14} aria-hidden />
          <Text size="xs" fw={600}>
            {warning}
          </Text>
        </Group>
      )}
    </Card>
  );
}

// The first rows of the file as they will be stored, and the cells of its beginning that are refused.
import { Card, Stack, Table, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { BatchPlan, Refusal } from "../../../../src/import/batches.ts";
import { countOf, countText, timeText } from "../../lib/format.ts";
import { type PointsPlan, type Sample, sampleOf } from "./points-plan.ts";
import type { Opening, PointsSettings } from "./points-settings.ts";

interface SamplePreviewProps {
  readonly opening: Opening;
  readonly plan: PointsPlan;
  readonly settings: PointsSettings;
  /** Whether it lists refused cells. The list of the whole file takes its place. */
  readonly hasRefused: boolean;
}

const refusedPreviewMax = 20;

export function SamplePreview({ opening, plan, settings, hasRefused }: SamplePreviewProps) {
  const read = unnamed(plan);
  const { data: sample } = useQuery({
    queryKey: ["points import", "sample", ...opening.source, read, settings],
    gcTime: 0,
    placeholderData: keepPreviousData,
    queryFn: () => sampleOf(opening, read, settings),
  });
  if (!sample) return null;
  const { refused, rowCount } = sample;
  return (
    <Stack gap="xs">
      <Text size="sm" c="var(--text-quiet)">
        The first {sample.stored.length} rows as they will be stored, in the time zone of this browser
      </Text>
      <StoredRows sample={sample} plan={plan} />
      {refused.length > 0 && hasRefused && (
        <Card role="status">
          <Text size="sm" fw={600}>
            {countOf(refused.length, "cell")} of the first {countText(rowCount)} rows cannot be stored. The
            import leaves them out.
          </Text>
          <RefusedCells refused={refused.slice(0, refusedPreviewMax)} total={refused.length} />
        </Card>
      )}
    </Stack>
  );
}

/** The plan with numbers for the names of series: a typed letter of a name does not read the rows again. */
const unnamed = ({ header, timeIndex, timeFormat, columns }: PointsPlan): BatchPlan => ({
  ...{ header, timeIndex, timeFormat },
  columns: columns.map(({ series, ...column }) => ({
    ...column,
    series: { name: String(column.index), isString: series.isString },
  })),
});

const StoredRows = ({ sample, plan }: { readonly sample: Sample; readonly plan: PointsPlan }) => (
  <Table.ScrollContainer minWidth={0} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table aria-label="Preview" fz="xs" withTableBorder className="numbers">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Line</Table.Th>
          <Table.Th>Time</Table.Th>
          {plan.columns.map(({ index, series }) => (
            <Table.Th key={index}>{series.name}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sample.stored.map(({ line, timeMs, values }) => (
          <Table.Tr key={line}>
            <Table.Td>{line}</Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              {timeMs === undefined ? "no points" : timeText(timeMs)}
            </Table.Td>
            {values.map((value, position) => (
              <Table.Td key={plan.columns[position]?.index}>{value}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

interface RefusedCellsProps {
  readonly refused: readonly Refusal[];
  /** Also of those that are not in the list. */
  readonly total: number;
}

export const RefusedCells = ({ refused, total }: RefusedCellsProps) => (
  <>
    <Table.ScrollContainer
      minWidth={420}
      maxHeight={280}
      scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
    >
      <Table aria-label="Refused cells" fz="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={70}>Line</Table.Th>
            <Table.Th>Column</Table.Th>
            <Table.Th>Cell</Table.Th>
            <Table.Th>Reason</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {refused.map(({ line, column, value, reason }, position) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns of one header may have the same cell.
            <Table.Tr key={position}>
              <Table.Td>{line}</Table.Td>
              <Table.Td>{column}</Table.Td>
              <Table.Td>{value.slice(0, 80)}</Table.Td>
              <Table.Td>{reason}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
    {total > refused.length && (
      <Text size="xs">
        These are the first {countText(refused.length)} of {countText(total)}.
      </Text>
    )}
  </>
);

// The points of a series of strings in a table.
import { ScrollArea, Table, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type Datapoint, getTimeseriesByIdData, type TimeSeries } from "../../api/generated.ts";
import { countText, timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";

const pointsMax = 1_000;
const refreshMs = 15_000;

interface TextPointsProps {
  readonly series: TimeSeries;
  /** The length of the table, back from now. */
  readonly lengthMs: number;
}

export function TextPoints({ series: { id, name }, lengthMs }: TextPointsProps) {
  const project = useProject();
  const { data, error, refetch } = useQuery({
    queryKey: ["series values", project, "points of", id, lengthMs],
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) => {
      const query = { start: String(Date.now() - lengthMs), limit: pointsMax };
      const { data } = await getTimeseriesByIdData(project, id, query, { signal });
      return (data.items[0]?.datapoints ?? []) as readonly Datapoint[];
    },
  });
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the points" />;
  if (data.length === 0) return <Text c="var(--text-quiet)">There are no points in this time.</Text>;
  return (
    <>
      <ScrollArea.Autosize mah={420} viewportProps={{ tabIndex: 0 }}>
        <Table aria-label={`Points of ${name}`} className="numbers">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={180}>Time</Table.Th>
              <Table.Th>Value</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.map(({ timestamp, value }) => (
              <Table.Tr key={timestamp}>
                <Table.Td>{timeText(timestamp)}</Table.Td>
                <Table.Td>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
      {data.length === pointsMax && (
        <Text size="sm" c="var(--text-quiet)" mt="xs">
          These are the first {countText(pointsMax)} points of this time. Choose a shorter one for the rest.
        </Text>
      )}
    </>
  );
}

// Shown in a trend without series: how to add some, or how the project gets its first ones.
import { Card, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ChartSpline } from "lucide-react";
import { getTimeseries } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { Empty } from "../../ui/page-states.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useTrends } from "./saved-trends.tsx";
import { TrendLinks } from "./trend-links.tsx";

const trendsShown = 8;

export function NothingChosen() {
  const project = useProject();
  const { data: trends = [] } = useTrends();
  const { data: hasSeries = true } = useQuery({
    queryKey: ["series", project, "any"],
    queryFn: async ({ signal }) =>
      (await getTimeseries(project, { limit: 1 }, { signal })).data.items.length > 0,
  });
  if (!hasSeries) return <NoSeries />;
  return (
    <>
      <Empty title="Choose what to look at" icon={<ChartSpline size={40} aria-hidden />}>
        “Add series” finds measurements by name or description. The address has the whole picture: copy it to
        share what you see.
      </Empty>
      {trends.length > 0 && (
        <Card component="section" aria-label="Saved trends" maw={520} mx="auto">
          <Title order={2} size="h5" mb="xs">
            Saved trends
          </Title>
          <TrendLinks trends={trends.slice(0, trendsShown)} />
          {trends.length > trendsShown && (
            <Text size="xs" c="var(--text-quiet)" pt="xs">
              “Saved” has all {trends.length}.
            </Text>
          )}
        </Card>
      )}
    </>
  );
}

/** A project that is empty, or a person who may see none of its series. */
const NoSeries = () => (
  <Empty title="There are no series to look at yet" icon={<ChartSpline size={40} aria-hidden />}>
    A trend needs series with points, and rights to read them.{" "}
    <TextLink to="/" underline="always">
      Start
    </TextLink>{" "}
    says how an empty project gets data, and{" "}
    <TextLink to="/connect" underline="always">
      Connect
    </TextLink>{" "}
    how programs write it.
  </Empty>
);

// The first page: the state of the plant's data, or the first steps in a project without data.
import { SimpleGrid, Stack } from "@mantine/core";
import { useSession } from "../../session/session.ts";
import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/page-states.tsx";
import { useCount } from "./data.ts";
import { useDemo } from "./demo.tsx";
import { EmptyProject } from "./empty-project.tsx";
import { Counts, FreshnessCard, HealthNotice, RecentEvents, SavedTrends } from "./overview.tsx";

export function StartPage() {
  const { isAdministrator } = useSession();
  const demo = useDemo();
  const assets = useCount("Assets");
  const series = useCount("Timeseries");
  const isKnown = !assets.isPending && !series.isPending;
  const isEmpty = isKnown && !assets.data && !series.data && !assets.isError && !series.isError;
  const isLoading = demo?.status === "RUNNING" || demo?.status === "FAILED";
  return (
    <Page title="Start">
      <Stack>
        {isAdministrator && <HealthNotice />}
        {!isKnown && <Loading what="the overview" />}
        {(isEmpty || isLoading) && <EmptyProject demo={demo} isEmpty={isEmpty} />}
        {isKnown && !isEmpty && (
          <>
            <Counts />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <FreshnessCard />
              <SavedTrends />
            </SimpleGrid>
            <RecentEvents />
          </>
        )}
      </Stack>
    </Page>
  );
}

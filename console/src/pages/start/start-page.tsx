// The first page: the way to the other pages, and what to do in a project without data.
import { Alert, Card, Code, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getTimeseries } from "../../api/generated.ts";
import { useSession } from "../../session/session.ts";
import { navigation } from "../../ui/navigation.ts";
import { Page } from "../../ui/page.tsx";

export function StartPage() {
  const { project, isAdministrator } = useSession();
  const { data } = useQuery({
    queryKey: ["start", project],
    queryFn: async ({ signal }) => (await getTimeseries(project, { limit: 1 }, { signal })).data.items.length,
  });
  return (
    <Page title="Start">
      <Stack>
        {data === 0 && <EmptyProject />}
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
          {navigation
            .filter(
              ({ to, onlyForAdministrators }) => to !== "/" && (isAdministrator || !onlyForAdministrators),
            )
            .map(({ to, label, icon: Icon, keywords }) => (
              <Card key={to} component={Link} to={to}>
                <Group wrap="nowrap">
                  <Icon size={22} aria-hidden />
                  <Stack gap={0}>
                    <Text fw={600}>{label}</Text>
                    <Text size="sm" c="var(--text-quiet)">
                      {keywords}
                    </Text>
                  </Stack>
                </Group>
              </Card>
            ))}
        </SimpleGrid>
      </Stack>
    </Page>
  );
}

function EmptyProject() {
  return (
    <Alert title="This project has no series yet">
      <Text size="sm">
        Load a CSV file with <Code>npm run millrace -- import</Code>, or send data through the API.
      </Text>
    </Alert>
  );
}

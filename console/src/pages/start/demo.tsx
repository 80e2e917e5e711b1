// Loads the demo plant into an empty project, with the progress of the load.
import { Button, Card, Group, Progress, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Factory } from "lucide-react";
import { useEffect } from "react";
import { type DemoPlant, deleteDemo, getDemo, postDemo } from "../../api/generated.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";

const progressMs = 700;

/** The state of the demo plant; undefined for people who may not read it. */
export function useDemo(): DemoPlant | undefined {
  const project = useProject();
  const { isAdministrator } = useSession();
  const queryClient = useQueryClient();
  const { data } = useQuery({
    queryKey: ["demo", project],
    enabled: isAdministrator,
    queryFn: async ({ signal }) => (await getDemo(project, { signal })).data.items[0]!,
    refetchInterval: ({ state }) => (state.data?.status === "RUNNING" ? progressMs : false),
  });
  const status = data?.status;
  useEffect(() => {
    if (status === "DONE") void queryClient.invalidateQueries({ queryKey: ["start"] });
  }, [status, queryClient]);
  return data;
}

export function DemoCard({ demo }: { demo: DemoPlant }) {
  const project = useProject();
  const queryClient = useQueryClient();
  const options = { onSettled: () => queryClient.invalidateQueries({ queryKey: ["demo"] }) };
  const start = useMutation({ mutationFn: () => postDemo(project, {}), ...options });
  const end = useMutation({ mutationFn: () => deleteDemo(project), ...options });
  const isRunning = demo.status === "RUNNING";
  return (
    <Card component="section" aria-label="Demo plant">
      <Stack gap="sm" h="100%">
        <Group gap="xs">
          <Factory size={20} aria-hidden />
          <Title order={2} size="h5">
            Load the demo plant
          </Title>
        </Group>
        <Text size="sm" c="var(--text-quiet)">
          A small chemical site with about 300 series, 90 days of history and a new value every second. It
          takes about 20 seconds.
        </Text>
        {isRunning && (
          <div role="status">
            <Progress value={demo.percent} aria-label="Progress of the load" animated />
            <Text size="sm" mt={4}>
              {Math.round(demo.percent)} %{demo.step ? `: ${demo.step}` : ""}
            </Text>
          </div>
        )}
        {demo.status === "FAILED" && (
          <Text size="sm" role="alert" c="var(--text-danger)">
            The load ended early: {demo.error ?? "it was cancelled"}. It continues where it ended.
          </Text>
        )}
        <Refusal problem={start.error ?? end.error} />
        <Group mt="auto">
          {isRunning ? (
            <Button variant="default" loading={end.isPending} onClick={() => end.mutate()}>
              Cancel
            </Button>
          ) : (
            <Button loading={start.isPending} onClick={() => start.mutate()}>
              {demo.status === "FAILED" ? "Continue the load" : "Load the demo plant"}
            </Button>
          )}
        </Group>
      </Stack>
    </Card>
  );
}

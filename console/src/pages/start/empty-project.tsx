// The first steps in a project without data.
import { Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { FileSpreadsheet, type LucideIcon, Plug } from "lucide-react";
import type { ReactNode } from "react";
import type { DemoPlant } from "../../api/generated.ts";
import { useSession } from "../../session/session.ts";
import { DemoCard } from "./demo.tsx";

export function EmptyProject({ demo, isEmpty }: { demo: DemoPlant | undefined; isEmpty: boolean }) {
  const { isAdministrator } = useSession();
  if (!isEmpty) return demo && <DemoCard demo={demo} />;
  return (
    <Stack>
      <Text>
        {isAdministrator
          ? "This project has no data yet. Three ways to begin:"
          : "You see no data yet. An administrator can give you rights, or load data."}
      </Text>
      <SimpleGrid cols={{ base: 1, md: 3 }}>
        {demo && <DemoCard demo={demo} />}
        <Way icon={FileSpreadsheet} title="Import CSV files">
          <Text size="sm" c="var(--text-quiet)">
            A command reads files with a column of times and a column for each series.
          </Text>
          <Group mt="auto">
            <Button renderRoot={(props) => <Link to="/connect" search={{ tool: "csv" }} {...props} />}>
              Show the command
            </Button>
          </Group>
        </Way>
        <Way icon={Plug} title="Connect a program">
          <Text size="sm" c="var(--text-quiet)">
            Programs write over the REST API. Take a ready program for curl, Python or JavaScript, with a key.
          </Text>
          <Group mt="auto">
            <Button renderRoot={(props) => <Link to="/connect" search={{ tool: "curl" }} {...props} />}>
              Connect
            </Button>
          </Group>
        </Way>
      </SimpleGrid>
    </Stack>
  );
}

interface WayProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children: ReactNode;
}

function Way({ icon: Icon, title, children }: WayProps) {
  return (
    <Card component="section" aria-label={title}>
      <Stack gap="sm" h="100%">
        <Group gap="xs">
          <Icon size={20} aria-hidden />
          <Title order={2} size="h5">
            {title}
          </Title>
        </Group>
        {children}
      </Stack>
    </Card>
  );
}

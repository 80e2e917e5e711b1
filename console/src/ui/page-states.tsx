// The states of a page: loading, failed, empty, and not found.
import { Alert, Anchor, Button, Center, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { CircleAlert, Lock, SearchX } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { messageOf, statusOf } from "../api/errors.ts";

const textAfterMs = 2_000;

/** A spinner; after two seconds it also names the loading part. */
export function Loading({ what }: { what: string }) {
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), textAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Center p="xl" role="status" aria-label={`Loading ${what}`}>
      <Group>
        <Loader size="sm" />
        {isLong && <Text c="var(--text-quiet)">Still loading {what}…</Text>}
      </Group>
    </Center>
  );
}

export const PagePending = () => <Loading what="the page" />;

/** No faults: the person lacks a right, or the record is not there. Another try cannot help. */
const refusals: Readonly<Record<number, { title: string; advice: string; icon: typeof Lock }>> = {
  403: {
    ...{ title: "This needs a right that you do not have", icon: Lock },
    advice: "Ask an administrator of the project. An administrator can add the right on the page Access.",
  },
  404: {
    ...{ title: "There is no such record", icon: SearchX },
    advice: "It may have been deleted, or your groups do not show it.",
  },
};

/** A failure with its reason and a button that tries again, except where that cannot help. */
export function Failure({ problem, onRetry }: { problem: unknown; onRetry?: () => void }) {
  const refusal = refusals[statusOf(problem) ?? 0];
  if (refusal) return <Refusal {...refusal} reason={messageOf(problem)} />;
  return (
    <Alert
      color="red"
      role="alert"
      icon={<CircleAlert size={18} aria-hidden />}
      title="This did not work"
      m="md"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{messageOf(problem)}</Text>
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

interface RefusalProps {
  readonly title: string;
  readonly advice: string;
  readonly icon: typeof Lock;
  readonly reason: string;
}

const Refusal = ({ title, advice, icon: Icon, reason }: RefusalProps) => (
  <div role="alert">
    <Empty title={title} icon={<Icon size={36} aria-hidden />}>
      <p>{advice}</p>
      <Text size="xs">{reason}</Text>
    </Empty>
  </div>
);

export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return <Failure problem={error} onRetry={() => void router.invalidate()} />;
}

/** An empty page, with the next step. */
export function Empty({ title, children, icon }: { title: string; children?: ReactNode; icon?: ReactNode }) {
  return (
    <Center p="xl">
      <Stack align="center" gap="xs" maw={460} ta="center">
        {icon}
        <Text fw={600}>{title}</Text>
        <Text component="div" size="sm" c="var(--text-quiet)">
          {children}
        </Text>
      </Stack>
    </Center>
  );
}

export function NotFound() {
  return (
    <Center mih="60dvh">
      <Stack align="center">
        <Title order={1} size="h3">
          There is no such page
        </Title>
        <Anchor component={Link} to="/">
          Go to the start
        </Anchor>
      </Stack>
    </Center>
  );
}

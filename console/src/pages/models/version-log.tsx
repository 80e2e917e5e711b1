// The log of a version. It follows the job of the version, and stays at its end while a person looks there.
import { Box, Group, Loader, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { ModelVersion } from "../../api/generated.ts";
import { durationText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { useNow } from "../../ui/use-now.ts";
import classes from "./models.module.css";
import { isInProgress, logQuery } from "./models-data.ts";

const nearEndPx = 24;

export function VersionLog({ version }: { version: ModelVersion }) {
  const { data, error, isPending } = useQuery(logQuery(useProject(), version));
  if (isPending) return <Loading what="the log" />;
  if (error) return <Failure problem={error} />;
  const lines = [...data.train, ...data.predict];
  const isEmpty = lines.length === 0;
  return <LogText text={isEmpty ? emptyText(version) : lines.join("\n")} />;
}

const emptyText = (version: ModelVersion): string =>
  isInProgress(version) ? "The code has printed nothing yet." : "The code has printed nothing.";

function LogText({ text }: { text: string }) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a longer text moves the end.
  useEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <Box
      component="pre"
      ref={box}
      className={classes["output"]}
      tabIndex={0}
      role="region"
      aria-label="Log"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEndPx;
      }}
    >
      {text}
    </Box>
  );
}

/** How long the job of a version takes so far; nothing without a job. */
export function JobProgress({ version }: { version: ModelVersion }) {
  const nowMs = useNow(1_000);
  if (!isInProgress(version)) return null;
  const word = version.status === "TRAINING" ? "Training" : "Deploying";
  const forMs = Math.max(0, nowMs - version.createdTime);
  return (
    <Group gap="xs" role="status">
      <Loader size="xs" aria-hidden />
      <Text size="sm">
        {word}. Created {durationText(forMs)} ago; jobs run one after the other.
      </Text>
    </Group>
  );
}

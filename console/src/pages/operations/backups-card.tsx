// The backups that the server makes by itself: the last ones, the next time, and how to make one now.
import { Badge, Card, Group, Stack, Table, Text, Title } from "@mantine/core";
import { ageText, bytesText, durationText, timeText } from "../../lib/format.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Facts } from "../../ui/facts.tsx";
import type { BackupRun, BackupState } from "./health.ts";

/** Shows the state of backups; `backups` is undefined for a server that makes none. */
export function BackupsCard({ backups }: { backups: BackupState | undefined }) {
  return (
    <Card role="group" aria-label="Backups">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h5">
            Backups
          </Title>
          <StatusBadge backups={backups} />
        </Group>
        {backups ? <Schedule backups={backups} /> : <NoSchedule />}
        {backups && backups.recent.length > 0 && <Runs runs={backups.recent} />}
        <Text size="sm" c="var(--text-quiet)">
          A backup has all projects, so no API key permits one. To back up now, run this command on the
          machine of the server, as a user who can read its data folder:
        </Text>
        <CodeBlock
          label="Back up now"
          language="shell"
          code={backups ? "npx millrace backup" : "npx millrace backup /mnt/backups"}
        />
      </Stack>
    </Card>
  );
}

const looks = {
  waiting: { color: "gray", text: "none yet" },
  ok: { color: "green", text: "in order" },
  unpruned: { color: "orange", text: "old ones stay" },
  unverified: { color: "orange", text: "not verified" },
  incomplete: { color: "orange", text: "files are missing" },
  behind: { color: "orange", text: "increments are late" },
  failed: { color: "red", text: "failed" },
  late: { color: "red", text: "late" },
  damaged: { color: "red", text: "damaged" },
} as const;

function StatusBadge({ backups }: { backups: BackupState | undefined }) {
  const { color, text } = backups ? looks[backups.status] : ({ color: "gray", text: "off" } as const);
  return (
    <Group gap="xs">
      {backups?.isRunning && (
        <Badge variant="dot" color="blue" tt="none" fw={500}>
          running
        </Badge>
      )}
      <Badge variant="dot" color={color} tt="none" fw={500}>
        {text}
      </Badge>
    </Group>
  );
}

const NoSchedule = () => (
  <Text size="sm">
    This server makes no backups by itself. With the setting MILLRACE_BACKUP_TO it makes one every night and
    verifies it.
  </Text>
);

function Schedule({ backups: { lastTime, reachTime, nextTime, problem } }: { backups: BackupState }) {
  const nowMs = Date.now();
  const last = lastTime === undefined ? "none" : `${timeText(lastTime)}, ${ageText(lastTime, nowMs)}`;
  return (
    <>
      {problem !== undefined && (
        <Text size="sm" fw={600}>
          {problem}
        </Text>
      )}
      <Facts
        facts={[
          { label: "Last complete backup", value: last },
          ...(reachTime === undefined
            ? []
            : [
                { label: "A restore reaches", value: `${timeText(reachTime)}, ${ageText(reachTime, nowMs)}` },
              ]),
          { label: "Next backup", value: nextText(nextTime, nowMs) },
        ]}
      />
    </>
  );
}

function nextText(nextTime: number | undefined, nowMs: number): string {
  if (nextTime === undefined) return "after the first one, which is made by hand";
  return nextTime <= nowMs ? "now" : timeText(nextTime);
}

/** In a narrow window, the figures of a backup are below its result. */
const Runs = ({ runs }: { runs: readonly BackupRun[] }) => (
  <Table withTableBorder aria-label="Last backups">
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Start</Table.Th>
        <Table.Th>Result</Table.Th>
        {figureNames.map((name) => (
          <Table.Th key={name} ta="right" visibleFrom="sm">
            {name}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {runs.map((run) => (
        <Run key={run.startedTime} run={run} />
      ))}
    </Table.Tbody>
  </Table>
);

const figureNames = ["Size", "Added", "Duration"] as const;

function Run({ run }: { run: BackupRun }) {
  const { startedTime, bytes, bytesStored, seconds } = run;
  const size = bytes === undefined ? "" : bytesText(bytes);
  const added = bytesStored === undefined ? "" : bytesText(bytesStored);
  const duration = durationText(seconds * 1_000);
  const figures = [size, added && `${added} added`, duration].filter((one) => one !== "");
  return (
    <Table.Tr>
      <Table.Td>{timeText(startedTime)}</Table.Td>
      <Table.Td>
        {resultText(run)}
        <Text size="xs" c="var(--text-quiet)" hiddenFrom="sm">
          {figures.join(", ")}
        </Text>
      </Table.Td>
      {[size, added, duration].map((text, at) => (
        <Table.Td key={figureNames[at]} ta="right" visibleFrom="sm">
          {text}
        </Table.Td>
      ))}
    </Table.Tr>
  );
}

function resultText({ outcome, verification }: BackupRun): string {
  if (outcome === "failed") return "failed";
  if (verification === undefined) return "complete, not yet verified";
  if (verification === "ok") return "complete and in order";
  return verification === "damaged" ? "damaged" : "complete, could not be verified";
}

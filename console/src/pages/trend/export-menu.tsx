// Saves the trend as CSV, with progress and a way to cancel, and copies its link.
import { ActionIcon, Button, Group, Menu, Modal, Progress, Text, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { Download, Link2 } from "lucide-react";
import { memo, useRef, useState } from "react";
import { messageOf } from "../../api/errors.ts";
import { countText } from "../../lib/format.ts";
import { saveFile } from "../../lib/save.ts";
import { useProject } from "../../session/session.ts";
import type { ChartLine } from "../../ui/chart/chart-line.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { rawCsv, shownCsv } from "./csv.ts";
import type { TrendRow } from "./series-table.tsx";

export interface Exported {
  readonly rows: readonly TrendRow[];
  /** The lines that are drawn, those to compare with among them. */
  readonly lines: readonly ChartLine[];
  readonly window: TimeWindow;
}

interface RunningExport {
  readonly part: number;
  readonly points: number;
}

interface ExportMenuProps {
  /** The lines and the window on the screen when the menu is used. */
  exported(): Exported;
}

export const ExportMenu = memo(function ExportMenu({ exported }: ExportMenuProps) {
  const { running, start, cancel } = useRawExport(exported);
  const saveShown = () => {
    const { lines, window } = exported();
    saveFile(fileName(window), [shownCsv(lines, window)], csvType);
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" size="compact-xs" leftSection={<Download size={14} aria-hidden />}>
            CSV
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={saveShown}>What is drawn</Menu.Item>
          <Menu.Item onClick={() => void start()}>Every point of the window</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={running !== undefined} onClose={cancel} title="Reading every point" centered>
        <Progress
          value={(running?.part ?? 0) * 100}
          aria-label={`${Math.round((running?.part ?? 0) * 100)} percent`}
        />
        <Group justify="space-between" mt="sm">
          <Text size="sm">{countText(running?.points ?? 0)} points</Text>
          <Button variant="default" size="xs" onClick={cancel}>
            Cancel
          </Button>
        </Group>
      </Modal>
    </>
  );
});

const csvType = "text/csv";

const fileName = ({ startMs, endMs }: TimeWindow): string =>
  `trend-${[startMs, endMs].map(timeOfName).join("-")}.csv`;

const timeOfName = (timeMs: number): string =>
  new Date(timeMs).toISOString().slice(0, 19).replaceAll(":", "");

function useRawExport(exported: ExportMenuProps["exported"]) {
  const project = useProject();
  const stop = useRef<AbortController>(undefined);
  const [running, setRunning] = useState<RunningExport>();
  const start = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setRunning({ part: 0, points: 0 });
    const { window, ...all } = exported();
    const rows = all.rows.filter(({ series }) => !series.isHidden);
    const fixed = { startMs: Math.round(window.startMs), endMs: Math.round(window.endMs) };
    try {
      const onProgress = (part: number, points: number) => setRunning({ part, points });
      const content = await rawCsv({ project, rows, window: fixed, signal, onProgress });
      saveFile(fileName(fixed), [content], csvType);
    } catch (problem) {
      if (!signal.aborted) notifications.show({ color: "red", message: messageOf(problem) });
    }
    setRunning(undefined);
  };
  return { running, start, cancel: () => stop.current?.abort() };
}

export function CopyLink() {
  const copy = async () => {
    await navigator.clipboard.writeText(location.href);
    notifications.show({ message: "The link is copied. It opens this view." });
  };
  return (
    <Tooltip label="Copy the link to this view">
      <ActionIcon variant="default" size={30} aria-label="Copy link" onClick={() => void copy()}>
        <Link2 size={15} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

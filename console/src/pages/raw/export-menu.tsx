// Saves all rows of a table as CSV or as JSON lines, with every digit of numbers.
import { Button, Group, Menu, Modal, Progress, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { csvLine } from "../../lib/csv.ts";
import { cellText, parseExact } from "../../lib/exact-json.ts";
import { countText } from "../../lib/format.ts";
import { saveFile } from "../../lib/save.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { useLongRead } from "./long-read.ts";
import { columnNamesOf, type RawRow, rowCountQuery, type TableName } from "./raw-data.ts";

type Format = "csv" | "jsonl";

export function ExportMenu({ name }: { name: TableName }) {
  const [format, setFormat] = useState<Format>("csv");
  const read = useLongRead(name, () => exportOf(name, format));
  const start = (wanted: Format) => {
    setFormat(wanted);
    setIsChosen(true);
  };
  const [isChosen, setIsChosen] = useState(false);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default" leftSection={<Download size={14} aria-hidden />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => start("csv")}>CSV</Menu.Item>
          <Menu.Item onClick={() => start("jsonl")}>JSON lines</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isChosen && (
        <ExportDialog
          {...{ name, read, format }}
          onClose={() => {
            read.cancel();
            setIsChosen(false);
          }}
        />
      )}
    </>
  );
}

interface ExportDialogProps {
  readonly name: TableName;
  readonly format: Format;
  readonly read: ReturnType<typeof useLongRead>;
  onClose(): void;
}

function ExportDialog({ name, format, read, onClose }: ExportDialogProps) {
  useReturnedFocus();
  const count = useQuery(rowCountQuery(name));
  const isRunning = read.rowsRead !== undefined;
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Export ${name.table} as ${format === "csv" ? "CSV" : "JSON lines"}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        <Text size="sm">
          {count.data === undefined ? "All rows" : `${countText(count.data)} rows`} with all columns are saved
          as one file.
        </Text>
        {isRunning && (
          <>
            <Progress
              aria-label="Rows exported"
              value={count.data ? (100 * read.rowsRead!) / count.data : 0}
              animated
            />
            <Text size="sm" role="status">
              {countText(read.rowsRead!)} rows are read
            </Text>
          </>
        )}
        <Refusal problem={read.problem} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {isRunning ? "Cancel" : "Close"}
          </Button>
          <Button onClick={read.start} loading={isRunning}>
            Export
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/**
 * Keeps each page as a blob, which the browser may put on its disk. CSV needs the names of all columns first,
 * so that it is written after the last page.
 */
function exportOf({ database, table }: TableName, format: Format) {
  const pages: Blob[] = [];
  const names = new Set<string>();
  return {
    onPage({ items }: { readonly items: readonly RawRow[] }) {
      for (const name of columnNamesOf(items)) names.add(name);
      pages.push(new Blob([items.map((row) => `${JSON.stringify(row)}\n`).join("")]));
    },
    async onEnd() {
      const fileName = `${database}-${table}.${format}`;
      if (format === "jsonl") return saveFile(fileName, pages, "application/jsonl");
      const parts: Blob[] = [new Blob([csvLine(["key", ...names])])];
      for (const page of pages) parts.push(new Blob([csvOf(await page.text(), [...names])]));
      saveFile(fileName, parts, "text/csv");
    },
  };
}

const csvOf = (page: string, names: readonly string[]): string =>
  page
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { key, columns } = parseExact(line) as RawRow;
      return csvLine([key, ...names.map((name) => cellText(columns[name]))]);
    })
    .join("");

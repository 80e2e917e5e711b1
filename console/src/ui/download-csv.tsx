// Downloads a list as CSV: all of its pages, with the number of rows read so far, and a way to cancel.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { Download } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { messageOf } from "../api/errors.ts";
import { csvLine } from "../lib/csv.ts";
import { countText } from "../lib/format.ts";
import { saveFile } from "../lib/save.ts";

interface DownloadCsvProps<Row> {
  /** The name of the file without its ending. */
  readonly name: string;
  readonly header: readonly string[];
  read(signal: AbortSignal): AsyncGenerator<readonly Row[]>;
  cells(row: Row): readonly string[];
}

export function DownloadCsv<Row>({ name, header, read, cells }: DownloadCsvProps<Row>) {
  const running = useRef<AbortController>(undefined);
  const [count, setCount] = useState<number>();
  useEffect(() => () => running.current?.abort(), []);
  const download = async () => {
    const controller = new AbortController();
    running.current = controller;
    const parts = ["\ufeff", csvLine(header)];
    let rows = 0;
    setCount(rows);
    try {
      for await (const page of read(controller.signal)) {
        parts.push(page.map((row) => csvLine(cells(row))).join(""));
        rows += page.length;
        setCount(rows);
      }
      saveFile(`${name}.csv`, parts, "text/csv;charset=utf-8");
    } catch (problem) {
      if (!controller.signal.aborted) notifications.show({ color: "red", message: messageOf(problem) });
    } finally {
      setCount(undefined);
    }
  };
  if (count !== undefined)
    return (
      <Button variant="default" size="xs" onClick={() => running.current?.abort()}>
        Cancel ({countText(count)} rows)
      </Button>
    );
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Download size={14} aria-hidden />}
      onClick={() => void download()}
    >
      CSV
    </Button>
  );
}

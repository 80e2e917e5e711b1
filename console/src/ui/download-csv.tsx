// Downloads a list as CSV: all of its pages, with the number of rows read so far, and a way to cancel. A list
// that a search cuts has a message.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { Download } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { messageOf } from "../api/errors.ts";
import { csvLine } from "../lib/csv.ts";
import { countText } from "../lib/format.ts";
import { saveFile } from "../lib/save.ts";

interface CsvPage<Row> {
  readonly items: readonly Row[];
  /** Whether more rows may match than the API returns; no by default. */
  readonly isCut?: boolean;
}

interface DownloadCsvProps<Row> {
  /** The name of the file without its ending. */
  readonly name: string;
  readonly header: readonly string[];
  read(signal: AbortSignal): AsyncGenerator<CsvPage<Row>>;
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
    let isWhole = true;
    setCount(rows);
    try {
      for await (const { items, isCut = false } of read(controller.signal)) {
        parts.push(items.map((row) => csvLine(cells(row))).join(""));
        rows += items.length;
        isWhole &&= !isCut;
        setCount(rows);
      }
      saveFile(`${name}.csv`, parts, "text/csv;charset=utf-8");
      if (!isWhole) notifications.show({ color: "orange", message: cutText(rows), autoClose: false });
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

const cutText = (rows: number): string =>
  `The file ends after ${countText(rows)} rows, although more may match. Narrow the filter to get the rest.`;

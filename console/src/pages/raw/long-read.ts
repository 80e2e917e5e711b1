// A long read of all rows of a table, with progress and cancellation.
import { useEffect, useRef, useState } from "react";
import { allRows, type RowsPage, type TableName } from "./raw-data.ts";

export interface LongRead {
  /** The rows that were read; undefined while nothing is read. */
  readonly rowsRead: number | undefined;
  readonly problem: unknown;
  start(): void;
  cancel(): void;
}

/** `onPage` gets each page, `onEnd` runs after the last one. Both belong to the read that `start` began. */
export function useLongRead(
  name: TableName,
  begin: () => { onPage(page: RowsPage): void; onEnd(): Promise<void> | void },
): LongRead {
  const [rowsRead, setRowsRead] = useState<number>();
  const [problem, setProblem] = useState<unknown>();
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  const read = async (signal: AbortSignal) => {
    const { onPage, onEnd } = begin();
    let count = 0;
    for await (const page of allRows(name, signal)) {
      onPage(page);
      count += page.items.length;
      setRowsRead(count);
    }
    await onEnd();
  };
  return {
    rowsRead,
    problem,
    start() {
      controller.current?.abort();
      controller.current = new AbortController();
      const { signal } = controller.current;
      setProblem(undefined);
      setRowsRead(0);
      read(signal)
        .catch((reason: unknown) => signal.aborted || setProblem(reason))
        .finally(() => signal.aborted || setRowsRead(undefined));
    },
    cancel() {
      controller.current?.abort();
      setRowsRead(undefined);
    },
  };
}

// A table of any length: only the rows in the window are in the page, further pages load while scrolling.
import { Box, Loader, rem, ScrollArea, Text, VisuallyHidden } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { pageScale } from "./page-scale.ts";
import classes from "./virtual-table.module.css";

export interface TableColumn<Row> {
  readonly key: string;
  readonly label: string;
  /** The label is for screen readers only. */
  readonly isLabelHidden?: boolean;
  /** A width of a CSS grid: `120px`, `minmax(160px, 2fr)`. */
  readonly width: string;
  readonly isNumeric?: boolean;
  /** Hidden on windows narrower than a tablet. */
  readonly isOptional?: boolean;
  /** The first column, whose cells name their rows. It stays in sight when the table scrolls sideways. */
  readonly isRowHeader?: boolean;
  cell(row: Row): ReactNode;
}

interface VirtualTableProps<Row> {
  /** Names the table for people who cannot see it. */
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  rowKey(row: Row): string | number;
  /** Opens a row, by a click or by Enter. */
  onOpen?(row: Row): void;
  /** The rows in the window and some around it, whenever others come into it. */
  onView?(rows: readonly Row[]): void;
  /** Loads the next page; absent when all rows are there. */
  readonly loadMore?: (() => void) | undefined;
  readonly isLoadingMore?: boolean;
  readonly rowHeight?: number;
  readonly empty: ReactNode;
}

const defaultRowHeight = 38;
const overscan = 12;

export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, columns, rows, rowKey, onOpen, loadMore, isLoadingMore = false, empty } = props;
  const { onView } = props;
  const rowHeight = (props.rowHeight ?? defaultRowHeight) * pageScale;
  const viewport = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan,
  });
  const measured = useRef(rowHeight);
  useLayoutEffect(() => {
    if (measured.current === rowHeight) return;
    measured.current = rowHeight;
    virtual.measure();
  }, [virtual, rowHeight]);
  const items = virtual.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  const firstIndex = items[0]?.index ?? 0;
  useEffect(() => onView?.(rows.slice(firstIndex, lastIndex + 1)), [onView, rows, firstIndex, lastIndex]);
  useEffect(() => {
    if (loadMore && !isLoadingMore && lastIndex >= rows.length - overscan) loadMore();
  }, [loadMore, isLoadingMore, lastIndex, rows.length]);
  if (rows.length === 0 && !loadMore) return empty;
  const templateOf = (shown: readonly TableColumn<Row>[]) =>
    shown.map(({ width }) => width.replaceAll(/\d+px/g, (px) => rem(px))).join(" ");
  const template = {
    "--table-columns": templateOf(columns),
    "--table-columns-narrow": templateOf(columns.filter(({ isOptional }) => !isOptional)),
  };
  return (
    <ScrollArea
      className={classes["table"]}
      viewportRef={viewport}
      viewportProps={{ tabIndex: 0 }}
      type="auto"
    >
      <Box
        role="table"
        aria-label={label}
        aria-rowcount={loadMore ? -1 : rows.length + 1}
        style={{ ...template, "--table-row-height": `${rowHeight}px` }}
      >
        <HeaderRow columns={columns} />
        <Box role="rowgroup" pos="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index]!;
            return <BodyRow key={rowKey(row)} {...{ row, index, start, columns, onOpen }} />;
          })}
        </Box>
        {isLoadingMore && <MoreRows />}
      </Box>
    </ScrollArea>
  );
}

function HeaderRow<Row>({ columns }: { columns: readonly TableColumn<Row>[] }) {
  return (
    <Box role="rowgroup" className={classes["header"]}>
      <Box role="row" className={classes["row"]} aria-rowindex={1}>
        {columns.map(({ key, label, isLabelHidden, isNumeric, isOptional, isRowHeader }) => (
          <div
            role="columnheader"
            key={key}
            data-numeric={isNumeric}
            data-optional={isOptional}
            data-row-header={isRowHeader}
          >
            {isLabelHidden ? <VisuallyHidden>{label}</VisuallyHidden> : label}
          </div>
        ))}
      </Box>
    </Box>
  );
}

interface BodyRowProps<Row> {
  readonly row: Row;
  readonly index: number;
  readonly start: number;
  readonly columns: readonly TableColumn<Row>[];
  readonly onOpen: ((row: Row) => void) | undefined;
}

function BodyRow<Row>({ row, index, start, columns, onOpen }: BodyRowProps<Row>) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key === "Enter" && event.target === event.currentTarget) onOpen?.(row);
    const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (next === undefined || event.target !== event.currentTarget) return;
    event.preventDefault();
    (event.currentTarget[next as "nextElementSibling"] as HTMLElement | null)?.focus();
  };
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={classes["row"]}
      data-opens={onOpen !== undefined}
      tabIndex={onOpen ? 0 : undefined}
      onClick={(event) => !isControl(event.target) && onOpen?.(row)}
      onKeyDown={onKeyDown}
      style={{ position: "absolute", top: 0, left: 0, right: 0, transform: `translateY(${start}px)` }}
    >
      {columns.map(({ key, cell, isNumeric, isOptional, isRowHeader = false }) => (
        <div
          role={isRowHeader ? "rowheader" : "cell"}
          key={key}
          data-numeric={isNumeric}
          data-optional={isOptional}
          data-row-header={isRowHeader}
        >
          {cell(row)}
        </div>
      ))}
    </div>
  );
}

/** Whether a click was for a control inside of the row. */
const isControl = (target: EventTarget): boolean =>
  target instanceof Element && target.closest("a, button, input, [role=checkbox]") !== null;

function MoreRows() {
  return (
    <Box className={classes["more"]} role="status">
      <Loader size="xs" />
      <Text size="sm" c="var(--text-quiet)">
        Loading more rows…
      </Text>
    </Box>
  );
}

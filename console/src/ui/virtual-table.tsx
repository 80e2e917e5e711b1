// A table of any length: only the rows in the window are in the page, further pages load while scrolling.
import { Box, Loader, rem, ScrollArea, Text, VisuallyHidden } from "@mantine/core";
import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from "react";
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
const rowsPerPage = 10;

export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, columns, rows, rowKey, onOpen, loadMore, isLoadingMore = false, empty } = props;
  const { onView } = props;
  const rowHeight = (props.rowHeight ?? defaultRowHeight) * pageScale;
  const viewport = useRef<HTMLDivElement>(null);
  const { virtual, focus } = useVirtualRows({ viewport, rows, rowKey, rowHeight });
  const focusRow = useFocusRow(viewport, virtual);
  const items = virtual.getVirtualItems();
  const [firstIndex, lastIndex] = inView(virtual.range, rows.length);
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
            const key = rowKey(row);
            const onFocus = () => focus(key);
            return <BodyRow key={key} {...{ row, index, start, columns, onOpen, onFocus, focusRow }} />;
          })}
        </Box>
        {isLoadingMore && <MoreRows />}
      </Box>
    </ScrollArea>
  );
}

interface VirtualRowsOptions<Row> extends Pick<VirtualTableProps<Row>, "rows" | "rowKey"> {
  readonly viewport: RefObject<HTMLDivElement | null>;
  readonly rowHeight: number;
}

/** The rows in the window, some around it, and the focused row wherever it is. */
function useVirtualRows<Row>({ viewport, rows, rowKey, rowHeight }: VirtualRowsOptions<Row>) {
  const focusedKey = useRef<string | number | undefined>(undefined);
  const virtual = useVirtualizer({
    count: rows.length,
    rangeExtractor: (range) => {
      const key = focusedKey.current;
      const focused = key === undefined ? -1 : rows.findIndex((row) => rowKey(row) === key);
      return withIndex(defaultRangeExtractor(range), focused);
    },
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
  const focus = (key: string | number) => {
    focusedKey.current = key;
  };
  return { virtual, focus };
}

/** The first and the last row in the window or around it. */
function inView(range: Virtualizer<Element, Element>["range"], count: number): [number, number] {
  if (!range) return [0, 0];
  return [Math.max(0, range.startIndex - overscan), Math.min(count - 1, range.endIndex + overscan)];
}

/** With the row that has the focus: without it in the page, the keyboard would begin at the top again. */
function withIndex(indexes: number[], index: number): number[] {
  if (index < 0 || indexes.includes(index)) return indexes;
  return [...indexes, index].sort((a, b) => a - b);
}

/** Focuses a row by its index. One that is out of the window scrolls into it, and gets the focus then. */
function useFocusRow(
  viewport: RefObject<HTMLDivElement | null>,
  virtual: Virtualizer<HTMLDivElement, Element>,
): (index: number) => void {
  const waiting = useRef<number | undefined>(undefined);
  const focus = (index: number) => {
    const row = viewport.current?.querySelector<HTMLElement>(`[aria-rowindex="${index + 2}"]`);
    row?.focus();
    return row != null;
  };
  useLayoutEffect(() => {
    if (waiting.current !== undefined && focus(waiting.current)) waiting.current = undefined;
  });
  return (index) => {
    waiting.current = undefined;
    const to = Math.min(virtual.options.count - 1, Math.max(0, index));
    if (focus(to)) return;
    waiting.current = to;
    virtual.scrollToIndex(to);
  };
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
  onFocus(): void;
  focusRow(index: number): void;
}

/** How far a key moves the focus, in rows. */
const steps: Readonly<Record<string, number>> = {
  ...{ ArrowDown: 1, ArrowUp: -1, PageDown: rowsPerPage, PageUp: -rowsPerPage },
  ...{ Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
};

function BodyRow<Row>(props: BodyRowProps<Row>) {
  const { row, index, start, columns, onOpen, onFocus, focusRow } = props;
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget) return;
    if (event.key === "Enter") onOpen?.(row);
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    focusRow(index + step);
  };
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={classes["row"]}
      data-opens={onOpen !== undefined}
      tabIndex={onOpen ? 0 : undefined}
      onClick={(event) => !isControl(event.target) && onOpen?.(row)}
      onFocus={onFocus}
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

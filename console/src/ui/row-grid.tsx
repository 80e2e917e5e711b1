// Rows of a table as a grid. Only the cells in the window are in the page, in both directions.
import { Box, Loader, Text } from "@mantine/core";
import { defaultRangeExtractor, useVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from "react";
import { cellText, typeOf } from "../lib/exact-json.ts";
import { pageScale } from "./page-scale.ts";
import classes from "./row-grid.module.css";

export interface KeyedRow {
  readonly key: string;
  readonly columns: Readonly<Record<string, unknown>>;
}

interface RowGridProps {
  readonly label: string;
  readonly rows: readonly KeyedRow[];
  /** The members of `columns` that are shown. */
  readonly names: readonly string[];
  /** The heading of a column; its name when absent. */
  headingOf?(name: string): string;
  /** The heading of the keys. */
  readonly keyHeading: string;
  /** Where the rows start. Grids that start elsewhere scroll on their own. */
  readonly startKey: string;
  /** The key of the row whose details are open. */
  readonly openKey: string | undefined;
  onOpen(key: string): void;
  readonly loadMore: (() => void) | undefined;
  readonly loadBefore: (() => void) | undefined;
  readonly isLoading: boolean;
}

/** The element that scrolls. */
interface Viewport {
  readonly current: HTMLDivElement | null;
}

const rowHeight = 32 * pageScale;
const overscan = 10;
const keyWidth = 150 * pageScale;
const characterWidth = 7.6 * pageScale;
/** Of a heading, which is bold. */
const headingCharacterWidth = 9 * pageScale;
const columnWidth = { least: 90 * pageScale, most: 320 * pageScale, padding: 24 * pageScale };
/** The rows whose values decide the width of a column. */
const rowsMeasured = 50;

export function RowGrid(props: RowGridProps) {
  const { label, rows, names, headingOf = asItIs, keyHeading, startKey, openKey, onOpen, isLoading } = props;
  const viewport = useRef<HTMLDivElement>(null);
  const { lines, focus } = useLines(viewport, rows);
  const across = useVirtualizer({
    horizontal: true,
    count: names.length,
    getScrollElement: () => viewport.current,
    estimateSize: (index) => widthOf(names[index]!, headingOf(names[index]!), rows),
    getItemKey: (index) => names[index]!,
    paddingStart: keyWidth,
    overscan: 3,
  });
  useStillRows(viewport, rows);
  const items = lines.getVirtualItems();
  useFurtherRows(props, viewport, lines.range);
  const columns = across.getVirtualItems();
  const width = across.getTotalSize();
  return (
    <Box
      ref={viewport}
      className={classes["grid"]}
      tabIndex={0}
      role="region"
      aria-label={`${label}, scrolls`}
      data-scroll-restoration-id={`${label} ${startKey} ${rows[0]?.key}`}
    >
      <div
        role="table"
        aria-label={label}
        aria-colcount={names.length + 1}
        style={{ width, minWidth: "100%" }}
      >
        <Headings {...{ columns, names, width, rows, headingOf, keyHeading }} />
        <div role="rowgroup" style={{ height: lines.getTotalSize() - rowHeight, position: "relative" }}>
          {items.map(({ key, index, start }) => (
            <GridRow
              key={String(key)}
              row={rows[index]!}
              top={start - rowHeight}
              isOpen={rows[index]!.key === openKey}
              onFocus={() => focus(rows[index]!.key)}
              {...{ columns, names, width, onOpen }}
            />
          ))}
        </div>
      </div>
      {isLoading && <LoadingNote />}
    </Box>
  );
}

/** The rows in the window, some around it, and the focused row wherever it is. */
function useLines(viewport: Viewport, rows: readonly KeyedRow[]) {
  const focusedKey = useRef<string | undefined>(undefined);
  const lines = useVirtualizer({
    count: rows.length,
    rangeExtractor: (range) => withFocused(defaultRangeExtractor(range), rows, focusedKey.current),
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]!.key,
    paddingStart: rowHeight,
    scrollPaddingStart: rowHeight,
    overscan,
  });
  const focus = (key: string) => {
    focusedKey.current = key;
  };
  return { lines, focus };
}

/**
 * Adds the focused row. Rows that load before it would else remove it until the window has moved, and its
 * focus.
 */
function withFocused(indexes: number[], rows: readonly KeyedRow[], key: string | undefined): number[] {
  const focused = key === undefined ? -1 : rows.findIndex((row) => row.key === key);
  if (focused < 0 || indexes.includes(focused)) return indexes;
  return [...indexes, focused].sort((a, b) => a - b);
}

/** Loads the rows after the last loaded one, and before the first one, when the window reaches them. */
function useFurtherRows(
  props: RowGridProps,
  viewport: Viewport,
  range: { readonly startIndex: number; readonly endIndex: number } | null,
) {
  const { rows, loadMore, loadBefore, isLoading } = props;
  const firstIndex = Math.max(0, (range?.startIndex ?? 0) - overscan);
  const lastIndex = (range?.endIndex ?? 0) + overscan;
  useEffect(() => {
    if (isLoading) return;
    if (loadMore && lastIndex >= rows.length - overscan) loadMore();
    // After an addition of rows, the range is out of date until the viewport reports its new position.
    else if (loadBefore && firstIndex === 0 && viewport.current!.scrollTop <= overscan * rowHeight)
      loadBefore();
  }, [isLoading, loadMore, loadBefore, firstIndex, lastIndex, rows.length, viewport]);
}

/**
 * Keeps the rows in the window where they are when rows before them are added. The scroll positions that the
 * router restores are by first row: one from before such an addition would show other rows.
 */
function useStillRows(viewport: Viewport, rows: readonly KeyedRow[]) {
  const firstKey = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const added = rows.findIndex(({ key }) => key === firstKey.current);
    if (added > 0 && viewport.current) viewport.current.scrollTop += added * rowHeight;
    firstKey.current = rows[0]?.key;
  }, [viewport, rows]);
}

const asItIs = (name: string) => name;

function widthOf(name: string, heading: string, rows: readonly KeyedRow[]): number {
  const lengths = rows.slice(0, rowsMeasured).map(({ columns }) => cellText(columns[name]).length);
  const widths = [heading.length * headingCharacterWidth, ...lengths.map((one) => one * characterWidth)];
  const wanted = Math.max(...widths) + columnWidth.padding;
  return Math.min(columnWidth.most, Math.max(columnWidth.least, wanted));
}

interface ColumnsShown {
  readonly columns: readonly VirtualItem[];
  readonly names: readonly string[];
  readonly width: number;
}

interface HeadingsProps extends ColumnsShown {
  readonly rows: readonly KeyedRow[];
  readonly keyHeading: string;
  headingOf(name: string): string;
}

/** A heading is aligned as the first value below it. */
function Headings({ columns, names, width, rows, keyHeading, headingOf }: HeadingsProps) {
  const typesOf = (name: string) =>
    rows.slice(0, rowsMeasured).map(({ columns: values }) => typeOf(values[name]));
  return (
    <div role="rowgroup" className={classes["headings"]}>
      <div role="row" style={{ width }}>
        <div role="columnheader" className={classes["key"]} style={{ width: keyWidth, position: "sticky" }}>
          {keyHeading}
        </div>
        {columns.map(({ index, start, size }) => (
          <div
            role="columnheader"
            key={names[index]}
            aria-colindex={index + 2}
            title={headingOf(names[index]!)}
            data-type={typesOf(names[index]!).find((type) => type !== "empty")}
            style={{ left: start, width: size }}
          >
            {headingOf(names[index]!)}
          </div>
        ))}
      </div>
    </div>
  );
}

interface GridRowProps extends ColumnsShown {
  readonly row: KeyedRow;
  readonly top: number;
  readonly isOpen: boolean;
  onFocus(): void;
  onOpen(key: string): void;
}

function GridRow({ row, top, isOpen, onFocus, onOpen, columns, names, width }: GridRowProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key === "Enter") onOpen(row.key);
    const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    (event.currentTarget[next as "nextElementSibling"] as HTMLElement | null)?.focus();
  };
  return (
    <div
      role="row"
      className={classes["row"]}
      data-open={isOpen}
      tabIndex={0}
      onClick={() => onOpen(row.key)}
      onFocus={onFocus}
      onKeyDown={onKeyDown}
      style={{ width, top }}
    >
      <div
        role="rowheader"
        className={classes["key"]}
        title={row.key}
        style={{ width: keyWidth, position: "sticky" }}
      >
        {row.key}
      </div>
      {columns.map(({ index, start, size }) => {
        const value = row.columns[names[index]!];
        const shown = cellText(value);
        return (
          <div
            role="cell"
            key={names[index]}
            aria-colindex={index + 2}
            data-type={typeOf(value)}
            title={shown.length * characterWidth > size ? shown.slice(0, 500) : undefined}
            style={{ left: start, width: size }}
          >
            {shown.slice(0, 500)}
          </div>
        );
      })}
    </div>
  );
}

const LoadingNote = () => (
  <Box role="status" pos="sticky" left={0} p="xs" w="fit-content" style={{ display: "flex", gap: 8 }}>
    <Loader size="xs" />
    <Text size="sm" c="var(--text-quiet)">
      Loading more rows…
    </Text>
  </Box>
);

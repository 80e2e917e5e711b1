// The tree of assets as one list of rows, of which only those in view are in the page. The keyboard works as
// WAI-ARIA describes it for trees: arrows move, open and close, Home and End, letters find a name.
import { Loader } from "@mantine/core";
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { ChevronRight } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { pageScale } from "../../ui/page-scale.ts";
import classes from "./tree.module.css";
import { type AssetRow, rowKey, type TreeRow } from "./tree-model.ts";
import type { AssetTree } from "./use-tree.ts";

const rowHeight = 32 * pageScale;
const overscan = 10;
const indentPx = 18 * pageScale;

interface TreeViewProps {
  readonly tree: AssetTree;
  readonly selectedId: number | undefined;
  onSelect(id: number): void;
}

export function TreeView({ tree, selectedId, onSelect }: TreeViewProps) {
  const { rows } = tree;
  const viewport = useRef<HTMLDivElement>(null);
  const [activeKey, setActiveKey] = useState<string>();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan,
    getItemKey: (index) => rowKey(rows[index]!),
  });
  const items = virtual.getVirtualItems();
  useMoreInView(tree, items);
  useSelectionInView({ rows, selectedId, virtual, setActiveKey });
  const active = Math.max(
    0,
    rows.findIndex((row) => rowKey(row) === activeKey),
  );
  const move = (index: number) => {
    const at = Math.min(rows.length - 1, Math.max(0, index));
    setActiveKey(rows[at] && rowKey(rows[at]));
    virtual.scrollToIndex(at);
  };
  const onKeyDown = useTreeKeys({ tree, active, move, onSelect });
  const isActiveInView = items.some(({ index }) => index === active);
  return (
    <div
      ref={viewport}
      className={classes["tree"]}
      role="tree"
      aria-label="Assets"
      tabIndex={0}
      aria-activedescendant={isActiveInView ? idOf(rows[active]!) : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map(({ index, start }) => {
          const row = rows[index]!;
          const state = { isActive: index === active, isSelected: isAsset(row, selectedId) };
          const choose = () => {
            setActiveKey(rowKey(row));
            if (row.kind === "asset") onSelect(row.asset.id);
            if (row.kind === "more") void tree.loadMore(row);
          };
          return <Row key={rowKey(row)} {...{ row, start, tree, choose, ...state }} />;
        })}
      </div>
    </div>
  );
}

const idOf = (row: TreeRow): string => `tree ${rowKey(row)}`.replaceAll(/\s/g, "-");

const isAsset = (row: TreeRow, id: number | undefined): row is AssetRow =>
  row.kind === "asset" && row.asset.id === id;

/** Loads the rest of a level when its end comes into view. A gap between siblings waits for a click. */
function useMoreInView({ rows, loadMore }: AssetTree, items: readonly { readonly index: number }[]) {
  useEffect(() => {
    for (const { index } of items) {
      const row = rows[index];
      if (row?.kind === "more" && !row.isGap) void loadMore(row);
    }
  }, [rows, items, loadMore]);
}

interface SelectionInView {
  readonly rows: readonly TreeRow[];
  readonly selectedId: number | undefined;
  readonly virtual: Virtualizer<HTMLDivElement, Element>;
  setActiveKey(key: string): void;
}

/** Scrolls to the selected asset once its row is there, and not again while rows above it load. */
function useSelectionInView({ rows, selectedId, virtual, setActiveKey }: SelectionInView) {
  const shown = useRef<number>(undefined);
  // Before the browser draws the new rows, or their part in view would come a frame later.
  useLayoutEffect(() => {
    if (selectedId === undefined || shown.current === selectedId) return;
    const at = rows.findIndex((row) => isAsset(row, selectedId));
    if (at === -1) return;
    shown.current = selectedId;
    setActiveKey(rowKey(rows[at]!));
    const isInView = virtual.getVirtualItems().some(({ index }) => index === at);
    virtual.scrollToIndex(at, { align: isInView ? "auto" : "center" });
  }, [rows, selectedId, virtual, setActiveKey]);
}

interface TreeKeys {
  readonly tree: AssetTree;
  readonly active: number;
  move(index: number): void;
  onSelect(id: number): void;
}

function useTreeKeys({ tree, active, move, onSelect }: TreeKeys) {
  const { rows } = tree;
  const row = rows[active];
  const page = 10;
  const parentIndex = () => {
    for (let at = active - 1; at >= 0; at--) if (rows[at]!.depth < rows[active]!.depth) return at;
    return active;
  };
  const choose = () => {
    if (row?.kind === "asset") onSelect(row.asset.id);
    if (row?.kind === "more") void tree.loadMore(row);
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(active + 1),
    ArrowUp: () => move(active - 1),
    PageDown: () => move(active + page),
    PageUp: () => move(active - page),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    Enter: choose,
    " ": choose,
    ArrowRight: () => {
      if (row?.kind !== "asset" || !row.asset.hasChildren) return;
      if (row.isOpen) move(active + 1);
      else void tree.open(row.asset.id);
    },
    ArrowLeft: () => {
      if (row?.kind === "asset" && row.isOpen) tree.close(row.asset.id);
      else move(parentIndex());
    },
  };
  const findLetter = (letter: string) => {
    const order = [...rows.keys()].map((at) => (active + 1 + at) % rows.length);
    const found = order.find((at) => nameOf(rows[at]!).startsWith(letter.toLowerCase()));
    if (found !== undefined) move(found);
  };
  return (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = actions[event.key];
    if (!action && event.key.length !== 1) return;
    event.preventDefault();
    if (action) action();
    else findLetter(event.key);
  };
}

const nameOf = (row: TreeRow): string => (row.kind === "asset" ? row.asset.name.toLowerCase() : "");

interface RowProps {
  readonly row: TreeRow;
  readonly start: number;
  readonly tree: AssetTree;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  choose(): void;
}

function Row({ row, start, tree, isActive, isSelected, choose }: RowProps) {
  const style = { transform: `translateY(${start}px)`, paddingLeft: 6 + row.depth * indentPx };
  const shared = {
    id: idOf(row),
    className: classes["row"],
    "aria-level": row.depth + 1,
    "data-active": isActive,
    style,
    onClick: choose,
  };
  if (row.kind !== "asset")
    return (
      <div {...shared} role="treeitem" aria-selected={false} data-quiet>
        {row.kind === "more" && row.isGap ? "Show the next ones here…" : <Loader size={13} />}
        {row.kind === "pending" && "Loading…"}
        {row.kind === "more" && !row.isGap && "Loading more…"}
      </div>
    );
  const { asset, isOpen, position, siblings } = row;
  return (
    <div
      {...shared}
      role="treeitem"
      aria-selected={isSelected}
      aria-expanded={asset.hasChildren ? isOpen : undefined}
      aria-posinset={position}
      aria-setsize={position === undefined ? undefined : (siblings ?? -1)}
      title={asset.description}
    >
      <Toggle row={row} tree={tree} />
      <span className={classes["name"]}>{asset.name}</span>
      {asset.description !== undefined && <span className={classes["about"]}>{asset.description}</span>}
    </div>
  );
}

/** For the mouse: the keyboard opens and closes with the arrows. */
function Toggle({ row: { asset, isOpen }, tree }: { row: AssetRow; tree: AssetTree }) {
  if (!asset.hasChildren) return <span className={classes["leaf"]} />;
  return (
    <span
      className={classes["toggle"]}
      data-open={isOpen}
      data-testid="toggle"
      aria-hidden
      onClick={(event) => {
        event.stopPropagation();
        if (isOpen) tree.close(asset.id);
        else void tree.open(asset.id);
      }}
    >
      <ChevronRight size={15} />
    </span>
  );
}

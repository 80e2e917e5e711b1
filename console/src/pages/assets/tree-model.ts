// The part of the tree of assets that is loaded, and the rows that it shows. Levels load in pages by name,
// from their start or from any name, so that an asset can be shown without the siblings before it.
import type { AssetInTree } from "../../api/generated.ts";

/** The id of the parent; undefined for the topmost assets. */
export type ParentId = number | undefined;

/** Siblings without a gap. */
export interface Run {
  readonly items: readonly AssetInTree[];
  /** The name that the run was started from; undefined at the start of the level. */
  readonly start: string | undefined;
  /** Continues the run; undefined at the end of the level. */
  readonly next: Continuation | undefined;
}

/** A cursor, and the name that its list was started from. */
export interface Continuation {
  readonly cursor: string;
  readonly from: string | undefined;
}

export interface Level {
  readonly runs: readonly Run[];
}

export interface Tree {
  readonly levels: ReadonlyMap<ParentId, Level>;
  readonly open: ReadonlySet<number>;
}

export const emptyTree: Tree = { levels: new Map(), open: new Set() };

export interface AssetRow {
  readonly kind: "asset";
  readonly asset: AssetInTree;
  readonly depth: number;
  readonly isOpen: boolean;
  /** Its place among its siblings, from 1; undefined after a gap. */
  readonly position: number | undefined;
  /** The number of its siblings; undefined while some are not loaded. */
  readonly siblings: number | undefined;
}

/** Siblings that are not loaded yet. */
export interface MoreRow {
  readonly kind: "more";
  readonly parentId: ParentId;
  readonly run: Run;
  readonly depth: number;
  /** Whether loaded siblings follow. */
  readonly isGap: boolean;
}

/** A level that is open and not loaded yet. */
export interface PendingRow {
  readonly kind: "pending";
  readonly parentId: number;
  readonly depth: number;
}

export type TreeRow = AssetRow | MoreRow | PendingRow;

export const rowKey = (row: TreeRow): string => {
  if (row.kind === "asset") return String(row.asset.id);
  return `${row.kind} ${row.parentId} ${row.kind === "more" ? (row.run.start ?? "") : ""}`;
};

/** The rows from top to bottom. */
export function rowsOf(tree: Tree, parentId: ParentId = undefined, depth = 0): TreeRow[] {
  const level = tree.levels.get(parentId);
  if (!level) return parentId === undefined ? [] : [{ kind: "pending", parentId, depth }];
  const rows: TreeRow[] = [];
  const isWhole = level.runs.length === 1 && level.runs[0]!.next === undefined;
  const siblings = isWhole ? level.runs[0]!.items.length : undefined;
  for (const [at, run] of level.runs.entries()) {
    for (const [index, asset] of run.items.entries()) {
      const isOpen = asset.hasChildren && tree.open.has(asset.id);
      const position = at === 0 ? index + 1 : undefined;
      rows.push({ kind: "asset", asset, depth, isOpen, position, siblings });
      if (isOpen) for (const row of rowsOf(tree, asset.id, depth + 1)) rows.push(row);
    }
    const isGap = at < level.runs.length - 1;
    if (run.next) rows.push({ kind: "more", parentId, run, depth, isGap });
  }
  return rows;
}

export const isLoaded = ({ levels }: Tree, parentId: ParentId, id: number): boolean =>
  levels.get(parentId)?.runs.some(({ items }) => items.some((one) => one.id === id)) ?? false;

/** The topmost asset, if there is only one. */
export function onlyTop({ levels }: Tree): AssetInTree | undefined {
  const runs = levels.get(undefined)?.runs ?? [];
  const [run] = runs;
  return runs.length === 1 && run?.items.length === 1 && !run.next ? run.items[0] : undefined;
}

/** Adds a run of its own, or the continuation of the run that was started from the same name. */
export function withRun(tree: Tree, parentId: ParentId, added: Run): Tree {
  const runs = tree.levels.get(parentId)?.runs ?? [];
  const before = runs.find(({ start }) => start === added.start);
  const grown = before ? { ...added, items: [...before.items, ...added.items] } : added;
  const others = runs.filter((run) => run !== before);
  const sorted = [...others, grown].sort((a, b) => compareNames(a.start, b.start));
  return { ...tree, levels: new Map(tree.levels).set(parentId, { runs: joined(sorted) }) };
}

export function withOpen(tree: Tree, ids: readonly number[], isOpen: boolean): Tree {
  const open = new Set(tree.open);
  for (const id of ids) isOpen ? open.add(id) : open.delete(id);
  return { ...tree, open };
}

/** Names are in the order of their code points, as in the responses of the server. */
function compareNames(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  const [left, right] = [[...a], [...b]];
  for (const [at, letter] of left.entries()) {
    if (right[at] === undefined) return 1;
    if (letter !== right[at]) return letter.codePointAt(0)! - right[at].codePointAt(0)!;
  }
  return -1;
}

/** Joins runs that overlap. */
function joined(runs: readonly Run[]): Run[] {
  const result: Run[] = [];
  for (const run of runs) {
    const last = result.at(-1);
    const first = run.items[0];
    const at = first && last ? last.items.findIndex(({ id }) => id === first.id) : -1;
    if (!last || at === -1) result.push(run);
    else if (last.items.length - at < run.items.length || !run.next)
      result[result.length - 1] = {
        ...run,
        start: last.start,
        items: [...last.items.slice(0, at), ...run.items],
      };
  }
  return result;
}

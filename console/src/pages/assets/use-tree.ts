// Loads the levels of the tree of assets as they are opened, and the way to an asset.
import { type QueryFunctionContext, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { statusOf } from "../../api/errors.ts";
import { type Asset, getAssetsByAssetId, getAssetsChildren, postAssetsByids } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import {
  type Continuation,
  emptyTree,
  isLoaded,
  type MoreRow,
  onlyTop,
  type ParentId,
  type Run,
  rowsOf,
  type Tree,
  type TreeRow,
  withOpen,
  withRun,
} from "./tree-model.ts";

const pageSize = 100;

export interface AssetTree {
  readonly rows: readonly TreeRow[];
  /** The last failure of loading; undefined after a success. */
  readonly problem: unknown;
  readonly isLoaded: boolean;
  /** The number of times that the tree was loaded again. */
  readonly generation: number;
  /** The asset that the tree was last opened down to, or could not be. */
  readonly revealedId: number | undefined;
  loadTop(): Promise<void>;
  open(id: number): Promise<void>;
  close(id: number): void;
  loadMore(row: MoreRow): Promise<void>;
  /** Begins to load the records and levels of a path of ids, which `reveal` then needs. */
  prepare(path: readonly number[]): void;
  /** Opens the tree down to an asset, and loads only the levels on the way. */
  reveal(id: number): Promise<void>;
  /** Loads the open levels again, after assets were created, moved or deleted. */
  reload(): Promise<void>;
}

export function useTree(): AssetTree {
  const [tree, setTree] = useState<Tree>(emptyTree);
  const [problem, setProblem] = useState<unknown>();
  const [generation, setGeneration] = useState(0);
  const [revealedId, setRevealedId] = useState<number>();
  const current = useRef(tree);
  const wanted = useRef<number>(undefined);
  const loader = useLoader();
  const actions = useMemo(() => {
    const change: ChangeTree = (next) => {
      current.current = next(current.current);
      setTree(current.current);
    };
    const levels = levelsOf(loader, () => current.current, change);
    const { loadLevel, loadTop, loadDownTo, loadAgain, startOf } = levels;
    const guarded = async (work: () => Promise<void>) => {
      try {
        await work();
        setProblem(undefined);
      } catch (failure) {
        setProblem(failure);
      }
    };
    return {
      loadTop: () => guarded(loadTop),
      open: (id: number) => {
        change((now) => withOpen(now, [id], true));
        return guarded(() => loadLevel(id));
      },
      close: (id: number) => change((now) => withOpen(now, [id], false)),
      loadMore: ({ parentId, run: { next, start } }: MoreRow) =>
        guarded(async () => {
          if (!next || !loader.begin(next.cursor)) return;
          const added = await loader.run(parentId, next).finally(() => loader.end(next.cursor));
          change((now) => withRun(now, parentId, { ...added, start }));
        }),
      prepare: (path: readonly number[]) => {
        void loader.record(path.at(-1)!).catch(hiddenAsNull);
        void loader.ancestors(path).catch(() => undefined);
        void Promise.all(levelsDownTo(path).map(startOf)).catch(() => undefined);
      },
      reveal: async (id: number) => {
        wanted.current = id;
        await guarded(() => loadDownTo(id));
        if (wanted.current === id) setRevealedId(id);
      },
      reload: async () => {
        await guarded(loadAgain);
        setGeneration((now) => now + 1);
      },
    };
  }, [loader]);
  const rows = useMemo(() => rowsOf(tree), [tree]);
  const isLoaded = tree.levels.has(undefined);
  return { rows, problem, generation, revealedId, isLoaded, ...actions };
}

interface LoadedRun {
  readonly parentId: ParentId;
  readonly run: Run;
}

/** Adds runs, except those that were loaded meanwhile. */
const withRuns = (tree: Tree, runs: readonly LoadedRun[]): Tree =>
  runs.reduce((now, { parentId, run }) => {
    const level = now.levels.get(parentId);
    return level?.runs.some(({ start }) => start === run.start) ? now : withRun(now, parentId, run);
  }, tree);

/** The parents of the levels that a path goes through. */
const levelsDownTo = (path: readonly number[]): ParentId[] => [undefined, ...path.slice(0, -1)];

type ChangeTree = (next: (tree: Tree) => Tree) => void;

function levelsOf(loader: Loader, tree: () => Tree, change: ChangeTree) {
  const loadLevel = async (parentId: ParentId) => {
    if (tree().levels.has(parentId)) return;
    const run = await loader.run(parentId, {});
    change((now) => (now.levels.has(parentId) ? now : withRun(now, parentId, run)));
  };
  /** The start of a level that is not loaded. A level that the person may not see has none. */
  const startOf = async (parentId: ParentId): Promise<LoadedRun[]> => {
    if (tree().levels.has(parentId)) return [];
    const run = await loader.start(parentId).catch(hiddenAsNull);
    return run === null ? [] : [{ parentId, run }];
  };
  /** A single topmost asset is open at first. */
  const loadTop = async () => {
    if (tree().levels.has(undefined)) return;
    await loadLevel(undefined);
    const only = onlyTop(tree());
    if (!only?.hasChildren) return;
    change((now) => withOpen(now, [only.id], true));
    await loadLevel(only.id);
  };
  return {
    loadLevel,
    startOf,
    loadTop,
    /** Loads the levels down to an asset, as many at a time as possible, and shows them together. */
    async loadDownTo(id: number) {
      const record = await loader.record(id).catch(hiddenAsNull);
      if (record === null) return loadTop();
      const starts = levelsDownTo(record.path).map(startOf);
      const [path, ...started] = await Promise.all([loader.path(id), ...starts]);
      const withStarts = withRuns(tree(), started.flat());
      const others = path.map(async (asset, at): Promise<LoadedRun[]> => {
        const parentId = path[at - 1]?.id;
        if (isLoaded(withStarts, parentId, asset.id)) return [];
        return [{ parentId, run: await loader.run(parentId, { from: asset.name }) }];
      });
      const runs = [...started.flat(), ...(await Promise.all(others)).flat()];
      const above = path.slice(0, -1).map((asset) => asset.id);
      change((now) => withOpen(withRuns(now, runs), above, true));
    },
    /** Loads the starts of the open levels. A level whose parent was deleted is left out. */
    async loadAgain() {
      const { open } = tree();
      const parents: ParentId[] = [undefined, ...open];
      const load = async (parentId: ParentId) => {
        try {
          return [[parentId, { runs: [await loader.run(parentId, {})] }] as const];
        } catch (problem) {
          if (statusOf(problem) === 404) return [];
          throw problem;
        }
      };
      const levels = await Promise.all(parents.map(load));
      change(() => ({ open, levels: new Map(levels.flat()) }));
    },
  };
}

type Loader = ReturnType<typeof useLoader>;

function useLoader() {
  const project = useProject();
  const queryClient = useQueryClient();
  return useMemo(() => {
    const running = new Set<string>();
    return {
      /** Whether no one else continues from this cursor already. */
      begin: (cursor: string) => !running.has(cursor) && running.add(cursor).size > 0,
      end: (cursor: string) => void running.delete(cursor),
      run: (parentId: ParentId, at: Partial<Continuation>) => readRun(project, parentId, at),
      start: (parentId: ParentId) => queryClient.fetchQuery(startQuery(project, parentId)),
      record: (id: number) => queryClient.fetchQuery(recordQuery(project, id)),
      ancestors: (path: readonly number[]) => queryClient.fetchQuery(ancestorsQuery(project, path)),
      path: (id: number) => queryClient.ensureQueryData(pathQuery(project, id)),
    };
  }, [project, queryClient]);
}

/** Short enough to see the changes of others, and long enough for the requests of one click to share it. */
const recordStaleMs = 1_000;

const recordQuery = (project: string, id: number) => ({
  queryKey: ["assets", project, "record", id],
  staleTime: recordStaleMs,
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => readAsset(project, id, signal),
});

async function readRun(
  project: string,
  parentId: ParentId,
  { from, cursor }: Partial<Continuation>,
): Promise<Run> {
  const { data } = await getAssetsChildren(project, { parentId, $from: from, cursor, limit: pageSize });
  const { items, nextCursor } = data;
  return { items, start: from, next: nextCursor === undefined ? undefined : { cursor: nextCursor, from } };
}

/** The first assets of a level. */
const startQuery = (project: string, parentId: ParentId) => ({
  queryKey: ["assets", project, "start of level", parentId ?? null],
  staleTime: recordStaleMs,
  queryFn: () => readRun(project, parentId, {}),
});

/** An asset with its ancestors, the topmost first; without those that the person may not see. */
export const pathQuery = (project: string, id: number) => ({
  queryKey: ["assets", project, "path", id],
  queryFn: async ({ client }: QueryFunctionContext): Promise<readonly Asset[]> => {
    const asset = await client.fetchQuery(recordQuery(project, id));
    return [...(await client.fetchQuery(ancestorsQuery(project, asset.path))), asset];
  },
});

/** The assets of a path without its last one, and without those that the person may not see. */
const ancestorsQuery = (project: string, path: readonly number[]) => ({
  queryKey: ["assets", project, "ancestors", path],
  staleTime: recordStaleMs,
  queryFn: async ({ client, signal }: QueryFunctionContext): Promise<readonly Asset[]> => {
    const ids = path.slice(0, -1);
    if (ids.length === 0) return [];
    const together = await readAssets(project, ids, signal).catch(refusedAsNull);
    if (together !== null) return together;
    const single = ids.map((id) => client.fetchQuery(recordQuery(project, id)).catch(hiddenAsNull));
    return (await Promise.all(single)).filter((one) => one !== null);
  },
});

const readAssets = async (
  project: string,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<readonly Asset[]> => (await postAssetsByids(project, { items: [...ids] }, { signal })).data.items;

const readAsset = async (project: string, id: number, signal: AbortSignal): Promise<Asset> =>
  (await getAssetsByAssetId(project, id, {}, { signal })).data.items[0]!;

/** Assets that the person may not see refuse a request for several. */
function refusedAsNull(problem: unknown): null {
  if (statusOf(problem) === 400) return null;
  throw problem;
}

function hiddenAsNull(problem: unknown): null {
  if (statusOf(problem) === 404) return null;
  throw problem;
}

// Models, versions, schedules and source packages: the queries and changes of the page.
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import {
  getAnalyticsModels,
  getAnalyticsModelsByModelIdVersions,
  getAnalyticsModelsByModelIdVersionsByVersionIdArtifacts,
  getAnalyticsModelsByModelIdVersionsByVersionIdLog,
  getAnalyticsModelsSchedules,
  getAnalyticsModelsSchedulesByScheduleIdRuns,
  getAnalyticsModelsSourcepackages,
  type ModelSchedule,
  type ModelScheduleRun,
  type ModelVersion,
} from "../../api/generated.ts";

const pageSize = 1_000;
/** Trainings, deployments and runs change while one looks at them. */
const everyMs = 3_000;

interface ListPage<Item> {
  readonly data: { readonly items: readonly Item[]; readonly nextCursor?: string };
}

async function everyPage<Item>(
  read: (cursor: string | undefined) => Promise<ListPage<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data } = await read(cursor);
    items.push(...data.items);
    if (data.nextCursor === undefined) return items;
    cursor = data.nextCursor;
  }
}

export const modelsQuery = (project: string) =>
  queryOptions({
    queryKey: ["models", project, "models"],
    queryFn: ({ signal }) =>
      everyPage((cursor) => getAnalyticsModels(project, { cursor, limit: pageSize }, { signal })),
  });

export const versionsQuery = (project: string, modelId: number) =>
  queryOptions({
    queryKey: ["models", project, "versions", modelId],
    queryFn: ({ signal }) =>
      everyPage((cursor) =>
        getAnalyticsModelsByModelIdVersions(project, modelId, { cursor, limit: pageSize }, { signal }),
      ),
    refetchInterval: ({ state }) => (state.data?.some(isInProgress) ? everyMs : false),
  });

/** Whether a job of the version waits or runs. */
export const isInProgress = ({ status }: ModelVersion): boolean =>
  status === "TRAINING" || status === "DEPLOYING";

const logEveryMs = 1_000;

/**
 * The log, which follows the job of the version. The status is in the key: its change reads the log again.
 */
/** Of the logs of all versions. */
export const logsKey = (project: string) => ["models", project, "log"];

export const logQuery = (project: string, version: ModelVersion) =>
  queryOptions({
    queryKey: [...logsKey(project), version.id, version.status],
    placeholderData: keepPreviousData,
    refetchInterval: isInProgress(version) ? logEveryMs : false,
    queryFn: async ({ signal }) => {
      const { modelId, id } = version;
      const found = await getAnalyticsModelsByModelIdVersionsByVersionIdLog(
        project,
        modelId,
        id,
        {},
        { signal },
      );
      return found.data;
    },
  });

export const artifactsQuery = (project: string, { modelId, id, status }: ModelVersion) =>
  queryOptions({
    queryKey: ["models", project, "artifacts", id, status],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const found = await getAnalyticsModelsByModelIdVersionsByVersionIdArtifacts(project, modelId, id, {
        signal,
      });
      return found.data.items;
    },
  });

export const packagesQuery = (project: string) =>
  queryOptions({
    queryKey: ["models", project, "packages"],
    queryFn: ({ signal }) =>
      everyPage((cursor) =>
        getAnalyticsModelsSourcepackages(project, { cursor, limit: pageSize }, { signal }),
      ),
  });

export const schedulesQuery = (project: string) =>
  queryOptions({
    queryKey: ["models", project, "schedules"],
    queryFn: ({ signal }) =>
      everyPage((cursor) => getAnalyticsModelsSchedules(project, { cursor, limit: pageSize }, { signal })),
  });

/** A change of models, versions, packages or schedules; afterwards the page shows it. */
export function useModelsChange<Input = void, Result = unknown>(change: (input: Input) => Promise<Result>) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["models"] }),
  });
}

const runsShown = 100;

/** The latest runs, the last one first. */
export const runsQuery = (project: string, scheduleId: number) =>
  queryOptions({
    queryKey: ["models", project, "runs", scheduleId],
    refetchInterval: everyMs,
    queryFn: async ({ signal }) =>
      (
        await getAnalyticsModelsSchedulesByScheduleIdRuns(
          project,
          scheduleId,
          { limit: runsShown },
          { signal },
        )
      ).data.items,
  });

/** How many runs of the schedule the server lists. */
export const runCountQuery = (project: string, scheduleId: number) =>
  queryOptions({
    queryKey: ["models", project, "run count", scheduleId],
    queryFn: async ({ signal }) => {
      const runs = await everyPage((cursor) =>
        getAnalyticsModelsSchedulesByScheduleIdRuns(
          project,
          scheduleId,
          { cursor, limit: pageSize },
          { signal },
        ),
      );
      return runs.length;
    },
  });

/** When the next window is due; undefined when the schedule runs no more, or does not say. */
export function nextRunMs(
  { dataSpec, isDeprecated, createdTime }: ModelSchedule,
  runs: readonly ModelScheduleRun[],
): number | undefined {
  const { stride, slack = 0, start = createdTime } = (dataSpec ?? {}) as Readonly<Record<string, number>>;
  if (isDeprecated || stride === undefined || slack < 0) return undefined;
  const last = runs[0];
  return (last ? last.windowEnd + stride : start) + slack;
}

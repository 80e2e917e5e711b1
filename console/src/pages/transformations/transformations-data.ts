// Transformations and their runs: the queries and changes of the pages.
import { queryOptions, useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  getTransformationsByTransformationId,
  getTransformationsByTransformationIdRuns,
  type Transformation,
  type TransformationRun,
} from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import { transformationsQuery } from "../../ui/transformation-list.ts";

const runsShown = 100;
/** Schedules start runs while one looks at the page. */
const everyMs = 10_000;
const runningEveryMs = 1_000;

/** After how long a page reads again. */
const pollMs = (isAnyRunning: boolean): number => (isAnyRunning ? runningEveryMs : everyMs);

export const transformationQuery = (project: string, id: number) =>
  queryOptions({
    queryKey: ["transformations", project, "record", id],
    refetchInterval: everyMs,
    queryFn: async ({ signal }) =>
      (await getTransformationsByTransformationId(project, id, { signal })).data.items[0]!,
  });

/** All transformations. The list has all their queries: while some run, those alone are read every second. */
export function useTransformations(project: string) {
  const list = useQuery({ ...transformationsQuery(project), refetchInterval: everyMs });
  const running = list.data?.filter(({ lastRun }) => isRunning(lastRun)) ?? [];
  const records = useQueries({
    queries: running.map(({ id }) => ({
      ...transformationQuery(project, id),
      // That of an earlier run says that it has ended.
      staleTime: 0,
      refetchInterval: ({ state }: { readonly state: { readonly data?: Transformation | undefined } }) =>
        state.data === undefined || isRunning(state.data.lastRun) ? runningEveryMs : (false as const),
    })),
  });
  const newer = new Map(
    records.flatMap(({ data, dataUpdatedAt }) =>
      data !== undefined && dataUpdatedAt > list.dataUpdatedAt ? [[data.id, data] as const] : [],
    ),
  );
  return { list, transformations: list.data?.map((one) => newer.get(one.id) ?? one) };
}

/** The latest runs, the last one first. */
export const runsQuery = (project: string, id: number) =>
  queryOptions({
    queryKey: ["transformations", project, "runs", id],
    queryFn: async ({ signal }) =>
      (await getTransformationsByTransformationIdRuns(project, id, { limit: runsShown }, { signal })).data
        .items,
    refetchInterval: ({ state }) => pollMs(isRunning(state.data?.[0])),
  });

export const isRunning = (run: Pick<TransformationRun, "status"> | undefined): boolean =>
  run?.status === "RUNNING";

/** A change of transformations or runs; afterwards the pages show it. */
export function useTransformationsChange<Input = void, Result = unknown>(
  change: (input: Input) => Promise<Result>,
) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["transformations"] }),
  });
}

/** Where the rows are written: `assets`, `raw erp.orders`. */
export function destinationText({ type, database, table, sequence }: Transformation["destination"]): string {
  if (type === "raw") return `raw ${database}.${table}`;
  if (type === "sequenceRows") return `rows of the sequence ${sequence}`;
  return type === "files" ? "metadata of files" : type;
}

/** Of a transformation without a schedule. */
export const unscheduledText = "Only when it is started";

/** When it runs by itself: `every 15 min`, `after plant-tree`. */
export function scheduleText({ schedule }: Pick<Transformation, "schedule">): string {
  if (schedule === undefined) return unscheduledText;
  if ("cron" in schedule) return `${schedule.cron} (${schedule.timeZone})`;
  return "after" in schedule ? `after ${schedule.after}` : `every ${schedule.everyMinutes} min`;
}

export function nextRunText({ schedule, nextTime }: Transformation): string {
  if (nextTime !== undefined) return timeText(nextTime);
  return schedule && "after" in schedule ? `after ${schedule.after}` : "–";
}

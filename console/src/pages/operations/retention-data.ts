// Retention rules: their queries and changes, and the count of the points that a rule would remove.
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  getRetentionrules,
  postRetentionrulesPreview,
  type RetentionRule,
  type RetentionRuleToPreview,
  type RetentionSeriesPreview,
} from "../../api/generated.ts";
import { allItems } from "../../api/list-pages.ts";
import { ageText, countOf, countText, timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";

/** Rules run every hour; a run of some minutes is seen while it lasts. */
const refreshMs = 60_000;

const rulesQuery = (project: string) =>
  queryOptions({
    queryKey: ["retention rules", project],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) =>
      allItems<RetentionRule>(
        async (cursor) => (await getRetentionrules(project, { cursor }, { signal })).data,
      ),
  });

export const useRules = () => useQuery(rulesQuery(useProject()));

/** A change of rules; afterwards the page shows it. */
export function useRulesChange<Input = void, Result = unknown>(change: (input: Input) => Promise<Result>) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["retention rules"] }),
  });
}

export type RuleTarget = Pick<RetentionRuleToPreview, "seriesId" | "assetId" | "wholeProject">;
export type RuleToCount = RuleTarget & Pick<RetentionRuleToPreview, "keepDays">;

export interface RemovalCount {
  readonly cutoffTime: number;
  readonly examined: number;
  readonly points: number;
  readonly oldestTime: number | undefined;
  /** The series that would lose points, those that lose most first. */
  readonly series: readonly RetentionSeriesPreview[];
  /** Whether the server has counted all series of the rule. */
  readonly isWhole: boolean;
}

/** Counts for all series of the rule; a response counts some of them, and the counts add up. */
export async function* countRemoval(
  project: string,
  rule: RuleToCount,
  signal: AbortSignal,
): AsyncGenerator<RemovalCount> {
  let count: RemovalCount | undefined;
  let cursor: string | undefined;
  do {
    const { data } = await postRetentionrulesPreview(project, { ...rule, cursor }, { signal });
    cursor = data.nextCursor;
    const oldestTimes = [count?.oldestTime, data.oldestTime].filter((one) => one !== undefined);
    count = {
      cutoffTime: data.cutoffTime,
      examined: (count?.examined ?? 0) + data.examined,
      points: (count?.points ?? 0) + data.points,
      oldestTime: oldestTimes.length === 0 ? undefined : Math.min(...oldestTimes),
      series: [...(count?.series ?? []), ...data.items].toSorted((a, b) => b.points - a.points),
      isWhole: cursor === undefined,
    };
    yield count;
  } while (cursor !== undefined);
}

/** The state of a rule: waiting, running, failed, or the points that its last run removed. */
export function stateText({ waitsUntil = 0, lastRun }: RetentionRule, nowMs: number): string {
  if (lastRun?.errorMessage !== undefined) return `failed ${ageText(lastRun.startedTime, nowMs)}`;
  if (waitsUntil > nowMs) return `waits until ${timeText(waitsUntil)}`;
  if (lastRun === undefined) return "runs within an hour";
  const { startedTime, endedTime, points, waiting = 0 } = lastRun;
  if (endedTime === undefined) return `began a run ${ageText(startedTime, nowMs)}`;
  const age = ageText(endedTime, nowMs);
  if (points === undefined) return `ran ${age}`;
  const waits = waiting > 0 ? `; ${countText(waiting)} series wait for a day` : "";
  return `removed ${countOf(points, "point")} ${age}${waits}`;
}

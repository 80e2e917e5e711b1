// When a schedule runs next.
import { useQuery } from "@tanstack/react-query";
import type { ModelSchedule } from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { nextRunMs, runsQuery } from "./models-data.ts";

export function NextRun({ schedule }: { schedule: ModelSchedule }) {
  const { data } = useQuery(runsQuery(useProject(), schedule.id));
  if (data === undefined) return "…";
  if (schedule.isDeprecated) return "none: stopped";
  const timeMs = nextRunMs(schedule, data);
  return timeMs === undefined ? "when its data are there" : timeText(timeMs);
}

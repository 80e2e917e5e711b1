// Limits of the retention of datapoints.
import { limit } from "./limit.ts";

export const retentionLimits = {
  retentionRulesMax: limit(1_000, "rules", "Retention rules of a project. A further one is refused."),
  retentionDaysMax: limit(36_500, "days", "`keepDays` of a retention rule. A larger number is refused."),
  retentionDelayMs: limit(
    24 * 3_600_000,
    "ms",
    "A retention rule removes points of a series when it has counted for it as long, with the same days. " +
      "All rules wait as long after the clock was set, all servers were off, or the data was restored.",
  ),
  retentionGapMs: limit(
    2 * 3_600_000,
    "ms",
    "From one look for due retention rules to the next, at most. When the clock shows more, or less than " +
      "before by more, it was set or all servers were off, and all rules wait for `retentionDelayMs`.",
  ),
  retentionIntervalMs: limit(3_600_000, "ms", "From one run of a retention rule to the next."),
  retentionTickMs: limit(60_000, "ms", "From one look for due retention rules to the next."),
  retentionSeriesPerPage: limit(1_000, "series", "Series that a run of a retention rule reads at once."),
  retentionSeriesAtOnce: limit(32, "series", "Series whose old points a retention rule deletes at once."),
  retentionBlocksAtOnce: limit(
    16,
    "blocks",
    "Blocks of a series that a retention rule deletes at once. More take several deletions, with pauses.",
  ),
  retentionFailuresMax: limit(
    1_000,
    "series",
    "Series of a run of a retention rule whose points could not be removed. The run ends at so many.",
  ),
  retentionPreviewSeriesMax: limit(
    1_000,
    "series",
    "Series that one preview of a retention rule counts. The next request continues at the cursor.",
  ),
} as const;

// Limits of configurations that are applied as documents.
import { limit } from "./limit.ts";

export const configurationLimits = {
  configurationDocumentsMax: limit(
    500,
    "documents",
    "Groups, models, schedules or transformations of one request, each. All are applied in one transaction.",
  ),
  configurationSeriesMax: limit(10_000, "documents", "Time series of one request."),
} as const;

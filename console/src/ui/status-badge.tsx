// The status of a version of a model, or of a run, in words that do not depend on the colour alone.
import { Badge } from "@mantine/core";

const colors: Readonly<Record<string, string>> = {
  READY: "green",
  SUCCEEDED: "green",
  COMPLETED: "green",
  COMPLETED_WITH_REFUSALS: "orange",
  FAILED: "red",
  SKIPPED: "orange",
  TRAINING: "blue",
  DEPLOYING: "blue",
  RUNNING: "blue",
};

export const StatusBadge = ({ status }: { status: string }) => (
  <Badge variant="dot" color={colors[status] ?? "gray"} tt="none" fw={500}>
    {status.toLowerCase().replaceAll("_", " ")}
  </Badge>
);

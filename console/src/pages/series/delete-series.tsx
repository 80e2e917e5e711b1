// Deletes a series with its points, after a dialog that says how many there are.
import { useMutation } from "@tanstack/react-query";
import { deleteTimeseriesBySeries, type TimeSeries } from "../../api/generated.ts";
import { countText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { usePointCount } from "./all-time.ts";

interface DeleteSeriesProps {
  readonly series: TimeSeries;
  onDeleted(): void;
  onClose(): void;
}

export function DeleteSeries({ series: { id, name }, onDeleted, onClose }: DeleteSeriesProps) {
  const project = useProject();
  const { data: count } = usePointCount(id);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteTimeseriesBySeries(project, id),
    onSuccess: onDeleted,
  });
  return (
    <Confirm
      title="Delete the series"
      action="Delete the series"
      isPending={isPending}
      problem={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      {name} and all of its points are deleted
      {count === undefined ? "" : `: ${countText(count)} points`}. This cannot be undone.
    </Confirm>
  );
}

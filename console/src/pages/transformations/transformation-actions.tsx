// The steps of a transformation: run, cancel, edit, forget marks, delete.
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleStop, type LucideIcon, Pencil, Play, RotateCcw, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import {
  deleteTransformationsByTransformationId,
  postTransformationsByTransformationIdReset,
  postTransformationsByTransformationIdRun,
  postTransformationsByTransformationIdRunsByRunIdCancel,
  type Transformation,
} from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { EditTransformation } from "./transformation-form.tsx";
import { isRunning, runsQuery, useTransformationsChange } from "./transformations-data.ts";

type Dialog = "run" | "cancel" | "edit" | "reset" | "delete";

interface ActionProps {
  readonly transformation: Transformation;
}

export function TransformationActions({ transformation }: ActionProps) {
  const { id, marks } = transformation;
  const [dialog, setDialog] = useState<Dialog>();
  const { data: runs = [] } = useQuery(runsQuery(useProject(), id));
  const running = isRunning(runs[0]) ? runs[0] : undefined;
  const close = () => setDialog(undefined);
  const button = (label: string, opens: Dialog, Icon: LucideIcon, variant = "default") => (
    <Button
      {...{ size: "xs", variant, leftSection: <Icon size={14} aria-hidden /> }}
      onClick={() => setDialog(opens)}
    >
      {label}
    </Button>
  );
  return (
    <>
      {running ? button("Cancel the run…", "cancel", CircleStop) : button("Run…", "run", Play, "filled")}
      {button("Settings…", "edit", Pencil)}
      {Object.keys(marks).length > 0 && button("Forget marks…", "reset", RotateCcw)}
      {button("Delete…", "delete", Trash2)}
      {dialog === "edit" && <EditTransformation transformation={transformation} onClose={close} />}
      {dialog && dialog !== "edit" && (
        <StepDialog {...{ transformation, step: dialog, runId: running?.id, onClose: close }} />
      )}
    </>
  );
}

interface StepDialogProps extends ActionProps {
  readonly step: Exclude<Dialog, "edit">;
  readonly runId: number | undefined;
  onClose(): void;
}

interface Step {
  readonly title: string;
  readonly effect: ReactNode;
  readonly run: () => Promise<unknown>;
}

function StepDialog({ transformation, step, runId, onClose }: StepDialogProps) {
  const steps = useSteps(transformation, runId);
  const { title, effect, run } = steps[step];
  const { mutate, isPending, error } = useTransformationsChange(async () => {
    await run();
    onClose();
  });
  return (
    <Confirm
      title={title}
      action={title}
      isDanger={step !== "run"}
      isPending={isPending}
      problem={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      {effect}
    </Confirm>
  );
}

function useSteps(
  { id, name, owner, marks }: Transformation,
  runId: number | undefined,
): Record<StepDialogProps["step"], Step> {
  const project = useProject();
  const navigate = useNavigate();
  return {
    run: {
      title: "Run the transformation",
      effect: `${name} runs now with the rights of ${owner}. “Plan a run” shows what it would write.`,
      run: () => postTransformationsByTransformationIdRun(project, id),
    },
    cancel: {
      title: "Cancel the run",
      effect: "The run ends. Rows of its earlier commits stay written; its marks do not move.",
      run: async () => {
        if (runId !== undefined)
          await postTransformationsByTransformationIdRunsByRunIdCancel(project, id, runId);
      },
    },
    reset: {
      title: "Forget the marks",
      effect: `The next run reads all rows of ${Object.keys(marks).join(", ")} again, not only the new ones.`,
      run: () => postTransformationsByTransformationIdReset(project, id, {}),
    },
    delete: {
      title: "Delete the transformation",
      effect: `${name} and the list of its runs are deleted. What it wrote stays. This cannot be undone.`,
      run: async () => {
        await deleteTransformationsByTransformationId(project, id);
        await navigate({ to: "/transformations", ignoreBlocker: true });
      },
    },
  };
}

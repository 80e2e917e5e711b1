// The dialogs before steps on models that cannot be undone.
import { type ReactNode, useState } from "react";
import { Confirm } from "../../ui/confirm.tsx";
import { useModelsChange } from "./models-data.ts";

export interface FinalStep {
  readonly title: string;
  readonly action: string;
  /** The text of the dialog: the number of records that are deleted too. */
  readonly effect: ReactNode;
  run(): Promise<unknown>;
}

/** The dialog before a step that cannot be undone. */
export function ConfirmStep({ step, onClose }: { step: FinalStep; onClose(): void }) {
  const { mutate, isPending, error } = useModelsChange(async () => {
    await step.run();
    onClose();
  });
  return (
    <Confirm
      title={step.title}
      action={step.action}
      isPending={isPending}
      problem={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      {step.effect} This cannot be undone.
    </Confirm>
  );
}

/** The open dialog of a record: `open` shows the step or form with this key. */
export function useDialog<Key extends string>() {
  const [dialog, setDialog] = useState<Key>();
  return { dialog, open: setDialog, close: () => setDialog(undefined) };
}

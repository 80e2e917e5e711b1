// The menu with the less frequent actions of a record, and the dialogs of those that cannot be undone.
import { ActionIcon, Menu } from "@mantine/core";
import { EllipsisVertical } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Confirm } from "../../ui/confirm.tsx";
import { useModelsChange } from "./models-data.ts";

export interface RecordAction {
  readonly label: string;
  readonly icon: ReactNode;
  readonly isDanger?: boolean;
  /** Opens a dialog, or acts at once. */
  run(): void;
}

/** `label` names the record for people who cannot see it. */
export const RecordMenu = ({ label, actions }: { label: string; actions: readonly RecordAction[] }) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <ActionIcon variant="default" size={30} aria-label={label}>
        <EllipsisVertical size={16} aria-hidden />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      {actions.map(({ label: text, icon, isDanger, run }) => (
        <Menu.Item key={text} leftSection={icon} onClick={run} {...(isDanger && { c: "var(--text-danger)" })}>
          {text}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);

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
